package import Clock
package import Receiver

/// The source that the output loop plays: the receiver's `Renderer`, or a test's stand-in. All of it is called on the
/// output thread and may neither allocate, lock nor wait.
package protocol RenderSource: ~Copyable {
  /// Takes waiting commands into account. The first frame already rendered that is no longer right.
  mutating func takeCommands(at now: LocalTime) -> DeviceFrame?
  /// The next frame to render is `frame`, which was rendered before.
  mutating func rewind(to frame: DeviceFrame)
  /// At `time`, give or take `uncertainty`, `frame` was about to be heard.
  mutating func observe(_ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds)
  /// The card started anew. No observation made before holds, and the next frame to render is `frame`.
  mutating func deviceRestarted(at frame: DeviceFrame)
  /// Fills `out` with the next `frames`, interleaved stereo, full scale ±1.
  mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int)
  /// The sender's time at this instant; nil while it is not known.
  func groupTime(at time: LocalTime) -> GroupTime?
}

extension Renderer: RenderSource {}
