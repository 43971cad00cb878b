import Clock
import Dispatch
import LinuxIO
import Output
import Pairing
import Synchronization
import Testing

@testable import ReceiverDriver

/// Tests of the voice that says a PIN.
@Suite struct SpokenPINTests {
  /// Keeps what it hears, and tells when that is enough.
  private final class Ear: FrameSink, Sendable {
    let heard = Mutex<[Float]>([])
    let isEnough = DispatchSemaphore(value: 0)
    private let wanted: Int

    init(frames: Int) { wanted = frames }

    func take(_ frames: SoundingFrames) {
      heard.withLock { heard in
        let before = heard.count
        for index in stride(from: 0, to: frames.samples.count, by: 2) {
          // Silence before the voice does not count.
          if !heard.isEmpty || frames.samples[index] != 0 { heard.append(frames.samples[index]) }
        }
        if before < wanted, heard.count >= wanted { isEnough.signal() }
      }
    }

    func finish() {}
  }

  private static let pin = PIN(random: 76_543_210)

  /// Returns the loudest sample of each tenth of a second.
  private static func levels(_ sound: [Float]) -> [Float] {
    stride(from: 0, to: sound.count, by: 4800).map { start in
      sound[start..<min(start + 4800, sound.count)].map(abs).max() ?? 0
    }
  }

  @Test func `each digit has a sound of its own, and all is said twice`() throws {
    let spoken = try SpokenPIN(Self.pin)
    let half = spoken.sound.count / 2
    #expect(Array(spoken.sound.prefix(half)) == Array(spoken.sound.suffix(half)))
    #expect((8...12).contains(spoken.length.seconds / 2))
    let (other, same) = (try SpokenPIN(PIN("0000 0000")), try SpokenPIN(Self.pin))
    #expect(other.sound != spoken.sound)
    #expect(same.sound == spoken.sound)
    let levels = Self.levels(spoken.sound)
    #expect(levels.max() ?? 0 > 0.3)
    #expect(spoken.sound.allSatisfy { abs($0) < 1 })
    #expect(levels.count { $0 > 0.05 } > levels.count / 2)
  }

  @Test func `what is heard is the PIN, as loud as it was asked for`() throws {
    let ear = Ear(frames: 48_000)
    let output = SoundOutput(.sink(SinkChoice(name: "ear") { _ in ear }), storedDrift: nil) {}
    output.say({ Self.pin }, gain: 0.25, at: HostClock.now)
    ear.isEnough.wait()
    output.end()
    let heard = ear.heard.withLock { $0 }
    let sound = try SpokenPIN(Self.pin).sound
    let begin = try #require(sound.firstIndex { $0 * 0.25 != 0 })
    #expect(heard.prefix(48_000).elementsEqual(sound[begin..<begin + 48_000].map { 0.25 * $0 }))
  }

  @Test func `without a PIN it says so, and releases the device`() {
    let woken = DispatchSemaphore(value: 0)
    let output = SoundOutput(.sink(.nowhere), storedDrift: nil) { woken.signal() }
    output.say({ nil }, gain: 1, at: HostClock.now)
    woken.wait()
    #expect(output.takeVoiceTrouble(at: HostClock.now) == "there is no PIN")
    #expect(output.deadline == nil)
  }
}
