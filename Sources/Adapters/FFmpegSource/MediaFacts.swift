import Audio
import CFFmpeg
import Sender

/// Properties of an opened stream that are known before the rest of it is read.
struct MediaFacts {
  /// The decoder's format, before it is mixed or resampled.
  var decodedRate: Int
  var decodedChannelCount: Int
  var sampleType: SampleType
  var isLossless: Bool
  /// Decoded frames from the first valid one to the last; nil if the file does not give the exact number.
  var frameCount: Int64?
  /// The same, approximately; nil if the file gives no estimate either.
  var estimatedFrameCount: Int64?

  init(_ reader: FrameReader, path: String, library: FFmpegLibrary) throws(MediaError) {
    guard let frame = reader.firstFrame, let codec = reader.decoderContext else {
      throw .notAudio(path: path, reason: "there are no frames in it")
    }
    decodedRate = Int(frame.sample_rate)
    decodedChannelCount = Int(frame.ch_layout.nb_channels)
    let properties = library.calls.avcodec_descriptor_get(codec.codec_id)?.pointee.props ?? 0
    let mayLose = properties & AV_CODEC_PROP_LOSSY != 0 && codec.codec_id != AV_CODEC_ID_WAVPACK
    // FFmpeg calls the stream of bits of DSD lossy, though it is the recording itself.
    isLossless =
      properties & AV_CODEC_PROP_LOSSLESS != 0 && !mayLose || Self.isDSD(codec.codec_id)
    sampleType = Self.sampleType(of: frame, codec, isLossless: isLossless)
    frameCount = Self.frameCount(reader, frame, path: path, library: library)
    estimatedFrameCount =
      frameCount
      ?? reader.demuxer.duration.map { microseconds in
        library.calls.av_rescale_q(
          microseconds, AVRational(num: 1, den: 1_000_000),
          AVRational(num: 1, den: frame.sample_rate))
      }
  }

  private static func isDSD(_ codec: AVCodecID) -> Bool {
    [
      AV_CODEC_ID_DSD_LSBF, AV_CODEC_ID_DSD_MSBF, AV_CODEC_ID_DSD_LSBF_PLANAR,
      AV_CODEC_ID_DSD_MSBF_PLANAR, AV_CODEC_ID_DST,
    ].contains(codec)
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
    // A clock of which a frame is not a whole number of ticks does not count frames.
    guard reader.demuxer.durationIsKnown, base.num == 1, base.den % frame.sample_rate == 0,
      let parameters = stream.codecpar
    else { return nil }
    let frameBase = AVRational(num: 1, den: frame.sample_rate)
    var count = library.calls.av_rescale_q(stream.duration, base, frameBase)
    // Most durations count the frames that sound; these formats count the encoder's delay as well.
    switch reader.demuxer.formatName {
    case "ogg" where parameters.pointee.codec_id == AV_CODEC_ID_OPUS:
      count -= Int64(parameters.pointee.initial_padding)
    case "mp3":
      guard frame.pts != cff_no_pts,
        let padding = MP3Tag.endPadding(of: reader.demuxer.file, before: reader.firstPacketOffset)
      else { return nil }
      count -= library.calls.av_rescale_q(frame.pts, base, frameBase) + padding
    default:
      count = exactCount(count, reader, rate: Int64(frame.sample_rate)) ?? count
      // FFmpeg skips the tag's delay at the beginning, but not its padding at the end.
      if let tagged = reader.demuxer.tag("iTunSMPB").flatMap(Self.gaplessFrameCount) {
        count = min(count, tagged)
      }
    }
    return count > 0 ? count : nil
  }

  /// Edit lists of many programs count in milliseconds: what is left of the media without the encoder's
  /// delay is meant where it differs by less. Nil where there is nothing to correct.
  private static func exactCount(_ count: Int64, _ reader: FrameReader, rate: Int64) -> Int64? {
    let millisecond = rate / 1_000 + 1
    guard reader.demuxer.formatName.hasPrefix("mov"), abs(count * 1_000 % rate) <= 1_000,
      let delay = reader.encoderDelay, let whole = reader.demuxer.durationWithoutEdits()
    else { return nil }
    let exact =
      reader.demuxer.library.calls.av_rescale_q(
        whole, reader.demuxer.stream.pointee.time_base, AVRational(num: 1, den: Int32(rate)))
      - delay
    return abs(exact - count) < millisecond ? exact : nil
  }

  /// Apple's tag in files of AAC: four numbers in hexadecimal, of which the last is the count of frames.
  static func gaplessFrameCount(in tag: String) -> Int64? {
    let fields = tag.split(separator: " ").prefix(4).map { Int64($0, radix: 16) }
    guard fields.count == 4, let count = fields[3], count > 0 else { return nil }
    return count
  }
}
