import Audio
import Clock

/// Layouts: docs/protocol/media.md.
extension MediaMessage {
  /// Returns nil for messages that this version does not know: another type, or a packet of another stream. Such
  /// messages are skipped and counted.
  package static func decode(_ message: RawMessage) throws(DecodeError) -> MediaMessage? {
    var reader = ByteReader(message.payload)
    switch message.type {
    case MessageType.attach: return .attach(session: try session(ofAttach: message.payload))
    case MessageType.format:
      let id = try reader.formatID()
      return .format(id: id, try StreamFormat(decoding: &reader))
    case MessageType.packet: return try AudioPacket(decoding: &reader).map(MediaMessage.packet)
    case MessageType.artwork: return .artwork(try ArtworkPiece(decoding: &reader))
    default: return nil
    }
  }

  /// Appends the message with its framing. The caller ensures that formats are supported and that payloads and
  /// configurations keep to `ProtocolLimits`; receivers refuse the rest.
  package func encode(appendingTo bytes: inout [UInt8]) {
    switch self {
    case .attach(let session):
      ByteWriter.message(MessageType.attach, appendingTo: &bytes) { writer in
        writer.uint32(ProtocolVersion.magic)
        writer.uint16(ProtocolVersion.newest)
        writer.zeros(2)
        writer.uint64(session)
      }
    case .format(let id, let format):
      ByteWriter.message(MessageType.format, appendingTo: &bytes) { writer in
        writer.uint16(id)
        format.encode(to: &writer)
      }
    case .packet(let packet):
      ByteWriter.message(MessageType.packet, appendingTo: &bytes) { packet.encode(to: &$0) }
    case .artwork(let piece):
      ByteWriter.message(MessageType.artwork, appendingTo: &bytes) { piece.encode(to: &$0) }
    }
  }

  /// True if the message is a packet. A packet that cannot be decoded is merely lost.
  package static func isPacket(_ message: RawMessage) -> Bool {
    message.type == MessageType.packet
  }

  static func session(ofAttach payload: ArraySlice<UInt8>) throws(DecodeError) -> UInt64 {
    var reader = ByteReader(payload)
    let version = try reader.magicAndVersion()
    guard ProtocolVersion.isSpoken(version) else { throw .unsupportedVersion(version) }
    try reader.skip(2, "reserved")
    return try reader.uint64("session")
  }
}

extension StreamFormat {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let codecNumber = try reader.uint16("codec")
    guard let codec = Codec(rawValue: codecNumber) else {
      throw .outOfRange(field: "codec", value: Int64(codecNumber))
    }
    let audio = try AudioFormat(decoding: &reader)
    let typeNumber = try reader.uint8("sample type")
    guard let sampleType = SampleType(rawValue: typeNumber) else {
      throw .outOfRange(field: "sample type", value: Int64(typeNumber))
    }
    let count = Int(try reader.uint16("configuration length"))
    guard count <= ProtocolLimits.decoderConfiguration else {
      throw .tooLong(
        field: "configuration", byteCount: count, limit: ProtocolLimits.decoderConfiguration)
    }
    let configuration = Array(try reader.bytes(count, "configuration"))
    self.init(codec: codec, audio: audio, sampleType: sampleType, configuration: configuration)
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint16(codec.rawValue)
    writer.uint32(UInt32(clamping: audio.sampleRate))
    writer.uint8(UInt8(clamping: audio.channelCount))
    writer.uint8(sampleType.rawValue)
    writer.uint16(UInt16(clamping: configuration.count))
    writer.bytes(configuration)
  }
}

extension AudioFormat {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let sampleRate = try reader.uint32("sample rate")
    guard AudioFormat.supportedRates.contains(Int(sampleRate)) else {
      throw .outOfRange(field: "sample rate", value: Int64(sampleRate))
    }
    let channelCount = try reader.uint8("channel count")
    guard (1...AudioFormat.maximumChannelCount).contains(Int(channelCount)) else {
      throw .outOfRange(field: "channel count", value: Int64(channelCount))
    }
    self.init(sampleRate: Int(sampleRate), channelCount: Int(channelCount))
  }
}

extension AudioPacket {
  private enum Flags {
    static let startsRun: UInt16 = 1
    static let endsStream: UInt16 = 2
    static let sealed: UInt16 = 4
  }
  fileprivate static let tagByteCount = 16

  /// Nil if it is of another stream.
  fileprivate init?(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint32("stream") == 0 else { return nil }
    let generation = try reader.uint32(in: ProtocolLimits.generation, "generation")
    let sequence = try reader.uint64(in: ProtocolLimits.count, "sequence")
    let mediaTime = try reader.mediaTime("media time")
    let formatID = try reader.formatID()
    let flags = try reader.uint16("flags")
    guard flags & Flags.sealed == 0 else { throw .sealed }
    self.init(
      generation: generation, sequence: sequence, mediaTime: mediaTime,
      formatID: formatID, startsRun: flags & Flags.startsRun != 0,
      endsStream: flags & Flags.endsStream != 0, encoded: try EncodedPacket(decoding: &reader))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.zeros(4)
    writer.uint32(generation)
    writer.uint64(sequence, clampedTo: ProtocolLimits.count)
    writer.mediaTime(mediaTime)
    writer.uint16(formatID)
    writer.uint16((startsRun ? Flags.startsRun : 0) | (endsStream ? Flags.endsStream : 0))
    writer.uint32(UInt32(clamping: encoded.frameCount))
    writer.uint32(UInt32(clamping: encoded.skippedFrames))
    writer.uint32(UInt32(clamping: encoded.payload.count))
    writer.zeros(Self.tagByteCount)
    writer.bytes(encoded.payload)
  }
}

extension EncodedPacket {
  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    let mostFrames = UInt32(ProtocolLimits.framesPerPacket)
    let frameCount = try reader.uint32(in: 0...mostFrames, "frame count")
    let skippedFrames = try reader.uint32(in: 0...mostFrames, "skipped frames")
    let byteCount = try reader.uint32("payload length")
    try reader.skip(AudioPacket.tagByteCount, "tag")
    guard byteCount <= ProtocolLimits.audioPayload else {
      throw .tooLong(
        field: "payload", byteCount: Int(byteCount), limit: ProtocolLimits.audioPayload)
    }
    let payload = Array(try reader.bytes(Int(byteCount), "payload"))
    self.init(payload: payload, skippedFrames: Int(skippedFrames), frameCount: Int(frameCount))
  }
}

extension ByteReader {
  fileprivate mutating func formatID() throws(DecodeError) -> UInt16 {
    try uint16(in: 0...UInt16(ProtocolLimits.formats - 1), "format id")
  }
}
