import CFFmpeg

/// Numbers frames by their timestamps.
///
/// If the time base is too coarse to tell frames apart (Matroska counts milliseconds), the number is rounded
/// to the nearest possible start of a block of the codec.
struct FrameTimestamps {
  private let origin: Int64
  private let timeBase: AVRational
  private let frameBase: AVRational
  /// Blocks begin at `gridOffset` and every `grid` frames from there; `grid` is 1 if timestamps are exact.
  private let grid: Int64
  private let gridOffset: Int64

  /// Returns nil if the timestamps do not identify frames.
  init?(first frame: AVFrame, of demuxer: Demuxer) {
    let stream = demuxer.stream.pointee
    guard frame.pts != cff_no_pts, frame.sample_rate > 0, stream.time_base.num > 0,
      stream.time_base.den > 0, let parameters = stream.codecpar, Self.hasTrueTimestamps(demuxer)
    else { return nil }
    origin = frame.pts
    timeBase = stream.time_base
    frameBase = AVRational(num: 1, den: frame.sample_rate)
    // Exact if each frame is a whole number of ticks, or of so many ticks that two rounding errors do not
    // matter.
    let isExact =
      timeBase.num == 1 && timeBase.den % frame.sample_rate == 0
      || Int64(timeBase.den) >= Int64(timeBase.num) * Int64(frame.sample_rate) * 4
    let step = Self.grid(of: parameters.pointee.codec_id)
    // Sums of rounded durations drift away from the frames.
    let isWhole = step.map { [base = stream.time_base] step in
      step * Int64(base.den) % (Int64(base.num) * Int64(frame.sample_rate)) == 0
    }
    guard isExact || isWhole ?? false || !Self.rawStreams.contains(demuxer.formatName) else {
      return nil
    }
    gridOffset = isExact ? 0 : Int64(frame.nb_samples)
    if isExact {
      grid = 1
    } else if let step {
      grid = step
    } else {
      return nil
    }
    // Both the origin and a timestamp are rounded: together they may be off by one tick.
    guard isExact || Int64(timeBase.num) * Int64(frame.sample_rate) * 2 < grid * Int64(timeBase.den)
    else { return nil }
  }

  private static let rawStreams: Set<String> = ["ac3", "eac3", "dts", "mp3", "aac", "truehd"]

  /// True if the container's timestamps are usable. Ogg has times only at the ends of pages; FFmpeg computes
  /// those of Vorbis and Opus packets. In a chain of streams, whose duration is not known, timestamps start
  /// again.
  private static func hasTrueTimestamps(_ demuxer: Demuxer) -> Bool {
    guard demuxer.formatName == "ogg" else { return true }
    let codec = demuxer.stream.pointee.codecpar?.pointee.codec_id
    return (codec == AV_CODEC_ID_VORBIS || codec == AV_CODEC_ID_OPUS) && demuxer.durationIsKnown
  }

  /// The step at which all blocks of a codec begin, in frames.
  private static func grid(of codec: AVCodecID) -> Int64? {
    switch codec {
    case AV_CODEC_ID_OPUS: 120
    case AV_CODEC_ID_AAC: 1_024
    case AV_CODEC_ID_MP3: 576
    case AV_CODEC_ID_MP2: 1_152
    case AV_CODEC_ID_AC3: 1_536
    case AV_CODEC_ID_EAC3: 256
    default: nil
    }
  }

  func timestamp(of number: Int64, _ library: FFmpegLibrary) -> Int64 {
    origin &+ library.calls.av_rescale_q(number, frameBase, timeBase)
  }

  func number(of frame: AVFrame, _ library: FFmpegLibrary) -> Int64? {
    guard frame.pts != cff_no_pts else { return nil }
    let (elapsed, overflow) = frame.pts.subtractingReportingOverflow(origin)
    guard !overflow else { return nil }
    let number = library.calls.av_rescale_q(elapsed, timeBase, frameBase)
    guard grid > 1 else { return number }
    let (steps, rest) = (number &- gridOffset).quotientAndRemainder(dividingBy: grid)
    let nearest = abs(rest) * 2 > grid ? steps + rest.signum() : steps
    return nearest &* grid &+ gridOffset
  }
}
