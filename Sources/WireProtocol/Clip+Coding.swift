import Audio
import Clock

/// Layouts: docs/protocol/clips.md.
extension ClipOffer {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let number = try reader.uint32("number")
    let byteCount = try reader.uint32(in: 1...UInt32(ProtocolLimits.clip), "byte count")
    let volume = try reader.uint16(in: ProtocolLimits.volume, "volume")
    let musicVolume = try reader.uint16(in: ProtocolLimits.volume, "music volume")
    let ramp = try reader.int64(in: ProtocolLimits.clipRamp, "ramp")
    self.init(
      number: number, byteCount: Int(byteCount), volume: volume == 0 ? nil : volume,
      musicVolume: musicVolume, ramp: Nanoseconds(ramp),
      format: try StreamFormat(decoding: &reader))
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(number)
    writer.uint32(UInt32(min(max(byteCount, 1), ProtocolLimits.clip)))
    writer.uint16(volume.map { min(max($0, 1), ProtocolLimits.volume.upperBound) } ?? 0)
    writer.uint16(min(musicVolume, ProtocolLimits.volume.upperBound))
    writer.int64(ramp.count, clampedTo: ProtocolLimits.clipRamp)
    format.encode(to: &writer)
  }
}

extension ClipPiece {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let number = try reader.uint32("number")
    let offset = try reader.uint32(in: 0...UInt32(ProtocolLimits.clip), "offset")
    let count = try reader.uint16(in: 1...UInt16(ProtocolLimits.clipPiece), "piece length")
    self.init(
      number: number, offset: Int(offset), bytes: Array(try reader.bytes(Int(count), "piece")))
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(number)
    writer.uint32(UInt32(clamping: offset))
    writer.uint16(UInt16(clamping: bytes.count))
    writer.bytes(bytes)
  }
}

extension ClipTime {
  private static let withdrawn: UInt8 = 1

  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let number = try reader.uint32("number")
    let flags = try reader.uint8("flags")
    try reader.skip(3, "reserved")
    let time = try reader.groupTime("group time")
    self.init(number: number, begins: flags & Self.withdrawn == 0 ? time : nil)
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(number)
    writer.uint8(begins == nil ? Self.withdrawn : 0)
    writer.zeros(3)
    writer.groupTime(begins ?? GroupTime(nanoseconds: 0))
  }
}

extension ClipState {
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let number = try reader.uint32("number")
    let received = try reader.uint32(in: 0...UInt32(ProtocolLimits.clip), "received")
    let value = try reader.uint8("stage")
    guard let stage = Stage(rawValue: value) else {
      throw .outOfRange(field: "stage", value: Int64(value))
    }
    try reader.skip(3, "reserved")
    self.init(
      number: number, received: Int(received), stage: stage,
      detail: try reader.text(atMost: ProtocolLimits.detail, "detail"))
  }

  func encode(to writer: inout ByteWriter) {
    writer.uint32(number)
    writer.uint32(UInt32(min(max(received, 0), ProtocolLimits.clip)))
    writer.uint8(stage.rawValue)
    writer.zeros(3)
    writer.text(detail, atMost: ProtocolLimits.detail)
  }
}

extension ByteReader {
  mutating func clipPacket() throws(DecodeError) -> EncodedPacket {
    let mostFrames = UInt32(ProtocolLimits.framesPerPacket)
    let frameCount = try uint32(in: 0...mostFrames, "frame count")
    let skippedFrames = try uint32(in: 0...mostFrames, "skipped frames")
    let byteCount = try uint32("payload length")
    let payload = Array(try bytes(Int(byteCount), "payload"))
    return EncodedPacket(
      payload: payload, skippedFrames: Int(skippedFrames), frameCount: Int(frameCount))
  }
}
