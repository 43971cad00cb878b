package import Audio
package import Clock

/// A short sound that rooms mix over what they play, such as an announcement. See docs/protocol/clips.md.
package struct Clip: Hashable, Sendable {
  package var format: StreamFormat
  /// Its packets, one behind the other, as `packets` reads them. At most `ProtocolLimits.clip`.
  package var bytes: [UInt8]

  package init(format: StreamFormat, bytes: [UInt8]) {
    (self.format, self.bytes) = (format, bytes)
  }

  package init(format: StreamFormat, packets: [EncodedPacket]) {
    var writer = ByteWriter()
    for packet in packets {
      writer.uint32(UInt32(clamping: packet.frameCount))
      writer.uint32(UInt32(clamping: packet.skippedFrames))
      writer.uint32(UInt32(clamping: packet.payload.count))
      writer.bytes(packet.payload)
    }
    self.init(format: format, bytes: writer.bytes)
  }

  /// - Throws: `DecodeError` if the bytes are no packets, or longer than `ProtocolLimits.clipSpan`.
  package func packets() throws(DecodeError) -> [EncodedPacket] {
    var reader = ByteReader(bytes[...])
    var packets: [EncodedPacket] = []
    var left = ProtocolLimits.clipSpan.frames(at: format.audio.sampleRate)
    while reader.remaining > 0 {
      let packet = try reader.clipPacket()
      left -= packet.frameCount
      guard left >= 0 else { throw .outOfRange(field: "frames of a clip", value: Int64(-left)) }
      packets.append(packet)
    }
    return packets
  }
}

/// Describes a clip that follows in pieces.
package struct ClipOffer: Hashable, Sendable {
  /// From the sender, counting up; names the clip in the messages that follow.
  package var number: UInt32
  /// Length of the whole clip, 1...`ProtocolLimits.clip`.
  package var byteCount: Int
  /// How loud it is in this room, 1...1000; nil for as loud as the room plays, and never inaudible.
  package var volume: UInt16?
  /// How loud the music below it is, of its own volume: 0...1000, perceptual.
  package var musicVolume: UInt16
  /// Within this time the music becomes quieter as the clip begins, and louder when it has ended.
  package var ramp: Nanoseconds
  package var format: StreamFormat

  /// The volume that is -12 dB.
  package static let usualMusicVolume: UInt16 = 588
  package static let usualRamp = Nanoseconds.milliseconds(200)

  package init(
    number: UInt32, byteCount: Int, volume: UInt16?, musicVolume: UInt16 = usualMusicVolume,
    ramp: Nanoseconds = usualRamp, format: StreamFormat
  ) {
    (self.number, self.byteCount, self.volume) = (number, byteCount, volume)
    (self.musicVolume, self.ramp, self.format) = (musicVolume, ramp, format)
  }
}

/// A part of a clip.
package struct ClipPiece: Hashable, Sendable {
  package var number: UInt32
  /// In bytes; pieces come in order.
  package var offset: Int
  /// 1...`ProtocolLimits.clipPiece` bytes.
  package var bytes: [UInt8]

  package init(number: UInt32, offset: Int, bytes: [UInt8]) {
    (self.number, self.offset, self.bytes) = (number, offset, bytes)
  }
}

/// Says when a clip sounds.
package struct ClipTime: Hashable, Sendable {
  package var number: UInt32
  /// Nil withdraws the clip.
  package var begins: GroupTime?

  package init(number: UInt32, begins: GroupTime?) {
    (self.number, self.begins) = (number, begins)
  }
}

/// How far a room is with a clip.
package struct ClipState: Hashable, Sendable {
  package enum Stage: UInt8, CaseIterable, Sendable {
    /// More pieces are awaited, or the room is getting ready.
    case taking = 1
    /// It would be heard at its very time.
    case ready = 2
    /// It will not be heard; `detail` says why.
    case refused = 3
  }
  package var number: UInt32
  /// Bytes that have arrived.
  package var received: Int
  package var stage: Stage
  package var detail: String

  package init(number: UInt32, received: Int, stage: Stage, detail: String = "") {
    (self.number, self.received, self.stage, self.detail) = (number, received, stage, detail)
  }
}
