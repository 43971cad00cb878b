import Audio
import Clock
import Receiver
import TestSupport
import Testing
import WireProtocol

/// Tests of senders that come, speak, and go: the protocol from the receiver's side.
@Suite struct ReceiverSessionTests {
  // MARK: - Greeting

  @Test func `a hello is answered with welcome and status`() throws {
    var receiver = TestReceiver()
    let control = receiver.hello()
    guard case .welcome(let welcome)? = receiver.told(control).first,
      case .status(let status)? = receiver.told(control).dropFirst().first
    else {
      Issue.record("no welcome and status")
      return
    }
    #expect(welcome.version == 2)
    #expect(welcome.name == "Kitchen")
    #expect(welcome.held == nil)
    #expect(status.state == .idle)
    #expect(receiver.outputs.contains { if case .advertise(true) = $0 { true } else { false } })
  }

  @Test func `a hello in pieces is a hello, and what follows it counts`() {
    var receiver = TestReceiver()
    let id = receiver.accept()
    let hello = Hello(
      version: 2, senderID: .counting(from: 1), senderName: "s", session: 5, clockID: 7,
      clockPort: 9)
    let bytes =
      ControlMessage.hello(hello).encoded()
      + ControlMessage.flush(Flush(from: .zero, generation: 3, isRamped: true)).encoded()
    for byte in bytes { receiver.handle(.received(id, [byte])) }
    #expect(receiver.flushes(id).map(\.generation) == [3])

    var atOnce = TestReceiver()
    let other = atOnce.accept()
    atOnce.handle(.received(other, bytes))
    #expect(atOnce.flushes(other).map(\.generation) == [3])
  }

  @Test func `another sender is refused while one plays, with its name`() {
    var receiver = TestReceiver()
    let first = receiver.hello(sender: 1)
    let second = receiver.hello(sender: 2, session: 6, clock: 78)
    #expect(
      receiver.told(second) == [.refuse(Refusal(reason: .busy, detail: "sender 1"))])
    #expect(receiver.closed == [second])
    receiver.handle(.closed(first))
    let third = receiver.hello(sender: 2, session: 7, clock: 78)
    guard case .welcome? = receiver.told(third).first else {
      Issue.record("the room is free")
      return
    }
  }

  @Test func `the same sender takes the place of its earlier session`() {
    var receiver = TestReceiver()
    let control = receiver.hello(session: 5)
    let media = receiver.attach(session: 5)
    receiver.take()
    let again = receiver.hello(session: 6)
    #expect(Set(receiver.closed) == [control, media])
    receiver.handle(.closed(control))
    receiver.handle(.closed(media))
    receiver.take()
    receiver.say(.keepAlive, on: again)
    #expect(receiver.closed.isEmpty)
    let stale = receiver.attach(session: 5)
    #expect(receiver.closed == [stale])
  }

  @Test func `a version that is not spoken is refused as such`() {
    var receiver = TestReceiver()
    let id = receiver.hello(version: 0)
    #expect(
      receiver.told(id) == [.refuse(Refusal(reason: .unsupportedVersion, detail: "2"))])
    let strange = receiver.accept()
    // A hello of version 3 that is too short for version 2.
    receiver.handle(
      .received(strange, [0, 0, 0, 8, 0, 1, 0x54, 0x55, 0x54, 0x49, 0, 3]))
    #expect(
      receiver.told(strange) == [.refuse(Refusal(reason: .unsupportedVersion, detail: "2"))])
    let newer = receiver.hello(version: 9)
    guard case .welcome(let welcome)? = receiver.told(newer).first else {
      Issue.record("a newer sender speaks version 2 as well")
      return
    }
    #expect(welcome.version == 2)
  }

  @Test func `a first message that is none is refused`() {
    let wrong: [[UInt8]] = [
      Array("GET / HTTP/1.1\r\n\r\n".utf8), [0, 0, 0, 2, 0, 5], [0, 0, 0, 0], [0xff, 0, 0, 0],
      [0, 0, 0, 8, 0, 1, 1, 2, 3, 4, 0, 1],
    ]
    for bytes in wrong {
      var receiver = TestReceiver()
      let id = receiver.accept()
      receiver.handle(.received(id, bytes))
      guard case .refuse(let refusal)? = receiver.told(id).first else {
        Issue.record("\(bytes)")
        return
      }
      #expect(refusal.reason == .protocolViolation)
      #expect(receiver.closed == [id])
      receiver.take()
      receiver.handle(.received(id, bytes))
      #expect(receiver.outputs.isEmpty)
    }
  }

  @Test func `a wrong media connection is closed without a word`() {
    var receiver = TestReceiver()
    let early = receiver.accept()
    receiver.stream(.attach(session: 5), on: early)
    #expect(receiver.closed == [early])
    let control = receiver.hello(session: 5)
    let wrong = receiver.accept()
    receiver.stream(.attach(session: 4), on: wrong)
    let strange = receiver.accept()
    receiver.handle(.received(strange, [0, 0, 0, 8, 3, 1, 0x54, 0x55, 0x54, 0x49, 0, 3]))
    #expect(receiver.closed == [early, wrong, strange])
    #expect(receiver.told(wrong).isEmpty)
    #expect(receiver.told(strange).isEmpty)
    #expect(!receiver.closed.contains(control))
  }

  // MARK: - Being alive

  @Test func `a status goes out each second`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.take()
    for _ in 0..<5 {
      receiver.advance(by: .seconds(1))
      receiver.say(.keepAlive, on: control)
    }
    let statuses = receiver.told(control).filter { if case .status = $0 { true } else { false } }
    #expect((5...7).contains(statuses.count))
  }

  @Test func `a silent sender is told goodbye after ten seconds`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.take()
    receiver.advance(by: .milliseconds(9_999))
    #expect(receiver.closed.isEmpty)
    receiver.advance(by: .milliseconds(2))
    #expect(
      receiver.told(control).last == .goodbye(Goodbye(reason: .timeout, detail: "")))
    #expect(receiver.closed == [control])
    receiver.advance(by: .seconds(1))
    #expect(receiver.closed == [control, media])
  }

  @Test func `audio is a sign of life as well`() {
    var receiver = TestReceiver()
    _ = receiver.hello()
    let media = receiver.attach()
    for number in 0..<4 {
      receiver.advance(by: .seconds(6))
      receiver.send(1, from: number, on: media)
    }
    #expect(receiver.closed.isEmpty)
  }

  @Test func `a guest who says nothing leaves after ten seconds`() {
    var receiver = TestReceiver()
    let id = receiver.accept()
    receiver.advance(by: .milliseconds(9_999))
    #expect(receiver.closed.isEmpty)
    receiver.advance(by: .milliseconds(1))
    #expect(receiver.closed == [id])
    #expect(receiver.session.nextDeadline == nil)
  }

  @Test func `a sender that says more than anybody can want is let go`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let settings = ControlMessage.settings(.default)
    for _ in 0..<60 {
      receiver.advance(by: .seconds(1))
      for _ in 0..<ProtocolLimits.controlMessagesPerSecond { receiver.say(settings, on: control) }
    }
    for _ in 0..<ProtocolLimits.controlMessageBurst - 200 { receiver.say(settings, on: control) }
    #expect(receiver.closed.isEmpty)
    receiver.take()
    for _ in 0..<201 { receiver.say(settings, on: control) }
    #expect(receiver.closed == [control])
    #expect(
      receiver.told(control).last
        == .goodbye(
          Goodbye(
            reason: .protocolViolation, detail: "more than 200 control messages a second")))
    let again = receiver.hello(session: 6)
    guard case .welcome? = receiver.told(again).first else {
      Issue.record("the room is free again")
      return
    }
  }

  @Test func `what only a receiver may say ends the session`() {
    var random = SplitMix64(seed: 1)
    for bytes in [
      ControlMessage.flushed(Flushed(generation: 0, from: .zero)).encoded(), [0, 0, 0, 0],
      [0, 0, 0, 3, 0, 2, 1], (0..<64).map { _ in UInt8(random.next() % 256) },
    ] {
      var receiver = TestReceiver()
      let control = receiver.hello()
      receiver.take()
      receiver.handle(.received(control, bytes))
      guard case .goodbye(let goodbye)? = receiver.told(control).last else {
        Issue.record("\(bytes)")
        return
      }
      #expect(goodbye.reason == .protocolViolation)
      #expect(receiver.closed.contains(control))
    }
  }

  @Test func `without a session nobody is woken for nothing`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.advance(by: .seconds(2))
    receiver.handle(.closed(control))
    receiver.advance(by: .seconds(30))
    #expect(receiver.session.nextDeadline == nil)
  }

  // MARK: - The end

  @Test func `finished forgets the stream and remembers the clock`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(10, on: media)
    for _ in 0..<80 {
      receiver.advance(by: .seconds(1))
      receiver.say(.keepAlive, on: control)
    }
    receiver.take()
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: control)
    #expect(Set(receiver.closed) == [control, media])
    #expect(receiver.events.contains(.finished))
    let kept = receiver.outputs.compactMap {
      if case .persist(let memory) = $0 { memory.clockDrifts.map(\.sender) } else { nil }
    }
    #expect(kept.last == [.counting(from: 1)])
    let again = receiver.hello(session: 6)
    guard case .welcome(let welcome)? = receiver.told(again).first else { return }
    #expect(welcome.held == nil)
  }

  @Test func `after another goodbye, or a broken connection, the music is kept`() {
    for farewell in [true, false] {
      var receiver = TestReceiver()
      let control = receiver.hello()
      let media = receiver.attach()
      receiver.send(200, on: media)
      receiver.advance(by: .seconds(1))
      receiver.say(
        .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
        on: control)
      receiver.take()
      if farewell {
        receiver.say(.goodbye(Goodbye(reason: .shutdown, detail: "")), on: control)
      } else {
        receiver.handle(.closed(control))
      }
      #expect(receiver.closed.contains(media))
      receiver.advance(by: .seconds(2))
      receiver.take()
      let again = receiver.hello(session: 6)
      guard case .welcome(let welcome)? = receiver.told(again).first else { return }
      #expect(welcome.held?.generation == 0)
      #expect(welcome.held?.nextSequence == 200)
    }
  }

  @Test func `when all has sounded after the sender left, the stream is forgotten`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(100, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.handle(.closed(control))
    receiver.take()
    receiver.advance(by: .milliseconds(1900))
    #expect(!receiver.events.contains(.finished))
    receiver.advance(by: .milliseconds(300))
    #expect(receiver.events.contains(.finished))
    receiver.advance(by: .seconds(31))
    #expect(receiver.outputs.contains { if case .closeDevice = $0 { true } else { false } })
    #expect(receiver.session.nextDeadline == nil)
  }

  @Test func `a missing device is given up when nothing is left to play`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(100, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.handle(.deviceLost(reason: "unplugged"))
    receiver.handle(.closed(control))
    receiver.take()
    receiver.advance(by: .seconds(31))
    #expect(receiver.outputs.contains { if case .closeDevice = $0 { true } else { false } })
    #expect(receiver.session.nextDeadline == nil)
  }

  // MARK: - Settings

  @Test func `settings are applied, kept and told to the next sender`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.take()
    var settings = RoomSettings(
      volume: 500, isMuted: false, delay: .milliseconds(3), channelMap: .left, volumeLimit: .full)
    settings.sound = .plain
    receiver.say(.settings(settings), on: control)
    let kept = receiver.outputs.compactMap {
      if case .persist(let memory) = $0 { memory.settings } else { nil }
    }
    #expect(kept == [settings])
    #expect(
      receiver.commands.contains { if case .gain(0.171875) = $0 { true } else { false } })
    receiver.handle(.closed(control))
    receiver.take()
    let next = receiver.hello(sender: 2, clock: 8)
    guard case .welcome(let welcome)? = receiver.told(next).first else { return }
    #expect(welcome.settings == settings)
  }

  @Test func `the stream's volume is besides the room's, and goes with the stream`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let settings = RoomSettings(
      volume: 500, isMuted: false, delay: .zero, channelMap: .stereo)
    receiver.say(.settings(settings), on: control)
    receiver.take()
    receiver.say(.streamVolume(StreamVolume(volume: 500, isMuted: false)), on: control)
    func gains(_ receiver: TestReceiver) -> [Float] {
      receiver.commands.compactMap { if case .gain(let gain) = $0 { gain } else { nil } }
    }
    #expect(gains(receiver) == [0.029541016])
    #expect(!receiver.outputs.contains { if case .persist = $0 { true } else { false } })
    receiver.say(.streamVolume(StreamVolume(volume: 500, isMuted: true)), on: control)
    #expect(gains(receiver).last == 0)
    receiver.handle(.closed(control))
    let next = receiver.hello(sender: 2, clock: 8)
    receiver.say(.settings(settings), on: next)
    #expect(gains(receiver).last == 0.171875)
  }
}
