import Audio
import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// Tests of what a receiver does not say: that it lacks audio, in a gap that a command explains;
/// and its PIN, while somebody may be listening. A needless warning makes people look for a fault,
/// and a gap that is hidden without need leaves them in the dark.
@Suite struct ReceiverSessionGapsTests {
  /// A room that plays with these settings. It gets no more packets, and closes its device after
  /// five seconds, so each test must be shorter.
  private static func playing(
    _ settings: RoomSettings
  ) -> (receiver: TestReceiver, control: ConnectionID) {
    var receiver = TestReceiver(memory: ReceiverMemory(settings: settings))
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(50, on: media)
    receiver.report(.playing)
    receiver.take()
    return (receiver, control)
  }

  private static func settings(delay milliseconds: Int64, distance: Double = 0) -> RoomSettings {
    var settings = RoomSettings.default
    settings.delay = .milliseconds(milliseconds)
    settings.sound = sound(distance: distance)
    return settings
  }

  private static func sound(distance: Double) -> SoundSetting {
    var sound = SoundSetting()
    sound.distance = distance
    return sound
  }

  /// Returns how long the room hides a lack of audio that begins now, in steps of 10 ms; nil if it
  /// does so for four seconds.
  private static func timeHidden(_ receiver: inout TestReceiver) -> Nanoseconds? {
    let start = receiver.now
    receiver.report(.starved, starvations: 1)
    while !receiver.events.contains(.starved) {
      guard receiver.now - start < .seconds(4) else { return nil }
      receiver.advance(by: .milliseconds(10))
    }
    return receiver.now - start
  }

  // MARK: - Gaps

  /// Both delays are equally large, so that either may count beside the change.
  @Test(arguments: [(-250, 250), (250, -250)] as [(Int64, Int64)])
  func `a changed delay explains a gap of a second, the delay and the change`(
    before: Int64, after: Int64
  ) {
    var (receiver, control) = Self.playing(Self.settings(delay: before))
    receiver.say(.settings(Self.settings(delay: after)), on: control)
    let hidden = Self.timeHidden(&receiver)
    #expect(hidden == .milliseconds(1000 + 250 + 500))
  }

  @Test func `settings that leave the delay as it is hide no gap`() {
    var settings = Self.settings(delay: 250)
    var (receiver, control) = Self.playing(settings)
    receiver.say(.settings(settings), on: control)
    settings.volume = 300
    receiver.say(.settings(settings), on: control)
    let hidden = Self.timeHidden(&receiver)
    #expect(hidden == .zero)
  }

  /// At 343 m/s, 27.44 m take 80 ms: they turn a delay of 40 ms into one of -40 ms.
  @Test(arguments: [(0, 27.44), (27.44, 0)] as [(Double, Double)])
  func `a changed distance explains a gap as a changed delay does`(before: Double, after: Double) {
    var (receiver, control) = Self.playing(Self.settings(delay: 40, distance: before))
    receiver.say(.sound(Self.sound(distance: after)), on: control)
    let hidden = Self.timeHidden(&receiver)
    #expect(hidden == .milliseconds(1000 + 40 + 80))
  }

  @Test func `a sound that leaves the distance as it is hides no gap`() {
    var (receiver, control) = Self.playing(Self.settings(delay: 40, distance: 3.43))
    var sound = Self.sound(distance: 3.43)
    receiver.say(.sound(sound), on: control)
    sound.bass = 3
    receiver.say(.sound(sound), on: control)
    let hidden = Self.timeHidden(&receiver)
    #expect(hidden == .zero)
  }

  @Test(arguments: [-1500, 1500] as [Int64])
  func `a start explains a gap of a second and the delay`(delay: Int64) {
    var (receiver, control) = Self.playing(Self.settings(delay: delay))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    let hidden = Self.timeHidden(&receiver)
    #expect(hidden == .milliseconds(1000 + 1500))
  }

  @Test func `a device that runs dry is told of each time, and once`() {
    var (receiver, _) = Self.playing(.default)
    var report = RenderReport()
    report.activity = .playing
    for underruns: UInt32 in [0, 2, 2, 3] {
      report.underruns = underruns
      receiver.handle(.rendered(report))
    }
    let totals = receiver.events.compactMap {
      if case .underrun(let total) = $0 { total } else { nil }
    }
    #expect(totals == [2, 3])
  }

  // MARK: - The PIN

  /// A receiver that nobody is paired with, and that plays for everybody.
  private static func stranger() throws -> TestReceiver {
    TestReceiver(
      access: .open,
      trust: TrustMemory(
        verifier: try FakeArithmetic().verifierRecord(
          pin: PIN(random: 1).digits, salt: Array(repeating: 7, count: 16))))
  }

  /// Asks to hear the PIN, by a new sender. Returns true if it is said.
  private static func hearsPIN(_ receiver: inout TestReceiver) -> Bool {
    let id = receiver.accept(sender: 7)
    receiver.handle(.received(id, PairingMessage.sayPIN.encoded()))
    return receiver.takePairing(id) == [.sayingPIN]
  }

  /// A device that is still open may have frames to play, which the PIN would disturb.
  @Test func `no PIN is said in a session, nor until the device is closed after it`() throws {
    var receiver = try Self.stranger()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(50, on: media)
    let inSession = Self.hearsPIN(&receiver)
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: control)
    #expect(receiver.events.contains(.finished))
    #expect(!receiver.session.playout.isDeviceClosed)
    let afterwards = Self.hearsPIN(&receiver)
    #expect(!inSession && !afterwards)
    #expect(receiver.speeches.isEmpty)
    receiver.advance(by: .seconds(6))
    #expect(receiver.session.playout.isDeviceClosed)
    let atLast = Self.hearsPIN(&receiver)
    #expect(atLast)
    #expect(receiver.speeches.count == 1)
  }

  /// The device closes in a pause, but the sender that comes back goes on at once.
  @Test func `no PIN is said while a paused stream is kept for its sender`() throws {
    var receiver = try Self.stranger()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .paused)),
      on: control)
    receiver.handle(.closed(control))
    receiver.advance(by: .seconds(10))
    #expect(receiver.session.playout.isDeviceClosed)
    #expect(!receiver.events.contains(.finished))
    let isSaid = Self.hearsPIN(&receiver)
    #expect(!isSaid)
    #expect(receiver.speeches.isEmpty)
  }
}
