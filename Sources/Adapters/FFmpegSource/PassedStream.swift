import Audio
import CFFmpeg
import Sender

/// The wire format of an opened stream whose packets are passed on unchanged.
struct PassedStream {
  let format: StreamFormat
  /// True if each packet has a header, which is removed.
  let hasADTSHeaders: Bool
  /// Frames per packet of AAC and ALAC.
  let framesPerPacket: Int
  /// Decoded frames before the first audible one, if the container does not tell.
  let priming: Int

  /// - Throws: the reason why the stream cannot be passed on.
  init(_ audio: DecodedAudio, first: [UInt8]) throws(PassObstacle) {
    let facts = audio.facts
    guard !audio.isResampled else { throw .isResampled(rate: facts.decodedRate) }
    guard audio.format.channelCount == facts.decodedChannelCount else {
      throw .isMixed(channels: facts.decodedChannelCount)
    }
    let parts = try Self.parts(audio, first: first)
    format = StreamFormat(
      codec: parts.codec, audio: audio.format, sampleType: facts.sampleType,
      configuration: parts.configuration)
    hasADTSHeaders = parts.hasADTSHeaders
    framesPerPacket = parts.framesPerPacket
    priming = parts.priming
  }

  private struct Parts {
    var codec: Codec
    var configuration: [UInt8] = []
    var hasADTSHeaders = false
    var framesPerPacket = 0
    var priming = 0
  }

  private static func parts(
    _ audio: DecodedAudio, first: [UInt8]
  ) throws(PassObstacle) -> Parts {
    let demuxer = audio.reader.demuxer
    guard let parameters = demuxer.stream.pointee.codecpar?.pointee else {
      throw .notPassable(codec: "unknown")
    }
    let header = Array(
      UnsafeBufferPointer(
        start: parameters.extradata, count: max(0, Int(parameters.extradata_size))))
    let parts: Parts? =
      switch parameters.codec_id {
      case AV_CODEC_ID_MP3: Parts(codec: .mp3)
      case AV_CODEC_ID_AC3: Parts(codec: .ac3)
      case AV_CODEC_ID_EAC3: Parts(codec: .eac3)
      case AV_CODEC_ID_AAC: aac(header, audio.format, first)
      case AV_CODEC_ID_ALAC: alac(header)
      case AV_CODEC_ID_FLAC:
        header.count == 34 ? Parts(codec: .flac, configuration: header) : nil
      case AV_CODEC_ID_OPUS: opus(header)
      case AV_CODEC_ID_VORBIS: vorbis(header)
      default: nil
      }
    guard let parts, parts.configuration.count <= configurationLimit else {
      let name = demuxer.library.calls.avcodec_descriptor_get(parameters.codec_id)?.pointee.name
      throw .notPassable(codec: name.map { String(cString: $0) } ?? "unknown")
    }
    return parts
  }

  /// Largest configuration that a `format` message can carry, in bytes.
  private static let configurationLimit = 8 * 1_024

  private static func aac(_ header: [UInt8], _ audio: AudioFormat, _ first: [UInt8]) -> Parts? {
    let configuration =
      header.isEmpty
      ? ADTSHeader(first).flatMap(AudioSpecificConfig.init) : AudioSpecificConfig(header)
    guard
      let explicit = configuration?.signalling(
        rate: audio.sampleRate, channelCount: audio.channelCount)
    else { return nil }
    return Parts(
      codec: .aac, configuration: explicit.bytes, hasADTSHeaders: header.isEmpty,
      framesPerPacket: explicit.coreFrameCount * (audio.sampleRate / explicit.coreRate))
  }

  /// Removes the box that MP4 puts around the configuration.
  private static func alac(_ header: [UInt8]) -> Parts? {
    guard header.count == 36, header[4..<8].elementsEqual("alac".utf8) else { return nil }
    let frames = header[12..<16].reduce(0) { $0 << 8 | Int($1) }
    guard (1...65_536).contains(frames) else { return nil }
    return Parts(codec: .alac, configuration: Array(header[12...]), framesPerPacket: frames)
  }

  private static func opus(_ header: [UInt8]) -> Parts? {
    guard header.count >= 19, header.starts(with: "OpusHead".utf8) else { return nil }
    let skip = Int(header[10]) | Int(header[11]) << 8
    return Parts(codec: .opus, configuration: header, priming: skip)
  }

  /// Replaces the comment header by an empty one, because the item's own may hold a picture.
  private static func vorbis(_ header: [UInt8]) -> Parts? {
    guard let headers = laced(header) else { return nil }
    let comment: [UInt8] = [3] + Array("vorbis".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 1]
    let lengths: [UInt8] = [2, UInt8(clamping: headers.first.count), UInt8(comment.count)]
    return Parts(
      codec: .vorbis, configuration: lengths + headers.first + comment + headers.setup)
  }

  private static func laced(_ header: [UInt8]) -> (first: [UInt8], setup: [UInt8])? {
    guard header.first == 2 else { return nil }
    var place = 1
    var lengths: [Int] = []
    for _ in 0..<2 {
      var length = 0
      while place < header.count, header[place] == 255 {
        (length, place) = (length + 255, place + 1)
      }
      guard place < header.count else { return nil }
      lengths.append(length + Int(header[place]))
      place += 1
    }
    let setup = place + lengths[0] + lengths[1]
    guard lengths[0] == 30, setup < header.count else { return nil }
    return (Array(header[place..<place + lengths[0]]), Array(header[setup...]))
  }
}
