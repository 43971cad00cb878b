import Audio
import Clock

// The messages that begin and end sessions. Layouts: docs/protocol/control-messages.md.

extension Hello {
  private static let takesOverFlag: UInt16 = 1
  private static let givesBackFlag: UInt16 = 2
  private static let termFlag: UInt16 = 4

  /// Later versions may only append to this layout. If a message of a later version still cannot be read, the error
  /// names the version as the cause.
  init(decoding payload: ArraySlice<UInt8>) throws(DecodeError) {
    var reader = ByteReader(payload)
    let version = try reader.magicAndVersion()
    do {
      try self.init(version: version, decoding: &reader)
    } catch {
      throw ProtocolVersion.isSpoken(version) ? error : .unsupportedVersion(version)
    }
  }

  private init(version: UInt16, decoding reader: inout ByteReader) throws(DecodeError) {
    let flags = try reader.uint16("flags")
    let senderID = try reader.identifier("sender id")
    let session = try reader.uint64("session")
    let clockID = try reader.uint64("clock id")
    let clockPort = try reader.uint16(in: 1...UInt16.max, "clock port")
    let senderName = try reader.text(atMost: ProtocolLimits.name, "sender name")
    self.init(
      version: version, senderID: senderID, senderName: senderName, session: session,
      clockID: clockID, clockPort: clockPort, takesOver: flags & Self.takesOverFlag != 0,
      givesBack: flags & Self.givesBackFlag != 0, priority: try reader.uint8("priority"))
    if flags & Self.termFlag != 0 { term = try reader.uint32("term") }
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(ProtocolVersion.magic)
    writer.uint16(version)
    writer.uint16(
      (takesOver ? Self.takesOverFlag : 0) | (givesBack ? Self.givesBackFlag : 0)
        | (term > 0 ? Self.termFlag : 0))
    writer.bytes(senderID.bytes)
    writer.uint64(session)
    writer.uint64(clockID)
    writer.uint16(max(1, clockPort))
    writer.text(senderName, atMost: ProtocolLimits.name)
    writer.uint8(priority)
    if term > 0 { writer.uint32(term) }
  }
}

extension Welcome {
  private static let playsClipsFlag: UInt16 = 1
  private static let keepsSoundFlag: UInt16 = 2

  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let version = try reader.uint16("version")
    let abilities = try reader.uint16("abilities")
    let receiverID = try reader.identifier("receiver id")
    let bytes = try reader.uint64(in: ProtocolLimits.count, "capacity in bytes")
    let flicks = try reader.int64(in: ProtocolLimits.mediaTime, "capacity in flicks")
    var settings = try RoomSettings(decoding: &reader)
    let name = try reader.text(atMost: ProtocolLimits.name, "name")
    let model = try reader.text(atMost: ProtocolLimits.name, "model")
    let codecs = try reader.codecs()
    let held = try HeldStream(decodingOptional: &reader)
    let dropped = try DroppedStream(decodingOptional: &reader)
    try settings.decodeLimit(&reader)
    if abilities & Self.keepsSoundFlag != 0 {
      settings.sound = try SoundSetting(decoding: &reader, hasFIR: &settings.hasFIR)
    }
    self.init(
      version: version, receiverID: receiverID, name: name, model: model,
      capacity: Capacity(bytes: bytes, duration: MediaDuration(flicks: flicks)),
      codecs: codecs, settings: settings, held: held, dropped: dropped,
      playsClips: abilities & Self.playsClipsFlag != 0)
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint16(version)
    writer.uint16(
      (playsClips ? Self.playsClipsFlag : 0) | (settings.sound == nil ? 0 : Self.keepsSoundFlag))
    writer.bytes(receiverID.bytes)
    writer.uint64(capacity.bytes, clampedTo: ProtocolLimits.count)
    writer.int64(capacity.duration.flicks, clampedTo: ProtocolLimits.mediaTime)
    settings.encode(to: &writer)
    writer.text(name, atMost: ProtocolLimits.name)
    writer.text(model, atMost: ProtocolLimits.name)
    writer.codecs(codecs)
    writer.uint8(held == nil ? 0 : 1)
    held?.encode(to: &writer)
    writer.uint8(dropped == nil ? 0 : 1)
    dropped?.encode(to: &writer)
    settings.encodeLimit(to: &writer)
    settings.sound?.encode(to: &writer, hasFIR: settings.hasFIR)
  }
}

extension HeldStream {
  fileprivate init?(decodingOptional reader: inout ByteReader) throws(DecodeError) {
    switch try reader.uint8("holds a stream") {
    case 0: return nil
    case 1:
      self.init(
        generation: try reader.uint32(in: ProtocolLimits.generation, "held generation"),
        nextSequence: try reader.uint64(in: ProtocolLimits.count, "next sequence"),
        from: MediaTime(flicks: try reader.int64(in: ProtocolLimits.mediaTime, "held from")))
    case let other: throw .outOfRange(field: "holds a stream", value: Int64(other))
    }
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint32(generation)
    writer.uint64(nextSequence, clampedTo: ProtocolLimits.count)
    writer.int64(from.flicks, clampedTo: ProtocolLimits.mediaTime)
  }
}

extension DroppedStream {
  fileprivate init?(decodingOptional reader: inout ByteReader) throws(DecodeError) {
    switch try reader.uint8("dropped a stream") {
    case 0: return nil
    case 1:
      self.init(
        unheard: MediaDuration(
          flicks: try reader.int64(in: ProtocolLimits.mediaTime, "dropped flicks")),
        senderName: try reader.text(atMost: ProtocolLimits.name, "dropped sender name"))
    case let other: throw .outOfRange(field: "dropped a stream", value: Int64(other))
    }
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.int64(unheard.flicks, clampedTo: ProtocolLimits.mediaTime)
    writer.text(senderName, atMost: ProtocolLimits.name)
  }
}

extension Refusal {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let reason = Reason(rawValue: try reader.uint8("reason")) ?? .other
    try reader.skip(1, "reserved")
    let detail = try reader.text(atMost: ProtocolLimits.detail, "detail")
    self.init(
      reason: reason, detail: detail,
      term: reason.isAboutTerms ? try reader.uint32("term") : 0)
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint8(reason.rawValue)
    writer.zeros(1)
    writer.text(detail, atMost: ProtocolLimits.detail)
    if reason.isAboutTerms { writer.uint32(term) }
  }
}

extension Goodbye {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let reason = Reason(rawValue: try reader.uint8("reason")) ?? .other
    try reader.skip(1, "reserved")
    self.init(reason: reason, detail: try reader.text(atMost: ProtocolLimits.detail, "detail"))
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint8(reason.rawValue)
    writer.zeros(1)
    writer.text(detail, atMost: ProtocolLimits.detail)
  }
}

extension ByteReader {
  mutating func identifier(_ field: String) throws(DecodeError) -> Identifier {
    guard let identifier = Identifier(Array(try bytes(Identifier.byteCount, field))) else {
      throw .truncated(field: field)
    }
    return identifier
  }

  mutating func proof() throws(DecodeError) -> [UInt8] { Array(try bytes(32, "proof")) }

  /// Leaves out codecs that this version does not know.
  mutating func codecs() throws(DecodeError) -> [Codec] {
    let count = try uint16("codec count")
    guard count <= ProtocolLimits.codecs else {
      throw .outOfRange(field: "codec count", value: Int64(count))
    }
    var codecs: [Codec] = []
    for _ in 0..<count {
      if let codec = Codec(rawValue: try uint16("codec")) { codecs.append(codec) }
    }
    return codecs
  }
}

extension ByteWriter {
  mutating func codecs(_ codecs: [Codec]) {
    let listed = codecs.prefix(ProtocolLimits.codecs)
    uint16(UInt16(clamping: listed.count))
    for codec in listed { uint16(codec.rawValue) }
  }
}
