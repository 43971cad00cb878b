import Clock

/// Layout: docs/protocol/time-exchange.md.
extension TimePacket {
  /// Bytes of a request and of an answer. They are the same, so that an answer is never larger than its request.
  package static let byteCount = 64

  static let version: UInt8 = 2
  private static let tagByteCount = 8

  /// Decodes a packet of one key, for a receiver that waits for answers.
  package static func decode(_ datagram: ArraySlice<UInt8>, key: ClockKey) throws(DecodeError)
    -> TimePacket
  {
    try decode(datagram) { _ in key }
  }

  /// `key` finds the key of a packet whose tag is not checked yet: use nothing else of that packet.
  ///
  /// - Throws: `notAuthentic` if there is no key, or the tag does not match it.
  package static func decode(
    _ datagram: ArraySlice<UInt8>, key: (TimePacket) -> ClockKey?
  ) throws(DecodeError) -> TimePacket {
    let packet = try decodeFields(datagram)
    guard let key = key(packet), hasTag(datagram.prefix(byteCount), key: key) else {
      throw .notAuthentic
    }
    return packet
  }

  /// True if the last eight bytes are the tag of those before them. Takes a time that does not depend on the tag's
  /// bytes.
  static func hasTag(_ datagram: ArraySlice<UInt8>, key: ClockKey) -> Bool {
    let covered = datagram.dropLast(tagByteCount)
    let tag = datagram.suffix(tagByteCount)
    return zip(tag, Self.tag(of: covered, key: key)).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Returns the tag with the least byte first, as SipHash's authors write it.
  package static func tag(of covered: ArraySlice<UInt8>, key: ClockKey) -> [UInt8] {
    let hash = SipHash.hash(covered, key: key)
    return (0..<tagByteCount).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
  }

  private static func decodeFields(_ datagram: ArraySlice<UInt8>) throws(DecodeError)
    -> TimePacket
  {
    guard datagram.count >= byteCount else { throw .badLength(datagram.count, limit: byteCount) }
    var reader = ByteReader(datagram)
    guard try reader.uint32("magic") == ProtocolVersion.magic else { throw .notThisProtocol }
    let theirs = try reader.uint8("version")
    guard theirs == version else { throw .unsupportedVersion(UInt16(theirs)) }
    let kind = try reader.uint8("kind")
    switch DatagramKind(rawValue: kind) {
    case .timeRequest: return .request(try TimeRequest(decoding: &reader))
    case .timeAnswer: return .answer(try TimeAnswer(decoding: &reader))
    case .ask, .audio, nil: throw .outOfRange(field: "kind", value: Int64(kind))
    }
  }

  package func encode(key: ClockKey, appendingTo bytes: inout [UInt8]) {
    var writer = ByteWriter()
    writer.uint32(ProtocolVersion.magic)
    writer.uint8(Self.version)
    switch self {
    case .request(let request): request.encode(to: &writer)
    case .answer(let answer): answer.encode(to: &writer)
    }
    writer.bytes(Self.tag(of: writer.bytes[...], key: key))
    bytes += writer.bytes
  }
}

extension TimeRequest {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    try reader.skip(2, "flags")
    let clockID = try reader.uint64("clock id")
    let sequence = try reader.uint32("sequence")
    let keyID = try reader.uint32("key id")
    self.init(
      clockID: clockID, keyID: keyID, sequence: sequence, sentAt: try reader.localTime("sent at"))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint8(DatagramKind.timeRequest.rawValue)
    writer.uint16(0)
    writer.uint64(clockID)
    writer.uint32(sequence)
    writer.uint32(keyID)
    writer.localTime(sentAt)
    writer.zeros(24)
  }
}

extension TimeAnswer {
  private static let hasPrevious: UInt16 = 1

  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let flags = try reader.uint16("flags")
    let clockID = try reader.uint64("clock id")
    let sequence = try reader.uint32("sequence")
    let previousSequence = try reader.uint32("previous sequence")
    let requestSentAt = try reader.localTime("request sent at")
    let receivedAt = try reader.groupTime("received at")
    let sentAt = try reader.groupTime("sent at")
    let previousSentAt = try reader.groupTime("previous sent at")
    let previous = TransmitStamp(sequence: previousSequence, sentAt: previousSentAt)
    self.init(
      clockID: clockID, sequence: sequence, requestSentAt: requestSentAt, receivedAt: receivedAt,
      sentAt: sentAt, previous: flags & Self.hasPrevious == 0 ? nil : previous)
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint8(DatagramKind.timeAnswer.rawValue)
    writer.uint16(previous == nil ? 0 : Self.hasPrevious)
    writer.uint64(clockID)
    writer.uint32(sequence)
    writer.uint32(previous?.sequence ?? 0)
    writer.localTime(requestSentAt)
    writer.groupTime(receivedAt)
    writer.groupTime(sentAt)
    writer.groupTime(previous?.sentAt ?? GroupTime(nanoseconds: 0))
  }
}
