package import Clock

/// A stream position in frames of the device's rate, with its fraction. Whole and fraction are separate: after
/// a day, a single `Double` would place frames no finer than a millionth of one, and the resampler's noise
/// would rise above -120 dB.
package struct StreamPosition: Hashable, Comparable, Sendable {
  package private(set) var frame: Int64
  /// 0..<1.
  package private(set) var fraction: Double

  /// Position `offset` frames after `frame`. `offset` has either sign, and is below 2^60.
  @_noLocks @_noAllocation
  package init(frame: Int64, offset: Double = 0) {
    let whole = floorOf(offset)
    self.frame = frame + whole
    fraction = offset - Double(whole)
    // A tiny negative offset leaves a fraction that rounds to one.
    if fraction >= 1 {
      self.frame += 1
      fraction = 0
    }
  }

  @_noLocks @_noAllocation
  package func advanced(by frames: Double) -> StreamPosition {
    StreamPosition(frame: frame, offset: fraction + frames)
  }

  /// Returns the distance in frames.
  @_noLocks @_noAllocation
  package static func - (a: StreamPosition, b: StreamPosition) -> Double {
    Double(a.frame - b.frame) + (a.fraction - b.fraction)
  }

  @_noLocks @_noAllocation
  package static func < (a: StreamPosition, b: StreamPosition) -> Bool {
    a.frame == b.frame ? a.fraction < b.fraction : a.frame < b.frame
  }
}

/// Converts between media time and the device's frames: frame `j` sounds at `j` frame durations. Exact at all
/// supported rates.
package struct StreamGrid: Hashable, Sendable {
  package let sampleRate: Int64
  private let flicksPerFrame: Int64

  /// `sampleRate` in Hz, one of `AudioFormat.supportedRates`.
  @_noLocks @_noAllocation
  package init(sampleRate: Int) {
    self.sampleRate = Int64(max(sampleRate, 1))
    flicksPerFrame = MediaDuration(frames: 1, at: max(sampleRate, 1)).flicks
  }

  @_noLocks @_noAllocation
  package func position(of time: MediaTime) -> StreamPosition {
    let parts = time.flicks.quotientAndRemainder(dividingBy: flicksPerFrame)
    return StreamPosition(
      frame: parts.quotient, offset: Double(parts.remainder) / Double(flicksPerFrame))
  }

  /// Returns the media time, rounded down to a flick.
  @_noLocks @_noAllocation
  package func mediaTime(of position: StreamPosition) -> MediaTime {
    MediaTime(
      flicks: position.frame * flicksPerFrame + Int64(position.fraction * Double(flicksPerFrame)))
  }

  /// Returns the first frame at or after `time`.
  @_noLocks @_noAllocation
  package func firstFrame(from time: MediaTime) -> Int64 {
    let position = position(of: time)
    return position.fraction > 0 ? position.frame + 1 : position.frame
  }

  /// Returns the stream position of `anchor` at `time`. Divides first, so that no product overflows.
  @_noLocks @_noAllocation
  package func position(of anchor: Anchor, at time: GroupTime) -> StreamPosition {
    let start = position(of: anchor.mediaTime)
    guard case .playing = anchor.rate else { return start }
    let span = (time - anchor.groupTime).count.quotientAndRemainder(dividingBy: 1_000_000_000)
    return StreamPosition(
      frame: start.frame + span.quotient * sampleRate,
      offset: start.fraction + Double(span.remainder * sampleRate) / 1e9)
  }
}

/// `Double.rounded(.down)` is not accepted on the render thread.
@_noLocks @_noAllocation
func floorOf(_ value: Double) -> Int64 {
  let whole = Int64(value)
  return Double(whole) > value ? whole - 1 : whole
}
