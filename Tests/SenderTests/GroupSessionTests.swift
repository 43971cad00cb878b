import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of rooms that come, speak, and go: the protocol from the sender's side.
@Suite struct GroupSessionTests {
  // MARK: - Greeting

  @Test func `a room is dialled at once and greeted when it answers`() throws {
    var group = TestGroup()
    #expect(group.take().first == .connect(TestGroup.room, .control))
    group.handle(.connected(TestGroup.room, .control))
    guard case .hello(let hello) = try #require(group.told().first) else {
      Issue.record("no hello")
      return
    }
    #expect(hello.clockID == 77)
    #expect(hello.clockPort == 46_000)
    #expect(hello.senderName == "study")
  }

  @Test func `the media connection follows the welcome, with the same session`() throws {
    var group = TestGroup()
    group.greet()
    #expect(group.outputs.contains(.connect(TestGroup.room, .media)))
    #expect(group.events.changes(of: TestGroup.room).contains(.connected))
    group.handle(.connected(TestGroup.room, .media))
    guard case .hello(let hello)? = group.told().first else { return }
    #expect(group.streamed() == [.attach(session: hello.session)])
  }

  @Test func `each hello has a session of its own`() {
    var group = TestGroup(rooms: 2)
    group.greet(TestGroup.room)
    group.greet(TestGroup.other)
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .seconds(1))
    group.handle(.connected(TestGroup.room, .control))
    let hellos = (group.told(TestGroup.room) + group.told(TestGroup.other)).compactMap {
      if case .hello(let hello) = $0 { hello.session } else { nil }
    }
    #expect(Set(hellos).count == 3)
  }

  @Test func `a welcome in pieces is a welcome`() {
    var group = TestGroup()
    group.handle(.connected(TestGroup.room, .control))
    for byte in ControlMessage.welcome(.test()).encoded() {
      #expect(!group.outputs.contains(.connect(TestGroup.room, .media)))
      group.handle(.received(TestGroup.room, .control, [byte]))
    }
    #expect(group.outputs.contains(.connect(TestGroup.room, .media)))
  }

  @Test func `a busy room is asked again later, and says who plays there`() {
    var group = TestGroup()
    group.handle(.connected(TestGroup.room, .control))
    group.say(.refuse(Refusal(reason: .busy, detail: "attic")))
    #expect(group.outputs.contains(.close(TestGroup.room, .control)))
    #expect(
      group.events.changes(of: TestGroup.room) == [.refused(reason: "busy: attic is playing there")]
    )
    group.take()
    group.advance(by: .milliseconds(4900))
    #expect(!group.outputs.contains(.connect(TestGroup.room, .control)))
    group.advance(by: .milliseconds(200))
    #expect(group.outputs.contains(.connect(TestGroup.room, .control)))
  }

  @Test func `a refusal after the welcome breaks both connections`() {
    var group = TestGroup()
    group.join()
    group.take()
    group.say(.refuse(Refusal(reason: .busy, detail: "attic")))
    #expect(group.outputs.contains(.close(TestGroup.room, .media)))
    #expect(group.outputs.contains(.close(TestGroup.room, .control)))
  }

  @Test func `another receiver at the room's address is left alone`() {
    var group = TestGroup(rooms: 0)
    group.handle(.roomAdded(TestGroup.room, name: "k", receiverID: .counting(from: 1)))
    group.greet()
    #expect(!group.outputs.contains(.connect(TestGroup.room, .media)))
    #expect(group.outputs.contains(.close(TestGroup.room, .control)))
  }

  @Test func `a welcome in a version that nobody asked for ends with a goodbye`() {
    var group = TestGroup()
    var welcome = Welcome.test()
    welcome.version = 3
    group.greet(with: welcome)
    #expect(!group.outputs.contains(.connect(TestGroup.room, .media)))
    let goodbyes = group.told().compactMap {
      if case .goodbye(let goodbye) = $0 { goodbye.reason } else { nil }
    }
    #expect(goodbyes == [.protocolViolation])
  }

  // MARK: - Being alive

  @Test func `a silent connection attempt is given up after ten seconds`() {
    var group = TestGroup()
    group.take()
    group.advance(by: .seconds(11))
    #expect(group.outputs.contains(.close(TestGroup.room, .control)))
    #expect(group.outputs.contains(.connect(TestGroup.room, .control)))
  }

  @Test func `something is said every two seconds`() {
    var group = TestGroup()
    group.join()
    group.take()
    for _ in 0..<3 {
      group.advance(by: .milliseconds(2001))
      #expect(group.told().contains(.keepAlive))
      group.take()
      group.say(.status(.test(.idle)))
    }
  }

  @Test func `a silent room is told goodbye after ten seconds and dialled again`() {
    var group = TestGroup()
    group.join()
    group.take()
    group.advance(by: .milliseconds(10_001))
    #expect(group.told().contains(.goodbye(Goodbye(reason: .timeout, detail: ""))))
    #expect(group.outputs.contains(.close(TestGroup.room, .media)))
    group.advance(by: .seconds(1))
    #expect(group.outputs.contains(.connect(TestGroup.room, .control)))
  }

  @Test func `whatever a room may not say ends its session`() {
    let wrong: [[UInt8]] = [
      ControlMessage.keepAlive.encoded(), [0, 0, 0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff],
      [0, 0, 0, 3, 1, 6, 99],
    ]
    for bytes in wrong {
      var group = TestGroup()
      group.join()
      group.handle(.received(TestGroup.room, .control, bytes))
      #expect(group.outputs.contains(.close(TestGroup.room, .control)), "\(bytes)")
    }
    var group = TestGroup()
    group.join()
    group.handle(.received(TestGroup.room, .media, [1]))
    #expect(group.outputs.contains(.close(TestGroup.room, .media)))
  }

  @Test func `unknown messages are passed over`() {
    var group = TestGroup()
    group.join()
    group.handle(.received(TestGroup.room, .control, [0, 0, 0, 3, 0x7f, 1, 99]))
    #expect(!group.outputs.contains(.close(TestGroup.room, .control)))
  }

  @Test func `a room that says goodbye is dialled again`() {
    var group = TestGroup()
    group.join()
    group.say(.goodbye(Goodbye(reason: .shutdown, detail: "update")))
    #expect(group.events.changes(of: TestGroup.room).contains(.gone(reason: "update")))
    group.take()
    group.advance(by: .seconds(1))
    #expect(group.outputs.contains(.connect(TestGroup.room, .control)))
  }

  @Test func `a room that discovery sees is dialled without waiting`() {
    var group = TestGroup()
    for _ in 0..<8 {
      group.handle(.closed(TestGroup.room, .control, reason: "refused"))
      group.advance(by: .seconds(6))
    }
    group.handle(.closed(TestGroup.room, .control, reason: "refused"))
    group.take()
    group.handle(.roomSeen(TestGroup.room))
    #expect(group.outputs.contains(.connect(TestGroup.room, .control)))
  }

  @Test func `a room that welcomes and breaks at once is dialled less and less often`() {
    var group = TestGroup()
    var attempts = 0
    for _ in 0..<100 {
      group.take()
      group.advance(by: .milliseconds(300))
      guard group.outputs.contains(.connect(TestGroup.room, .control)) else { continue }
      attempts += 1
      group.greet()
      group.handle(.closed(TestGroup.room, .media, reason: "no route"))
    }
    #expect(attempts <= 20, "\(attempts) attempts in half a minute")
  }

  @Test func `a lost media connection renews both`() {
    var group = TestGroup()
    group.join()
    group.take()
    group.handle(.closed(TestGroup.room, .media, reason: "reset"))
    #expect(group.outputs.contains(.close(TestGroup.room, .control)))
    #expect(group.events.changes(of: TestGroup.room).contains(.gone(reason: "reset")))
  }

  // MARK: - Coming back

  @Test func `a room that still holds audio goes on behind it`() throws {
    var group = TestGroup.playing()
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .seconds(1))
    group.take()
    group.join(with: .test(held: HeldStream(generation: 0, nextSequence: 250, from: .zero)))
    #expect(group.packets().first?.sequence == 250)
    guard case .format? = group.streamed().dropFirst().first else {
      Issue.record("formats are sent again")
      return
    }
    #expect(group.anchors.count == 1)
  }

  @Test func `a room that holds nothing begins a little before what sounds`() throws {
    var group = TestGroup.playing()
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    group.advance(by: .seconds(3))
    group.take()
    let playhead = group.session.status(at: group.now).position
    group.join()
    let first = try #require(group.packets().first)
    let lead = playhead - (first.mediaTime - .zero)
    #expect(lead >= .milliseconds(100))
    #expect(lead <= .milliseconds(120))
  }

  @Test func `flushes that a room missed are repeated in their order`() {
    var group = TestGroup.playing()
    group.handle(.closed(TestGroup.room, .control, reason: "cut"))
    for place in 1...3 {
      group.command(.seek(to: .seconds(Int64(place))))
      group.advance(by: .milliseconds(300))
    }
    group.take()
    group.join(with: .test(held: HeldStream(generation: 1, nextSequence: 0, from: .zero)))
    #expect(group.flushes.map(\.generation) == [2, 3])
    let kinds = group.told().dropFirst().prefix(3)
    guard case .anchor? = kinds.last else {
      Issue.record("anchors come after flushes")
      return
    }
  }

  @Test func `what a room lost of its own accord is sent again from there`() {
    var group = TestGroup.playing()
    group.say(.flushedAutomatically(Flushed(generation: 0, from: .zero + .seconds(2))))
    #expect(group.packets().first?.sequence == 100)
  }

  @Test func `a loss that a flush has crossed is made good up to the flush`() throws {
    var group = TestGroup.playing()
    group.command(.seek(to: .seconds(5)))
    let cut = try #require(group.flushes.last).from
    group.take()
    group.say(.flushedAutomatically(Flushed(generation: 0, from: .zero)))
    let again = group.packets().filter { $0.generation == 0 }
    #expect(!again.isEmpty)
    #expect(again.allSatisfy { $0.mediaTime < cut })
  }

  // MARK: - Settings

  @Test func `settings reach the rooms they are meant for, within their ranges`() {
    var group = TestGroup(rooms: 2)
    group.join(TestGroup.room)
    group.join(TestGroup.other)
    group.take()
    group.command(.volume(.room(TestGroup.other), 5000))
    #expect(group.told(TestGroup.room).isEmpty)
    guard case .settings(let settings)? = group.told(TestGroup.other).last else {
      Issue.record("no settings")
      return
    }
    #expect(settings.volume == 1000)
    group.take()
    group.command(.volumeBy(.all, -700))
    group.command(.delay(.all, .seconds(100)))
    group.command(.mute(.all, true))
    group.command(.channelMap(.all, .left))
    guard case .settings(let last)? = group.told(TestGroup.room).last else { return }
    #expect(
      last
        == RoomSettings(volume: 0, isMuted: true, delay: .seconds(2), channelMap: .left))
  }

  // MARK: - Numbers from outside

  @Test func `no number in a status, credit or welcome stops the sender`() {
    var group = TestGroup()
    group.joinReady(
      with: .test(
        held: HeldStream(
          generation: 1 << 31 - 1, nextSequence: 1 << 60, from: MediaTime(flicks: 1 << 60)),
        bytes: 1 << 60,
        span: MediaDuration(flicks: 1 << 60)))
    group.say(.status(.test(.ready, roundTrip: Nanoseconds(1 << 60), horizon: .seconds(10))))
    group.say(.credit(.test(limit: 1 << 60)))
    group.say(
      .flushedAutomatically(
        Flushed(generation: 0, from: MediaTime(flicks: 1 << 60))))
    group.command(.pause)
    group.command(.seekBy(.seconds(3600)))
    group.command(.resume)
    group.advance(by: .seconds(5))
    #expect(group.session.status(at: group.now).rooms.count == 1)
  }

  @Test func `no room makes the sender store more than its own limit`() {
    var group = TestGroup(producesAtOnce: false)
    group.join(with: .test(bytes: 1 << 60, span: MediaDuration(flicks: 1 << 60)))
    let payload = [UInt8](repeating: 0, count: ProtocolLimits.audioPayload)
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 8000, channelCount: 1), sampleType: .int16)
    var produced = 0
    while group.isAwaitingProduction, produced < 1000 {
      produced += 1
      let packet = ProducedPacket(
        generation: 0,
        mediaTime: .zero + .seconds(Int64(produced)), formatID: 0, startsRun: false,
        endsStream: false, duration: .seconds(1),
        encoded: EncodedPacket(payload: payload, frameCount: 8000))
      group.answerOrder(with: [.format(id: 0, format), .packet(packet)])
    }
    #expect(produced < 1000)
  }

  @Test func `a spoken word of an unknown room is nothing`() {
    var group = TestGroup(rooms: 0)
    group.handle(.connected(TestGroup.other, .control))
    group.handle(.received(TestGroup.other, .control, [1, 2, 3]))
    group.handle(.closed(TestGroup.other, .media, reason: ""))
    group.handle(.roomSeen(TestGroup.other))
    group.handle(.drained(TestGroup.other))
    #expect(group.session.status(at: group.now).rooms.isEmpty)
  }
}
