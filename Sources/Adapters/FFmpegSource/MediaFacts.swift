import Audio
import CFFmpeg
import Sender

/// What is known of an opened stream before the rest of it is read.
struct MediaFacts {
  /// Of the frames as they are decoded.
  var decodedRate: Int
  var decodedChannelCount: Int
  var sampleType: SampleType
  var isLossless: Bool
  /// Decoded frames from the first valid to the last; nil where the file does not tell exactly.
  var frameCount: Int64?

  init(_ reader: FrameReader, path: String, library: FFmpegLibrary) throws(MediaError) {
    guard let frame = reader.firstFrame, let codec = reader.decoderContext else {
      throw .notAudio(path: path, reason: "there are no frames in it")
    }
    decodedRate = Int(frame.sample_rate)
    decodedChannelCount = Int(frame.ch_layout.nb_channels)
    let properties = library.calls.avcodec_descriptor_get(codec.codec_id)?.pointee.props ?? 0
    let mayLose = properties & AV_CODEC_PROP_LOSSY != 0 && codec.codec_id != AV_CODEC_ID_WAVPACK
    isLossless = properties & AV_CODEC_PROP_LOSSLESS != 0 && !mayLose
    sampleType = Self.sampleType(of: frame, codec, isLossless: isLossless)
    frameCount = Self.frameCount(reader, frame, path: path, library: library)
  }

  private static func sampleType(
    of frame: AVFrame, _ codec: AVCodecContext, isLossless: Bool
  ) -> SampleType {
    switch AVSampleFormat(frame.format) {
    case _ where !isLossless: .float32
    case AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_U8P, AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P: .int16
    case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
      switch codec.bits_per_raw_sample {
      case 1...16: .int16
      case 17...24: .int24
      default: .int32
      }
    default: .float32
    }
  }

  private static func frameCount(
    _ reader: FrameReader, _ frame: AVFrame, path: String, library: FFmpegLibrary
  ) -> Int64? {
    let stream = reader.demuxer.stream.pointee
    let base = stream.time_base
    // A coarse clock does not count frames.
    guard reader.demuxer.durationIsKnown, base.num > 0, let parameters = stream.codecpar,
      Int64(base.den) >= Int64(base.num) * Int64(frame.sample_rate)
    else { return nil }
    let frameBase = AVRational(num: 1, den: frame.sample_rate)
    var count = library.calls.av_rescale_q(stream.duration, base, frameBase)
    // Most durations count the frames that sound; these two formats count the encoder's delay as well.
    switch reader.demuxer.formatName {
    case "ogg" where parameters.pointee.codec_id == AV_CODEC_ID_OPUS:
      count -= Int64(parameters.pointee.initial_padding)
    case "mp3":
      guard frame.pts != cff_no_pts,
        let padding = MP3Tag.endPadding(ofFile: path, before: reader.firstPacketOffset)
      else { return nil }
      count -= library.calls.av_rescale_q(frame.pts, base, frameBase) + padding
    default: break
    }
    return count > 0 ? count : nil
  }
}
