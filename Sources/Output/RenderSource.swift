package import Clock
package import Receiver

/// The source that the output loop plays: the receiver's `Renderer`, or a test's stand-in. All of it is called on the
/// output thread and may neither allocate, lock nor wait.
package protocol RenderSource: ~Copyable {
  /// Carries out waiting commands. Returns the first rendered frame that they have made wrong, or nil.
  mutating func takeCommands(at now: LocalTime) -> DeviceFrame?
  /// Goes back: the next frame to render is `frame`, which was rendered before.
  mutating func rewind(to frame: DeviceFrame)
  /// Reports that `frame` was about to be heard at `time`, give or take `uncertainty`.
  mutating func observe(_ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds)
  /// Reports that the card was started again. Earlier observations are void, and the next frame to render is `frame`.
  mutating func deviceRestarted(at frame: DeviceFrame)
  /// Fills `out` with the next `frames`, interleaved stereo, full scale ±1.
  mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int)
  /// The sender's time at this instant; nil while it is not known.
  func groupTime(at time: LocalTime) -> GroupTime?
}

extension Renderer: RenderSource {}
