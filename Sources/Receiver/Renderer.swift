package import Clock

/// Fills the sound card's buffer. Render thread only.
package struct Renderer: ~Copyable {
  private var next: Int64 = 0
  private let framesPerTurn: Int64

  package init(sampleRate: Int) { framesPerTurn = Int64(sampleRate / 100) }

  /// Takes the waiting commands into account. The first frame already rendered that is no longer right.
  @_noLocks @_noAllocation
  package mutating func takeCommands(at now: LocalTime) -> DeviceFrame? { nil }

  /// What follows is rendered again from `frame` on.
  @_noLocks @_noAllocation
  package mutating func rewind(to frame: DeviceFrame) { next = frame.index }

  /// At `time`, give or take `uncertainty`, the card was at `frame`.
  @_noLocks @_noAllocation
  package mutating func observe(
    _ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds
  ) {}

  /// The card started anew: no observation made before holds, and the next frame rendered is `frame`.
  @_noLocks @_noAllocation
  package mutating func deviceRestarted(at frame: DeviceFrame) { next = frame.index }

  /// Fills `out`, interleaved stereo, full scale ±1, with what sounds next.
  @_noLocks @_noAllocation
  package mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int) {
    for i in 0..<frames {
      let level = Float((next + Int64(i)) % framesPerTurn) / Float(framesPerTurn) - 0.5
      unsafe out[2 * i] = level
      unsafe out[2 * i + 1] = level
    }
    next += Int64(frames)
  }
}
