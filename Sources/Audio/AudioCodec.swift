/// A way to compress audio. The raw value is its number on the wire.
package enum Codec: UInt16, CaseIterable, Sendable {
  case pcm = 1
  case flac = 2
  case opus = 3
  /// MPEG-1 and MPEG-2 audio, layer III.
  case mp3 = 4
  /// MPEG-4 AAC, with or without SBR and PS.
  case aac = 5
  case alac = 6
  case vorbis = 7
  case ac3 = 8
  case eac3 = 9
}

/// A set of codecs.
package struct CodecSet: Hashable, Sendable {
  private var bits: UInt64 = 0

  package static let all = CodecSet(Codec.allCases)

  package init(_ codecs: [Codec]) {
    for codec in codecs { bits |= 1 << UInt64(codec.rawValue) }
  }

  package mutating func insert(_ codec: Codec) { bits |= 1 << UInt64(codec.rawValue) }

  package func contains(_ codec: Codec) -> Bool { bits & 1 << UInt64(codec.rawValue) != 0 }

  package mutating func formIntersection(_ other: CodecSet) { bits &= other.bits }
}

/// Everything that a decoder must know before its first packet.
package struct StreamFormat: Hashable, Sendable {
  package var codec: Codec
  package var audio: AudioFormat
  /// For PCM, the way in which the packets store a sample; for other codecs, the way in which the
  /// source stored it.
  package var sampleType: SampleType
  /// The codec's own header; docs/protocol/media.md specifies it for each codec.
  package var configuration: [UInt8]

  package init(
    codec: Codec, audio: AudioFormat, sampleType: SampleType, configuration: [UInt8] = []
  ) {
    self.codec = codec
    self.audio = audio
    self.sampleType = sampleType
    self.configuration = configuration
  }
}

/// The way in which one sample is stored, little-endian. The raw value is its number on the wire.
package enum SampleType: UInt8, CaseIterable, Sendable {
  case int16 = 1
  /// Three bytes.
  case int24 = 2
  case int32 = 3
  case float32 = 4

  package var byteCount: Int {
    switch self {
    case .int16: 2
    case .int24: 3
    case .int32, .float32: 4
    }
  }
}

/// One packet as an encoder makes it. Packets of one stream join without a gap: each begins where the
/// frames of the one before it end.
package struct EncodedPacket: Hashable, Sendable {
  package var payload: [UInt8]
  /// Decoded frames to throw away before the first valid one (encoder delay, priming).
  package var skippedFrames: Int
  /// Valid frames after those; 0 if the packet only prepares the decoder for the next.
  package var frameCount: Int

  package init(payload: [UInt8], skippedFrames: Int = 0, frameCount: Int) {
    self.payload = payload
    self.skippedFrames = skippedFrames
    self.frameCount = frameCount
  }
}

/// Turns packets into frames. One decoder serves one run of packets that belong together; a new run
/// (after a seek, or with another format) gets a new decoder.
package protocol AudioDecoder: AnyObject {
  /// Appends the frames of the packet, `skippedFrames` included, to `frames`, interleaved.
  ///
  /// - Throws: `CodecError.malformed` if the packet cannot be decoded; the decoder stays usable.
  func decode(_ payload: [UInt8], appendingTo frames: inout [Float]) throws(CodecError)
}

/// Turns frames into packets.
package protocol AudioEncoder: AnyObject {
  var format: StreamFormat { get }

  /// Takes frames, interleaved, and appends the packets that are complete to `packets`.
  func encode(_ frames: [Float], appendingTo packets: inout [EncodedPacket]) throws(CodecError)

  /// Appends the packets that are still held back. After this the encoder takes no more frames.
  func finish(appendingTo packets: inout [EncodedPacket]) throws(CodecError)
}

/// The errors of a codec.
package enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
  /// This build or machine does not support it.
  case unsupported(String)
  /// The bytes are malformed.
  case malformed(String)
  /// The library refused: its call and its message.
  case failed(call: String, reason: String)

  package var description: String {
    switch self {
    case .unsupported(let reason), .malformed(let reason): reason
    case .failed(let call, let reason): "\(call): \(reason)"
    }
  }
}
