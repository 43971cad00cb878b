import Audio
import Clock

/// Layouts: docs/protocol/live.md.
extension ByteReader {
  /// Returns nil in the inner optional if the stream is no longer live, and in the outer one if it is
  /// another stream.
  mutating func liveStream() throws(DecodeError) -> LiveStream?? {
    guard try uint32("stream") == 0 else { return .none }
    let latency = Nanoseconds(try int64(in: ProtocolLimits.liveLatency, "latency"))
    let rate = Int(try uint32("sample rate"))
    let port = try uint16("port")
    try skip(2, "reserved")
    let key = Array(try bytes(LiveStream.keyByteCount, "key"))
    guard latency > .zero else { return .some(nil) }
    guard AudioFormat.supportedRates.contains(rate) else {
      throw .outOfRange(field: "sample rate", value: Int64(rate))
    }
    guard port > 0 else { throw .outOfRange(field: "port", value: 0) }
    return LiveStream(latency: latency, sampleRate: rate, port: port, key: key)
  }
}

extension ByteWriter {
  mutating func liveStream(_ stream: LiveStream?) {
    uint32(0)
    int64(stream?.latency.count ?? 0, clampedTo: ProtocolLimits.liveLatency)
    uint32(UInt32(clamping: stream?.sampleRate ?? 0))
    uint16(stream?.port ?? 0)
    zeros(2)
    bytes(stream?.key ?? [UInt8](repeating: 0, count: LiveStream.keyByteCount))
  }
}

extension LiveReport {
  /// Nil if it is about another stream.
  init?(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint32("stream") == 0 else { return nil }
    let received = try reader.uint32("received")
    let recovered = try reader.uint32("recovered")
    let concealed = try reader.uint32("concealed")
    let margin = Nanoseconds(try reader.int64(in: ProtocolLimits.difference, "least margin"))
    self.init(
      received: received, recovered: recovered, concealed: concealed, leastMargin: margin)
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(0)
    writer.uint32(received)
    writer.uint32(recovered)
    writer.uint32(concealed)
    writer.int64(leastMargin.count, clampedTo: ProtocolLimits.difference)
  }
}

extension LiveAsk {
  /// Bytes of an ask, also of one that asks for nothing.
  package static let byteCount = TimePacket.byteCount

  /// `key` finds the key of an ask whose tag is not checked yet: use nothing else of that ask.
  ///
  /// - Throws: `notAuthentic` if there is no key, or the tag does not match it.
  package static func decode(
    _ datagram: ArraySlice<UInt8>, key: (LiveAsk) -> ClockKey?
  ) throws(DecodeError) -> LiveAsk {
    guard datagram.count >= byteCount else { throw .badLength(datagram.count, limit: byteCount) }
    let datagram = datagram.prefix(byteCount)
    var reader = ByteReader(datagram)
    try reader.begin(.ask)
    try reader.skip(2, "flags")
    let clockID = try reader.uint64("clock id")
    let sequence = try reader.uint32("sequence")
    let keyID = try reader.uint32("key id")
    var ask = LiveAsk(clockID: clockID, keyID: keyID, sequence: sequence)
    ask.first = try reader.uint64(in: ProtocolLimits.count, "first")
    ask.bits = Array(try reader.bytes(span / 8, "missing"))
    guard let key = key(ask), TimePacket.hasTag(datagram, key: key) else { throw .notAuthentic }
    return ask
  }

  /// The whole datagram.
  package func encoded(key: ClockKey) -> [UInt8] {
    var writer = ByteWriter()
    writer.datagram(.ask)
    writer.uint64(clockID)
    writer.uint32(sequence)
    writer.uint32(keyID)
    writer.uint64(first, clampedTo: ProtocolLimits.count)
    writer.bytes(bits)
    writer.bytes(TimePacket.tag(of: writer.bytes[...], key: key))
    return writer.bytes
  }
}

extension LiveDatagram {
  package init(decoding datagram: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(datagram[...])
    try reader.begin(.audio)
    try reader.skip(2, "flags")
    let clockID = try reader.uint64("clock id")
    let number = try reader.uint64(in: ProtocolLimits.count, "number")
    guard reader.remaining >= Self.tagByteCount else { throw .truncated(field: "tag") }
    self.init(
      clockID: clockID, number: number,
      sealed: Array(try reader.bytes(reader.remaining, "messages")))
  }

  package init(
    sealing messages: [UInt8], clockID: UInt64, number: UInt64, key: [UInt8],
    with cipher: any DatagramCipher
  ) {
    self.init(clockID: clockID, number: number, sealed: [])
    sealed = cipher.seal(messages, header: header, key: key, nonce: nonce)
  }

  /// Returns the media messages; nil unless all of it is as it was sealed.
  package func messages(key: [UInt8], with cipher: any DatagramCipher) -> [UInt8]? {
    cipher.open(sealed[...], header: header[...], key: key, nonce: nonce)
  }

  package var encoded: [UInt8] { header + sealed }

  private var header: [UInt8] {
    var writer = ByteWriter()
    writer.datagram(.audio)
    writer.uint64(clockID)
    writer.uint64(number)
    return writer.bytes
  }

  /// The stream and the number. No other datagram under the same key has the same nonce.
  private var nonce: [UInt8] {
    var writer = ByteWriter()
    writer.uint32(0)
    writer.uint64(number)
    return writer.bytes
  }
}

extension ByteReader {
  fileprivate mutating func begin(_ kind: DatagramKind) throws(DecodeError) {
    guard try uint32("magic") == ProtocolVersion.magic else { throw .notThisProtocol }
    let theirs = try uint8("version")
    guard theirs == TimePacket.version else { throw .unsupportedVersion(UInt16(theirs)) }
    let found = try uint8("kind")
    guard found == kind.rawValue else { throw .outOfRange(field: "kind", value: Int64(found)) }
  }
}

extension ByteWriter {
  fileprivate mutating func datagram(_ kind: DatagramKind) {
    uint32(ProtocolVersion.magic)
    uint8(TimePacket.version)
    uint8(kind.rawValue)
    uint16(0)
  }
}
