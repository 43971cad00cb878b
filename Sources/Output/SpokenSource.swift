package import Clock
import Receiver

/// Plays one mono sound at its own pace, then silence: for what a receiver says itself. It follows no clock.
package struct SpokenSource: RenderSource, ~Copyable {
  private let sound: UnsafeMutablePointer<Float>
  private let count: Int
  /// Frames of the sound for each frame of the device.
  private let step: Double
  private let gain: Float
  /// The device's frame at which the sound begins, and the next one to render.
  private var first: Int64 = 0
  private var next: Int64 = 0

  /// - Parameters:
  ///   - sound: full scale ±1, at `soundRate` Hz.
  ///   - gain: 0...1.
  ///   - sampleRate: the device's, in Hz.
  package init(_ sound: [Float], soundRate: Int, gain: Float, sampleRate: Int) {
    count = sound.count
    self.sound = .allocate(capacity: max(1, count))
    self.sound.initialize(from: sound, count: count)
    step = Double(soundRate) / Double(sampleRate)
    self.gain = gain
  }

  deinit { sound.deallocate() }

  package mutating func takeCommands(at now: LocalTime) -> DeviceFrame? { nil }

  package mutating func rewind(to frame: DeviceFrame) { next = frame.index }

  package mutating func observe(
    _ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds
  ) {}

  /// Begins anew: half a PIN is of no use.
  package mutating func deviceRestarted(at frame: DeviceFrame) {
    (first, next) = (frame.index, frame.index)
  }

  package mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int) {
    for index in 0..<frames {
      let sample = sample(at: Double(next - first) * step)
      out[2 * index] = sample
      out[2 * index + 1] = sample
      next += 1
    }
  }

  package func groupTime(at time: LocalTime) -> GroupTime? { nil }

  /// Interpolates on a line, which is enough for a voice.
  private func sample(at position: Double) -> Float {
    guard position >= 0, position < Double(count - 1) else { return 0 }
    let index = Int(position)
    let share = Float(position - Double(index))
    return gain * (sound[index] + share * (sound[index + 1] - sound[index]))
  }
}
