import Audio
import Clock
import Testing
import WireProtocol

@testable import Receiver

/// A room's own volume limit, which no sender passes.
@Suite struct VolumeLimitTests {
  private static func settings(_ volume: UInt16, limit: UInt16? = nil) -> RoomSettings {
    var settings = RoomSettings(
      volume: volume, isMuted: false, delay: .zero, channelMap: .stereo,
      volumeLimit: limit.map { VolumeLimit($0) })
    settings.sound = .plain
    return settings
  }

  private static func kept(_ receiver: TestReceiver) -> RoomSettings? {
    receiver.outputs.compactMap {
      if case .persist(let memory) = $0 { memory.settings } else { nil }
    }.last
  }

  private static func gain(_ receiver: TestReceiver) -> Float? {
    receiver.commands.compactMap { if case .gain(let gain) = $0 { gain } else { nil } }.last
  }

  @Test func `a limit turns the room down, is kept, and lowers what is asked beyond it`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.say(.settings(Self.settings(900)), on: control)
    #expect(Self.kept(receiver)?.volume == 900)
    receiver.say(.settings(Self.settings(900, limit: 400)), on: control)
    #expect(Self.kept(receiver) == Self.settings(400, limit: 400))
    receiver.say(.settings(Self.settings(1000)), on: control)
    #expect(Self.kept(receiver) == Self.settings(400, limit: 400))
    #expect(Self.gain(receiver) == perceivedGain(volume: 400, isMuted: false))
    receiver.handle(.closed(control))
    receiver.take()
    // Another sender, which knows no limits, does not pass it either.
    let next = receiver.hello(sender: 2, clock: 8)
    #expect(receiver.welcome(next)?.settings == Self.settings(400, limit: 400))
    receiver.say(.settings(Self.settings(1000)), on: next)
    #expect(Self.gain(receiver) == perceivedGain(volume: 400, isMuted: false))
  }

  @Test func `a limit that is raised leaves the volume as it is`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.say(.settings(Self.settings(900, limit: 400)), on: control)
    receiver.say(.settings(Self.settings(400, limit: 1000)), on: control)
    #expect(Self.kept(receiver) == Self.settings(400, limit: 1000))
  }

  @Test func `a limit that is fixed stays, whatever a sender says`() {
    var memory = ReceiverMemory()
    memory.settings.volumeLimit = VolumeLimit(500, isFixed: true)
    var receiver = TestReceiver(memory: memory)
    let control = receiver.hello()
    #expect(receiver.welcome(control)?.settings.volumeLimit == VolumeLimit(500, isFixed: true))
    receiver.say(.settings(Self.settings(900, limit: 1000)), on: control)
    #expect(Self.kept(receiver)?.volume == 500)
    #expect(Self.kept(receiver)?.volumeLimit == VolumeLimit(500, isFixed: true))
  }

  @Test func `memory counts a volume as set only where somebody has changed it`() {
    var memory = ReceiverMemory(settings: Self.settings(300, limit: 1000))
    memory.take(Self.settings(300))
    #expect(!memory.hasVolume)
    memory.take(Self.settings(310))
    #expect(memory.hasVolume)
  }
}
