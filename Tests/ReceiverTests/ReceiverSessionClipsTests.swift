import Audio
import Clock
import Foundation
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

  /// The largest sample of a sine at full scale that is played with this gain and sound.
  private static func peak(_ program: SoundProgram, gain: Float, frequency: Double) -> Double {
    var left = (0..<frames).map { frame in
      Double(gain) * sin(2 * .pi * frequency * Double(frame) / Double(frames))
    }
    var (right, state) = (left, SoundState())
    left.withUnsafeMutableBufferPointer { left in
      right.withUnsafeMutableBufferPointer { right in
        state.run(program, left.baseAddress!, right.baseAddress!, frames: left.count)
      }
    }
    return (left + right).map(\.magnitude).max() ?? 0
  }

  private static func sound(_ receiver: TestReceiver) -> SoundProgram? {
    receiver.commands.compactMap { if case .sound(let sound) = $0 { sound } else { nil } }.last
  }

  @Test(arguments: [1000, 950, 700, 300] as [UInt16])
  func `loudness leaves a clip below full scale, and is back after it`(volume: UInt16) throws {
    var (receiver, control) = Self.connected()
    var room = RoomSettings(volume: 100, isMuted: false, delay: .zero, channelMap: .stereo)
    receiver.say(.settings(room), on: control)
    var sound = SoundSetting()
    sound.hasLoudness = true
    receiver.say(.sound(sound), on: control)
    Self.send(7, volume: volume, to: &receiver, control)
    let before = try #require(Self.sound(receiver))
    receiver.say(.clipTime(ClipTime(number: 7, begins: receiver.groupTime())), on: control)
    let clip = try #require(Self.clips(receiver).first)
    // Whoever lowers the music meanwhile gets no more bass for it.
    room.volume = 50
    receiver.say(.settings(room), on: control)
    let during = try #require(Self.sound(receiver))
    for frequency in [30.0, 16_000] {
      #expect(Self.peak(during, gain: clip.gain, frequency: frequency) <= 1, "\(frequency) Hz")
    }
    room.volume = 100
    receiver.say(.settings(room), on: control)
    receiver.advance(by: .seconds(4))
    let after = try #require(Self.sound(receiver))
    #expect(
      Self.peak(after, gain: 0.01, frequency: 30) == Self.peak(before, gain: 0.01, frequency: 30))
    #expect(Self.peak(after, gain: 0.01, frequency: 30) > 0.02)
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
