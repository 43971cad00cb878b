import CFFmpeg

/// Numbers frames by the timestamps of packets, as far as the time base tells packets apart.
struct PacketTimestamps {
  private let reference: (timestamp: Int64, number: Int64)
  private let timeBase: AVRational
  private let frameBase: AVRational
  /// Packets begin at the reference and every `grid` frames from there; 1 if timestamps are exact.
  private let grid: Int64
  private let library: FFmpegLibrary

  /// - Parameters:
  ///   - timestamp: of a packet whose first decoded frame is `number`.
  ///   - step: frames between two packets, or a divisor of that number.
  init(_ timestamp: Int64, number: Int64, step: Int, rate: Int, of demuxer: Demuxer) {
    reference = (timestamp, number)
    timeBase = demuxer.stream.pointee.time_base
    frameBase = AVRational(num: 1, den: Int32(clamping: rate))
    let isExact = timeBase.num == 1 && Int(timeBase.den) % rate == 0
    grid = isExact ? 1 : Int64(max(1, step))
    library = demuxer.library
  }

  func timestamp(of number: Int64) -> Int64 {
    let elapsed = library.calls.av_rescale_q(number &- reference.number, frameBase, timeBase)
    return reference.timestamp &+ elapsed
  }

  func number(of timestamp: Int64) -> Int64? {
    let (elapsed, overflow) = timestamp.subtractingReportingOverflow(reference.timestamp)
    guard !overflow else { return nil }
    let frames = library.calls.av_rescale_q(elapsed, timeBase, frameBase)
    let (steps, rest) = frames.quotientAndRemainder(dividingBy: grid)
    let nearest = abs(rest) * 2 > grid ? steps + rest.signum() : steps
    return reference.number &+ nearest &* grid
  }
}
