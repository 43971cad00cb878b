import Audio
import Clock
import Testing
import WireProtocol

@testable import Receiver

/// Tests of what a receiver does with clips, up to the commands to its render thread.
@Suite struct ReceiverSessionClipsTests {
  private static let frames = 48_000

  private static var clip: Clip {
    Clip(
      format: TestReceiver.format,
      packets: (0..<50).map { _ in
        EncodedPacket(payload: [UInt8](repeating: 1, count: 1920), frameCount: 960)
      })
  }

  /// A receiver with a session, but with nothing to play.
  private static func connected() -> (TestReceiver, ConnectionID) {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.advance(by: .seconds(3))
    return (receiver, control)
  }

  private static func offer(_ number: UInt32, volume: UInt16? = nil) -> ControlMessage {
    .clip(
      ClipOffer(
        number: number, byteCount: clip.bytes.count, volume: volume, format: clip.format))
  }

  private static func send(
    _ number: UInt32, volume: UInt16? = nil, to receiver: inout TestReceiver, _ id: ConnectionID
  ) {
    let bytes = clip.bytes
    receiver.say(offer(number, volume: volume), on: id)
    for start in stride(from: 0, to: bytes.count, by: ProtocolLimits.clipPiece) {
      let piece = Array(bytes[start..<min(start + ProtocolLimits.clipPiece, bytes.count)])
      receiver.say(.clipPiece(ClipPiece(number: number, offset: start, bytes: piece)), on: id)
    }
    receiver.report(.idle)
    receiver.advance(by: .milliseconds(200))
  }

  private static func states(_ receiver: TestReceiver, _ id: ConnectionID) -> [ClipState] {
    receiver.told(id).compactMap { if case .clipState(let state) = $0 { state } else { nil } }
  }

  private static func clips(_ receiver: TestReceiver) -> [RenderedClip] {
    receiver.commands.compactMap { if case .clip(let clip) = $0 { clip } else { nil } }
  }

  private static func ends(_ receiver: TestReceiver) -> [UInt32] {
    receiver.commands.compactMap { if case .endClip(let number) = $0 { number } else { nil } }
  }

  @Test func `a room with nothing to play opens its device for a clip, and closes it afterwards`() {
    var (receiver, control) = Self.connected()
    #expect(receiver.session.playout.isDeviceClosed)
    Self.send(7, to: &receiver, control)
    #expect(!receiver.session.playout.isDeviceClosed)
    let states = Self.states(receiver, control)
    #expect(states.first?.stage == .taking)
    #expect(states.last == ClipState(number: 7, received: Self.clip.bytes.count, stage: .ready))
    receiver.say(
      .clipTime(ClipTime(number: 7, begins: receiver.groupTime(in: .milliseconds(100)))),
      on: control)
    let clip = Self.clips(receiver).first
    #expect(clip?.begins == receiver.groupTime(in: .milliseconds(100)))
    #expect(clip.map { $0.ends - $0.begins } == .seconds(1))
    receiver.advance(by: .seconds(8))
    #expect(receiver.session.playout.isDeviceClosed)
    #expect(receiver.session.playout.clips.isEmpty)
  }

  private func limited(to limit: UInt16) -> RoomSettings {
    RoomSettings(
      volume: 100, isMuted: false, delay: .zero, channelMap: .stereo,
      volumeLimit: VolumeLimit(limit))
  }

  @Test func `a clip is as loud as was asked for, or as the room, and never inaudible`() {
    for (volume, room, gain) in [
      (500, RoomSettings(volume: 100, isMuted: true, delay: .zero, channelMap: .stereo), 0.171875),
      (nil, RoomSettings(volume: 800, isMuted: false, delay: .zero, channelMap: .stereo), 0.548),
      (nil, RoomSettings(volume: 100, isMuted: true, delay: .zero, channelMap: .stereo), 0.061125),
      (500, limited(to: 200), 0.032), (nil, limited(to: 200), 0.032),
    ] as [(UInt16?, RoomSettings, Float)] {
      var (receiver, control) = Self.connected()
      receiver.say(.settings(room), on: control)
      Self.send(7, volume: volume, to: &receiver, control)
      receiver.say(.clipTime(ClipTime(number: 7, begins: receiver.groupTime())), on: control)
      let clip = Self.clips(receiver).first
      #expect(((clip?.gain ?? 0) - gain).magnitude < 1e-6)
      #expect(((clip?.musicGain ?? 0) - 0.2512).magnitude < 1e-3)
    }
  }

  @Test func `a clip with a time outlives its sender, and one without does not`() {
    var (receiver, control) = Self.connected()
    Self.send(1, to: &receiver, control)
    Self.send(2, to: &receiver, control)
    receiver.say(
      .clipTime(ClipTime(number: 1, begins: receiver.groupTime(in: .milliseconds(100)))),
      on: control)
    receiver.take()
    receiver.handle(.closed(control))
    #expect(Self.ends(receiver) == [2])
    receiver.advance(by: .milliseconds(500))
    #expect(!receiver.session.playout.isDeviceClosed)
    #expect(!receiver.commands.contains { if case .forgetSchedule = $0 { true } else { false } })
    receiver.advance(by: .seconds(8))
    #expect(receiver.session.playout.isDeviceClosed)
  }

  @Test func `a sender that is done, and another one's clock, end a clip`() {
    for ending in [0, 1] {
      var (receiver, control) = Self.connected()
      Self.send(1, to: &receiver, control)
      receiver.say(.clipTime(ClipTime(number: 1, begins: receiver.groupTime())), on: control)
      if ending == 0 {
        receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: control)
      } else {
        _ = receiver.hello(session: 6, clock: 78)
      }
      #expect(Self.ends(receiver) == [1])
      #expect(receiver.session.playout.clips.isEmpty)
    }
  }

  @Test func `a device that is opened anew goes on in the middle of a clip`() {
    var (receiver, control) = Self.connected()
    Self.send(1, to: &receiver, control)
    receiver.say(.clipTime(ClipTime(number: 1, begins: receiver.groupTime())), on: control)
    receiver.advance(by: .milliseconds(300))
    receiver.handle(.deviceLost(reason: "unplugged"))
    receiver.take()
    receiver.open(rate: 44_100)
    #expect(Self.clips(receiver).count == 1)
  }

  @Test func `a fifth clip is refused`() {
    var (receiver, control) = Self.connected()
    for number: UInt32 in 1...5 { receiver.say(Self.offer(number), on: control) }
    #expect(Self.states(receiver, control).filter { $0.stage == .refused }.map(\.number) == [5])
    receiver.advance(by: ProtocolLimits.clipWait + .seconds(6))
    #expect(receiver.session.playout.clips.isEmpty)
  }

  @Test func `what cannot be a clip is refused, and ends no session`() {
    var (receiver, control) = Self.connected()
    receiver.say(
      Self.offer(1), .clipPiece(ClipPiece(number: 1, offset: 5, bytes: [1])),
      .clip(ClipOffer(number: 2, byteCount: 4, volume: nil, format: Self.clip.format)),
      .clipPiece(ClipPiece(number: 2, offset: 0, bytes: [0, 0, 0, 1])), on: control)
    let long = (0..<200).flatMap { _ in [0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0] as [UInt8] }
    receiver.say(
      .clip(ClipOffer(number: 3, byteCount: long.count, volume: nil, format: Self.clip.format)),
      .clipPiece(ClipPiece(number: 3, offset: 0, bytes: long)), on: control)
    #expect(
      Self.states(receiver, control).filter { $0.stage == .refused }.map(\.number) == [1, 2, 3])
    #expect(receiver.farewell(control) == nil)
    Self.send(4, to: &receiver, control)
    receiver.say(
      .clipTime(ClipTime(number: 4, begins: receiver.groupTime(in: .seconds(61)))), on: control)
    #expect(Self.states(receiver, control).last?.stage == .refused)
  }

  @Test func `a room without a sound device says so`() {
    var (receiver, control) = Self.connected()
    receiver.opensDevice = false
    receiver.say(Self.offer(1), on: control)
    receiver.handle(.deviceLost(reason: "there is no card"))
    #expect(Self.states(receiver, control).last?.detail == "there is no card")
  }
}
