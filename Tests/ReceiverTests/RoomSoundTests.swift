import Audio
import Clock
import Testing
import WireProtocol

@testable import Receiver

/// The sound that a room keeps, as senders set it.
@Suite struct RoomSoundTests {
  private static func kept(_ receiver: TestReceiver) -> SoundSetting? {
    receiver.outputs.compactMap {
      if case .persist(let memory) = $0 { memory.settings.sound } else { nil }
    }.last
  }

  private static func sound(_ change: (inout SoundSetting) -> Void) -> SoundSetting {
    var sound = SoundSetting()
    change(&sound)
    return sound
  }

  private static func delays(_ receiver: TestReceiver) -> [Nanoseconds] {
    receiver.commands.compactMap { if case .delay(let delay) = $0 { delay } else { nil } }
  }

  @Test func `a sound is kept, and told to the next sender`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    #expect(receiver.welcome(control)?.settings.sound == .plain)
    let sound = Self.sound { $0.bands = [SoundBand(.peak, frequency: 60, gain: -6, q: 4)] }
    receiver.say(.sound(sound), on: control)
    #expect(Self.kept(receiver) == sound)
    // Other settings leave it alone.
    receiver.say(
      .settings(RoomSettings(volume: 500, isMuted: false, delay: .zero, channelMap: .mono)),
      on: control)
    #expect(Self.kept(receiver) == sound)
    receiver.handle(.closed(control))
    receiver.take()
    let next = receiver.hello(sender: 2, clock: 8)
    #expect(receiver.welcome(next)?.settings.sound == sound)
    #expect(receiver.welcome(next)?.settings.hasFIR == false)
  }

  @Test func `a distance makes the room sound earlier, beside its delay`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.say(
      .settings(
        RoomSettings(volume: 500, isMuted: false, delay: .milliseconds(20), channelMap: .stereo)),
      on: control)
    receiver.say(.sound(Self.sound { $0.distance = 3.43 }), on: control)
    #expect(Self.delays(receiver).last == .milliseconds(10))
    // It stays where the loudspeaker stands, though the sound is off.
    receiver.say(.sound(Self.sound { ($0.distance, $0.isOn) = (3.43, false) }), on: control)
    #expect(Self.delays(receiver).last == .milliseconds(10))
  }

  @Test func `loudness follows the volume in whole dB, and stays while the room is muted`() {
    let setting = Self.sound { $0.hasLoudness = true }
    let loud = RenderedSound(setting, rate: 48_000, gain: 1, usesFIR: false, before: nil)
    let quiet = RenderedSound(setting, rate: 48_000, gain: 0.1, usesFIR: false, before: loud)
    #expect(loud != quiet)
    #expect(
      quiet == RenderedSound(setting, rate: 48_000, gain: 0.0995, usesFIR: false, before: nil))
    #expect(quiet == RenderedSound(setting, rate: 48_000, gain: 0, usesFIR: false, before: quiet))
    let off = Self.sound { ($0.hasLoudness, $0.isOn) = (true, false) }
    #expect(
      RenderedSound(off, rate: 48_000, gain: 1, usesFIR: false, before: nil)
        == RenderedSound(off, rate: 48_000, gain: 0.1, usesFIR: false, before: nil))
  }

  @Test func `a FIR filter is read ahead, and left out where a live stream has no time for it`() {
    func playout() -> Playout {
      Playout(
        capacity: Capacity(bytes: 1 << 20, duration: .seconds(60)),
        makeDecoder: { _ throws(CodecError) in throw .unsupported("none") }, idleTime: .seconds(60))
    }
    var plain = playout()
    var filtered = playout()
    filtered.useFIR(.milliseconds(85))
    let block = Nanoseconds(Int64(Convolver.block) * 1_000_000_000 / 44_100)
    #expect(filtered.commitHorizon == plain.commitHorizon + .milliseconds(85) + block)
    for (latency, isUsed) in [(40, false), (144, false), (145, true), (400, true)]
      as [(Int64, Bool)]
    {
      plain.use(LiveStream(latency: .milliseconds(latency), sampleRate: 48_000, port: 1, key: []))
      #expect(plain.hasTime(forReadingAhead: .milliseconds(85)) == isUsed)
    }
    plain.use(nil)
    #expect(plain.hasTime(forReadingAhead: .seconds(1)))
  }
}
