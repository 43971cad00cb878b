internal import Clock

/// A position in an item, or on the timeline of a `RenderSynchronizer`. It counts flicks of 1/705 600 000 s, so that
/// every frame of every common sample rate is a whole number of them. The range is ±12 years, so that sums of a few do
/// not overflow.
public struct PlaybackTime: Hashable, Comparable, Sendable {
  public let flicks: Int64

  /// - Parameter flicks: limited to ±2^58.
  public init(flicks: Int64) { self.flicks = Swift.min(Swift.max(flicks, -Self.limit), Self.limit) }

  /// The time of a frame.
  ///
  /// - Parameters:
  ///   - frame: its number, from 0.
  ///   - sampleRate: in Hz, at least 1; exact if it divides 705 600 000, as all rates of `PCMFormat` do.
  public init(frame: Int64, at sampleRate: Int) {
    let (flicks, overflow) = frame.multipliedReportingOverflow(
      by: Self.perSecond / Int64(Swift.max(1, sampleRate)))
    self.init(flicks: overflow ? (frame < 0 ? -Self.limit : Self.limit) : flicks)
  }

  /// Returns the time of a number of frames, from 0: `start + .frames(1024, at: 44_100)`.
  public static func frames(_ count: Int, at sampleRate: Int) -> PlaybackTime {
    PlaybackTime(frame: Int64(count), at: sampleRate)
  }

  /// Returns the nearest time within the range; zero for NaN.
  public static func seconds(_ seconds: Double) -> PlaybackTime {
    guard !seconds.isNaN else { return .zero }
    let flicks = (seconds * Double(perSecond)).rounded()
    return PlaybackTime(flicks: Int64(exactly: flicks) ?? (flicks < 0 ? -limit : limit))
  }

  public static let zero = PlaybackTime(flicks: 0)

  public var seconds: Double { Double(flicks) / Double(Self.perSecond) }

  /// Returns the number of the nearest frame.
  ///
  /// - Parameter sampleRate: in Hz, at least 1.
  public func frame(at sampleRate: Int) -> Int64 {
    let frame = Self.perSecond / Int64(Swift.max(1, sampleRate))
    return (flicks >= 0 ? flicks + frame / 2 : flicks - frame / 2) / frame
  }

  public static func < (a: PlaybackTime, b: PlaybackTime) -> Bool { a.flicks < b.flicks }
  public static func + (a: PlaybackTime, b: Duration) -> PlaybackTime {
    PlaybackTime(flicks: a.flicks &+ b.flicks)
  }
  public static func - (a: PlaybackTime, b: Duration) -> PlaybackTime {
    PlaybackTime(flicks: a.flicks &- b.flicks)
  }
  /// The sum of two times, such as the start of an item on a timeline and a position in it. Exact to the frame.
  @_disfavoredOverload
  public static func + (a: PlaybackTime, b: PlaybackTime) -> PlaybackTime {
    PlaybackTime(flicks: a.flicks &+ b.flicks)
  }
  public static func += (a: inout PlaybackTime, b: Duration) { a = a + b }
  public static func -= (a: inout PlaybackTime, b: Duration) { a = a - b }
  @_disfavoredOverload
  public static func - (a: PlaybackTime, b: PlaybackTime) -> Duration {
    Duration(flicks: a.flicks &- b.flicks)
  }

  private static let perSecond = MediaDuration.flicksPerSecond
  private static let limit: Int64 = 1 << 58

  init(_ span: MediaDuration) { self.init(flicks: span.flicks) }
  var span: MediaDuration { MediaDuration(flicks: flicks) }
}

extension Duration {
  /// The nearest number of flicks, limited to half the range of an `Int64`.
  var flicks: Int64 {
    let (seconds, attoseconds) = components
    guard abs(seconds) < 6_000_000_000 else { return seconds < 0 ? .min / 2 : .max / 2 }
    let rest = (Double(attoseconds) * 1e-18 * Double(MediaDuration.flicksPerSecond)).rounded()
    return seconds * MediaDuration.flicksPerSecond + Int64(rest)
  }

  init(flicks: Int64) {
    let (seconds, rest) = flicks.quotientAndRemainder(dividingBy: MediaDuration.flicksPerSecond)
    let attoseconds = Double(rest) / Double(MediaDuration.flicksPerSecond) * 1e18
    self.init(secondsComponent: seconds, attosecondsComponent: Int64(attoseconds.rounded()))
  }

  init(_ span: MediaDuration) { self.init(flicks: span.flicks) }
  init(_ span: Nanoseconds) { self = .nanoseconds(span.count) }
}
