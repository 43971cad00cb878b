import Audio
import Clock
import Foundation
import Sender
import Simulation
import TestSupport
import Testing

@Suite struct LevelGateTests {
  private static let format = AudioFormat(sampleRate: 8_000, channelCount: 2)

  /// White noise with a level of this many dBFS.
  private static func noise(_ level: Double, seconds: Double, seed: UInt64 = 1) -> [Float] {
    var random = SplitMix64(seed: seed)
    let deviation = pow(10, level / 20)
    return (0..<Int(seconds * 16_000)).map { _ in Float(random.normal(deviation: deviation)) }
  }

  private static func sine(_ hertz: Double, level: Double, seconds: Double) -> [Float] {
    let peak = pow(10, level / 20) * 2.0.squareRoot()
    return (0..<Int(seconds * 8_000)).flatMap { frame in
      let sample = Float(peak * sin(2 * Double.pi * hertz * Double(frame) / 8_000))
      return [sample, sample]
    }
  }

  @Test func `the level is that of the sound`() {
    for level in [-80.0, -20, -3] {
      var gate = LevelGate(format: Self.format)
      _ = gate.take(Self.sine(1000, level: level, seconds: 1))
      #expect(abs(gate.level - level) < 0.1)
    }
    var gate = LevelGate(format: Self.format)
    _ = gate.take([Float](repeating: 0, count: 16_000))
    #expect(gate.level == LevelGate.silence)
  }

  @Test func `noise keeps it closed, and a record opens it within 300 ms`() {
    var gate = LevelGate(format: Self.format)
    #expect(gate.take(Self.noise(-62, seconds: 60)) == nil)
    let floor = gate.floor ?? 0
    #expect(abs(floor + 62) < 1)
    #expect(gate.take(Self.noise(-40, seconds: 0.3)) == .opened)
    #expect(gate.isOpen)
  }

  @Test func `a noisy input needs more to open, and a record that plays already opens it`() {
    var gate = LevelGate(.init(hold: .seconds(1)), format: Self.format)
    #expect(gate.take(Self.noise(-45, seconds: 60)) == nil)
    #expect(gate.take(Self.noise(-37, seconds: 5)) == nil)
    #expect(gate.take(Self.noise(-33, seconds: 1)) == .opened)
    var other = LevelGate(format: Self.format)
    #expect(other.take(Self.noise(-20, seconds: 0.5)) == .opened)
  }

  @Test func `it closes 6 dB lower than it opens`() {
    var gate = LevelGate(.init(hold: .seconds(1)), format: Self.format)
    #expect(gate.take(Self.noise(-60, seconds: 60)) == nil)
    #expect(gate.take(Self.noise(-53, seconds: 1)) == nil)
    #expect(gate.take(Self.noise(-48, seconds: 1)) == .opened)
    #expect(gate.take(Self.noise(-54, seconds: 3)) == nil)
    #expect(gate.take(Self.noise(-58, seconds: 1.3)) == .closed)
  }

  @Test func `rumble and an offset are no music`() {
    var gate = LevelGate(format: Self.format)
    #expect(gate.take(Self.noise(-80, seconds: 10)) == nil)
    let rumble = Self.sine(5, level: -35, seconds: 5).map { $0 + 0.01 }
    #expect(gate.take(rumble) == nil)
    #expect(gate.take(Self.sine(200, level: -35, seconds: 0.5)) == .opened)
  }

  @Test func `a click does not open it`() {
    var gate = LevelGate(format: Self.format)
    #expect(gate.take(Self.noise(-70, seconds: 10)) == nil)
    #expect(gate.take(Self.noise(-10, seconds: 0.1)) == nil)
    #expect(gate.take(Self.noise(-70, seconds: 10)) == nil)
  }

  @Test func `it closes after 30 s of quiet, which music in between begins anew`() {
    var gate = LevelGate(format: Self.format)
    #expect(gate.take(Self.noise(-70, seconds: 10)) == nil)
    #expect(gate.take(Self.noise(-20, seconds: 10)) == .opened)
    #expect(gate.take(Self.noise(-70, seconds: 29)) == nil)
    #expect(gate.take(Self.noise(-20, seconds: 1)) == nil)
    #expect(gate.take(Self.noise(-70, seconds: 29.5)) == nil)
    #expect(gate.take(Self.noise(-70, seconds: 1)) == .closed)
    #expect(gate.take(Self.noise(-20, seconds: 1)) == .opened)
  }

  @Test func `levels of no more than a minute are kept`() {
    var gate = LevelGate(format: Self.format)
    _ = gate.take(Self.noise(-70, seconds: 150))
    #expect(gate.rememberedWindows == LevelGate.floorWindows)
  }
}
