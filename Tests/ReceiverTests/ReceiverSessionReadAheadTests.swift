import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// A session in a room that may have a FIR filter, because `TestReceiver` has none. Its sound
/// device opens at once.
private struct FilteredRoom {
  static let timeToPeak = Nanoseconds.milliseconds(85)
  static let horizonOfDevice = Nanoseconds.milliseconds(50)
  private static let control = ConnectionID(1)
  private static let media = ConnectionID(2)

  private var session: ReceiverSession
  private var now = LocalTime(nanoseconds: 1_000_000_000)
  private var outputs: [ReceiverSession.Output] = []

  init(
    sound: SoundSetting = .plain, timeToPeak: Nanoseconds? = FilteredRoom.timeToPeak
  ) {
    var settings = RoomSettings.default
    settings.sound = sound
    session = ReceiverSession(
      ReceiverSession.Configuration(
        receiverID: .counting(from: 9), name: "Kitchen", model: "test",
        capacity: Capacity(bytes: 1 << 20, duration: .seconds(600)), codecs: [.pcm],
        makeDecoder: { (format) throws(CodecError) in try PCMDecoder(format: format) },
        idleTime: .seconds(60), seed: 1, access: .open, cipher: FakeCipher(),
        timeToPeak: timeToPeak),
      memory: ReceiverMemory(settings: settings))
    connect(Self.control)
    say(
      .hello(
        Hello(
          version: 2, senderID: .counting(from: 1), senderName: "study", session: 5, clockID: 77,
          clockPort: 46_000)))
  }

  mutating func handle(_ input: ReceiverSession.Input) {
    session.handle(input, at: now)
    var asked: Int?
    while let output = session.nextOutput() {
      if case .openDevice(let rate, _) = output { asked = rate }
      outputs.append(output)
    }
    if let asked { open(rate: asked) }
  }

  private mutating func connect(_ id: ConnectionID) {
    handle(.accepted(id, peer: "study"))
    handle(.secured(id, .test(1)))
  }

  mutating func say(_ message: ControlMessage) {
    handle(.received(Self.control, message.encoded()))
  }

  /// Sends a packet, for which the room opens its device at 48 kHz.
  mutating func sendPacket() {
    connect(Self.media)
    let messages: [MediaMessage] = [
      .attach(session: 5), .format(id: 0, TestReceiver.format), .packet(TestReceiver.packet(0)),
    ]
    for message in messages { handle(.received(Self.media, message.encoded())) }
  }

  mutating func open(rate: Int) {
    let format = AudioFormat(sampleRate: rate, channelCount: 2)
    handle(
      .deviceOpened(
        OutputDevice(format: format, commitHorizon: Self.horizonOfDevice),
        ring: FrameRing(minimumCapacity: 2 * rate, channelCount: 2)))
  }

  /// The commit horizon of the first status, before a device is open.
  var firstHorizon: Nanoseconds? { statuses.first?.commitHorizon }

  /// Waits for the next status, and returns its commit horizon.
  mutating func horizon() -> Nanoseconds? {
    now = now + ProtocolLimits.statusInterval
    handle(.timeout)
    return statuses.last?.commitHorizon
  }

  /// True if the render thread was last told to use the filter; nil if it was told nothing of it.
  var usesFIR: Bool? {
    outputs.compactMap {
      if case .render(.useFIR(let isUsed)) = $0 { isUsed } else { nil }
    }.last
  }

  /// Counts how often the render thread was told the room's sound.
  var soundCount: Int {
    outputs.count { if case .render(.sound) = $0 { true } else { false } }
  }

  var hasFIR: Bool? {
    told.compactMap { if case .welcome(let welcome) = $0 { welcome.settings.hasFIR } else { nil } }
      .first
  }

  private var statuses: [RoomStatus] {
    told.compactMap { if case .status(let status) = $0 { status } else { nil } }
  }

  private var told: [ControlMessage] {
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    for output in outputs {
      if case .send(Self.control, let bytes) = output { framer.append(bytes) }
    }
    var messages: [ControlMessage] = []
    while let raw = try? framer.next() {
      if let message = try? ControlMessage.decode(raw) { messages.append(message) }
    }
    return messages
  }
}

/// Tests of a room that reads ahead for its FIR filter, as its sender and its render thread see
/// it; and of live streams, which may leave no time for that.
@Suite struct ReceiverSessionReadAheadTests {
  private static func sound(isOn: Bool = true, usesFIR: Bool = true) -> SoundSetting {
    var sound = SoundSetting()
    (sound.isOn, sound.usesFIR) = (isOn, usesFIR)
    return sound
  }

  /// The time by which a room with its filter in use reads ahead: its peak, and a block.
  private static func readAhead(at rate: Int64) -> Nanoseconds {
    FilteredRoom.timeToPeak + Nanoseconds(Int64(Convolver.block) * 1_000_000_000 / rate)
  }

  private static func live(latency milliseconds: Int64) -> LiveStream {
    LiveStream(
      latency: .milliseconds(milliseconds), sampleRate: 48_000, port: 5,
      key: [UInt8](repeating: 3, count: LiveStream.keyByteCount))
  }

  /// The sender speaks earlier by the time that the filter reads ahead. Where nothing is read
  /// ahead, it would only react more slowly.
  @Test(arguments: [true, false], [true, false])
  func `a room reads ahead only while its sound is on and uses the filter`(
    isOn: Bool, usesFIR: Bool
  ) {
    var room = FilteredRoom()
    room.sendPacket()
    room.say(.sound(Self.sound(isOn: isOn, usesFIR: usesFIR)))
    let ahead = isOn && usesFIR ? Self.readAhead(at: 48_000) : .zero
    let horizon = room.horizon()
    #expect(horizon == FilteredRoom.horizonOfDevice + ahead)
    #expect(room.usesFIR == (isOn && usesFIR))
  }

  @Test func `a room without a filter reads nothing ahead, whatever its sound asks for`() {
    var room = FilteredRoom(sound: Self.sound(), timeToPeak: nil)
    #expect(room.hasFIR == false)
    room.sendPacket()
    let horizon = room.horizon()
    #expect(horizon == FilteredRoom.horizonOfDevice)
    #expect(room.usesFIR == false)
  }

  @Test func `a room that has kept such a sound says from its first status that it reads ahead`() {
    var room = FilteredRoom(sound: Self.sound())
    #expect(room.hasFIR == true)
    let expected = LatencyProfile.deep.expectedHorizon
    #expect(room.firstHorizon == expected + Self.readAhead(at: 44_100))
    room.sendPacket()
    let horizon = room.horizon()
    #expect(horizon == FilteredRoom.horizonOfDevice + Self.readAhead(at: 48_000))
    #expect(room.usesFIR == true)
  }

  @Test func `a live stream without time for the filter goes without it`() {
    var room = FilteredRoom(sound: Self.sound())
    for (latency, isUsed) in [(145, true), (144, false), (nil, true)] as [(Int64?, Bool)] {
      room.say(.live(latency.map(Self.live(latency:))))
      let ahead = isUsed ? Self.readAhead(at: 48_000) : .zero
      let horizon = room.horizon()
      #expect(horizon == FilteredRoom.horizonOfDevice + ahead)
      #expect(room.usesFIR == isUsed)
    }
  }

  /// The queue to the render thread is bounded: a command that changes nothing only takes up space.
  @Test func `the render thread is told a sound once, and again by a new device`() {
    var room = FilteredRoom()
    room.sendPacket()
    #expect(room.soundCount == 1)
    for _ in 0..<2 { room.say(.sound(Self.sound())) }
    room.say(
      .settings(RoomSettings(volume: 300, isMuted: false, delay: .zero, channelMap: .stereo)))
    #expect(room.soundCount == 2)
    room.handle(.deviceLost(reason: "unplugged"))
    room.open(rate: 44_100)
    #expect(room.soundCount == 3)
    #expect(room.usesFIR == true)
  }

  // MARK: - Times of a live stream

  private static func asks(_ receiver: TestReceiver) -> Int {
    receiver.outputs.count { if case .sendAsk = $0 { true } else { false } }
  }

  /// For the first half minute, time requests wake the receiver so often that nothing else has to.
  @Test func `a room that hears nothing of a live stream asks for it every 50 ms`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    for _ in 0..<35 {
      receiver.advance(by: .seconds(1))
      receiver.say(.keepAlive, on: control)
    }
    receiver.say(.live(Self.live(latency: 400)), on: control)
    receiver.take()
    receiver.advance(by: .seconds(1))
    #expect((19...21).contains(Self.asks(receiver)))
  }

  @Test func `a live stream plays on without its sender, and asks for nothing`() throws {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.say(.live(Self.live(latency: 400)), on: control)
    receiver.send(200, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.handle(.closed(control))
    receiver.take()
    receiver.advance(by: .seconds(1))
    #expect(!receiver.events.contains(.finished))
    #expect(Self.asks(receiver) == 0)
    let deadline = try #require(receiver.session.nextDeadline)
    #expect(deadline > receiver.now)
  }
}
