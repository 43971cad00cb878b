import Audio
import Clock
import Receiver
import Sender
import WireProtocol

/// Feeds arbitrary inputs to both session cores. Started by run.sh.
///
/// The input is a script: each step is an opcode and its arguments. Messages are either the script's own bytes,
/// or valid ones whose fields the script chooses, so that the fuzzer need not discover framing first.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSessions(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var script = Script(bytes: Array(UnsafeBufferPointer(start: start, count: count)))
  if script.byte() % 2 == 0 {
    var receiver = ReceiverUnderFire()
    while !script.isOver { receiver.step(&script) }
    receiver.settle()
  } else {
    var group = GroupUnderFire()
    while !script.isOver { group.step(&script) }
    group.settle()
  }
  return 0
}

// MARK: - Receiver

struct ReceiverUnderFire {
  private static let capacity: UInt64 = 60_000
  private var session: ReceiverSession
  private var now = LocalTime(nanoseconds: 1_000_000_000)
  private var lastConnection = 0
  private var sequence: UInt64 = 0

  init() {
    session = ReceiverSession(
      ReceiverSession.Configuration(
        receiverID: fuzzIdentifier(9), name: "room", model: "fuzz",
        capacity: Capacity(bytes: Self.capacity, duration: .seconds(60)), codecs: [.pcm],
        makeDecoder: { (format) throws(CodecError) in try PCMDecoder(format: format) },
        idleTime: .seconds(5), seed: 1, access: .open),
      memory: ReceiverMemory())
    accept(1, sender: 1)
    step(.received(ConnectionID(1), hello(sender: 1, session: 1, clock: 1)))
    accept(2, sender: 1)
    step(.received(ConnectionID(2), MediaMessage.attach(session: 1).encoded()))
    step(.received(ConnectionID(2), MediaMessage.format(id: 0, fuzzFormat).encoded()))
    lastConnection = 2
  }

  private mutating func accept(_ number: Int, sender: UInt8) {
    step(.accepted(ConnectionID(number), peer: ""))
    step(.secured(ConnectionID(number), fuzzPeer(sender)))
  }

  mutating func step(_ script: inout Script) {
    let id = ConnectionID(1 + Int(script.byte()) % (lastConnection + 1))
    switch script.byte() % 16 {
    case 0:
      lastConnection += 1
      accept(lastConnection, sender: script.byte() % 3)
    case 1: step(.closed(id))
    case 2: step(.received(id, script.take(Int(script.byte()))))
    case 3:
      step(
        .received(
          id,
          hello(
            sender: script.byte() % 2, session: UInt64(script.byte() % 4),
            clock: UInt64(script.byte() % 3))))
    case 4:
      step(.received(id, MediaMessage.attach(session: UInt64(script.byte() % 4)).encoded()))
    case 5: step(.received(id, control(&script).encoded()))
    case 6, 7, 8: step(.received(id, packet(&script).encoded()))
    case 9: now = now + .milliseconds(Int64(script.byte()) * 20)
    case 10: step(.datagram(answer(&script), receivedAt: now))
    case 11:
      step(
        .deviceOpened(
          device(&script), ring: FrameRing(minimumCapacity: 9600, channelCount: 2),
          clips: FrameRing(minimumCapacity: 9600, channelCount: 2)))
    case 12: step(.deviceLost(reason: "gone"))
    case 13:
      var report = RenderReport()
      report.activity = script.byte() % 2 == 0 ? .playing : .waiting
      report.playhead = script.mediaTime()
      report.at = now + .milliseconds(Int64(script.byte()))
      step(.rendered(report))
    case 14: step(.resumedFromSuspend)
    default: step(.timeout)
    }
  }

  /// Acts like a driver that sleeps until there is nothing to wake up for, for at most a minute.
  mutating func settle() {
    for id in 1...lastConnection { step(.closed(ConnectionID(id))) }
    step(.deviceLost(reason: "gone"))
    var wakes = 0
    let end = now + .seconds(60)
    while let deadline = session.nextDeadline, deadline < end {
      wakes = deadline > now ? 0 : wakes + 1
      precondition(wakes < 100, "woken in vain")
      now = max(now, deadline)
      step(.timeout)
    }
  }

  private mutating func step(_ input: ReceiverSession.Input) {
    session.handle(input, at: now)
    var count = 0
    while let output = session.nextOutput() {
      count += 1
      if case .send(_, let bytes) = output { checkControl(bytes) }
    }
    precondition(count < 1000, "more answers than questions")
  }

  private func hello(sender: UInt8, session: UInt64, clock: UInt64) -> [UInt8] {
    ControlMessage.hello(
      Hello(
        version: 2, senderID: fuzzIdentifier(sender), senderName: "s", session: session,
        clockID: clock, clockPort: 9, takesOver: session % 2 == 0)
    ).encoded()
  }

  private func control(_ script: inout Script) -> ControlMessage {
    let kind = script.byte()
    return switch kind < 160 ? kind % 8 : 8 + kind % 3 {
    case 8:
      .clip(
        ClipOffer(
          number: UInt32(script.byte() % 4), byteCount: 1 + Int(script.byte()),
          volume: nil, format: fuzzFormat))
    case 9:
      .clipPiece(
        ClipPiece(
          number: UInt32(script.byte() % 4), offset: script.byte() % 4 == 0 ? 9 : 0,
          bytes: script.take(1 + Int(script.byte()))))
    case 10:
      .clipTime(
        ClipTime(
          number: UInt32(script.byte() % 4),
          begins: script.byte() % 4 == 0 ? nil : script.groupTime()))
    case 7:
      .streamVolume(
        StreamVolume(volume: script.settings().volume, isMuted: script.byte() % 2 == 0))
    case 6:
      .nowPlaying(
        NowPlaying(
          generation: script.generation(), from: script.mediaTime(),
          item: script.byte() % 4 == 0
            ? nil : ItemDescription(title: "t", artwork: UInt32(script.byte() % 4))))
    case 0, 1:
      .anchor(
        Anchor(
          mediaTime: script.mediaTime(), groupTime: script.groupTime(),
          rate: script.byte() % 3 == 0 ? .paused : .playing))
    case 2, 3:
      .flush(
        Flush(
          from: script.mediaTime(), generation: script.generation(),
          isRamped: script.byte() % 2 == 0))
    case 4: script.byte() % 2 == 0 ? .settings(script.settings()) : .sound(script.sound())
    default: .goodbye(Goodbye(reason: .finished, detail: ""))
    }
  }

  private mutating func packet(_ script: inout Script) -> MediaMessage {
    switch script.byte() % 8 {
    case 0:
      return .format(
        id: UInt16(script.byte() % 3), script.byte() % 2 == 0 ? fuzzFormat : .fuzzStereo)
    case 1: sequence = UInt64(script.number(in: 0...(1 << 60)))
    case 2: return .artwork(artworkPiece(&script))
    default: sequence = min(sequence + 1, 1 << 60)
    }
    let payload = [UInt8](repeating: 0, count: Int(script.byte()) * 4)
    return .packet(
      AudioPacket(
        generation: script.generation(), sequence: sequence, mediaTime: script.mediaTime(),
        formatID: UInt16(script.byte() % 3), startsRun: script.byte() % 4 == 0,
        endsStream: script.byte() % 16 == 0,
        encoded: EncodedPacket(
          payload: payload, skippedFrames: Int(script.byte()) * 257,
          frameCount: 1 + Int(script.byte()))))
  }

  private func artworkPiece(_ script: inout Script) -> ArtworkPiece {
    let bytes = script.take(1 + Int(script.byte() % 32))
    let size = Int(script.number(in: Int64(bytes.count)...Int64(ProtocolLimits.artwork)))
    return ArtworkPiece(
      number: 1 + UInt32(script.byte() % 4), size: size,
      offset: min(Int(script.byte() % 64), size - bytes.count), mimeType: "image/png",
      bytes: bytes)
  }

  private func answer(_ script: inout Script) -> [UInt8] {
    let time = script.groupTime()
    return TimePacket.answer(
      TimeAnswer(
        clockID: UInt64(script.byte() % 3), sequence: UInt32(script.byte()),
        requestSentAt: script.byte() % 2 == 0
          ? now : LocalTime(nanoseconds: script.number(in: ProtocolLimits.clockTime)),
        receivedAt: time, sentAt: time, previous: nil)
    ).encoded(key: ClockKey(fuzzPeer(1).clockKey))
  }

  private func device(_ script: inout Script) -> OutputDevice {
    let rate = AudioFormat.supportedRates[Int(script.byte()) % AudioFormat.supportedRates.count]
    return OutputDevice(
      format: AudioFormat(sampleRate: rate, channelCount: 2), commitHorizon: .milliseconds(50))
  }
}

// MARK: - Sender

struct GroupUnderFire {
  private var session: GroupSession
  private let serializer: Serializer
  private var now = LocalTime(nanoseconds: 1_000_000_000)
  private var orders: [ProductionOrder] = []
  private var isFinished = false
  private var commandCount: UInt64 = 0
  private var replyCount: UInt64 = 0

  init() {
    session = GroupSession(
      GroupSession.Configuration(
        senderID: fuzzIdentifier(1), senderName: "s", clockID: 1, clockPort: 9, firstSession: 0),
      playing: Playlist(["a", "gone", "b"]))
    serializer = Serializer(
      openSource: { (item) throws(MediaError) in
        guard item.location != "gone" else { throw .notFound(path: "gone") }
        return Noise(length: item.location == "a" ? 9000 : 12_345)
      },
      makeEncoder: { (shape) throws(CodecError) in
        PCMEncoder(audio: shape.format, sampleType: .int16)
      })
    for number in 1...2 {
      step(.roomAdded(RoomID(number), name: "room", receiverID: nil))
    }
  }

  mutating func step(_ script: inout Script) {
    let room = RoomID(Int(script.byte() % 3))
    let channel = script.byte() % 2 == 0 ? Channel.control : .media
    switch script.byte() % 12 {
    case 0:
      let peer = fuzzPeer(9 + script.byte() % 8)
      step(.connected(room, channel, peer, proof: script.byte() % 4 == 0 ? peer.binding : nil))
    case 1: step(.closed(room, channel, reason: ""))
    case 2: step(.received(room, channel, script.take(Int(script.byte()))))
    case 3, 4, 5: step(.received(room, .control, message(&script).encoded()))
    case 6: step(.roomSeen(room))
    case 7: step(.drained(room))
    case 8: now = now + .milliseconds(Int64(script.byte()) * 20)
    case 9: if !orders.isEmpty { step(.produced(serializer.produce(orders.removeFirst()))) }
    case 10: ask(command(&script))
    default: step(.timeout)
    }
  }

  mutating func settle() {
    ask(.stop)
    var wakes = 0
    while let deadline = session.nextDeadline {
      wakes = deadline > now ? 0 : wakes + 1
      precondition(wakes < 100, "woken in vain")
      now = max(now, deadline)
      step(.timeout)
    }
    precondition(session.isFinished)
  }

  private mutating func ask(_ command: PlayerCommand) {
    commandCount += 1
    step(.command(CommandID(commandCount), command))
    precondition(replyCount == commandCount, "a command has one reply")
  }

  private mutating func step(_ input: GroupSession.Input) {
    session.handle(input, at: now)
    var count = 0
    while let output = session.nextOutput() {
      count += 1
      switch output {
      case .produce(let order):
        if order.supersedesWaiting { orders.removeAll() }
        orders.append(order)
      case .send(_, .control, let bytes): checkControl(bytes)
      case .reply(let id, _):
        replyCount += 1
        precondition(id.number == commandCount, "a reply to another command")
      default: break
      }
    }
    precondition(count < 1000, "more answers than questions")
    _ = session.status(at: now)
  }

  private func message(_ script: inout Script) -> ControlMessage {
    let kind = script.byte()
    return switch kind < 224 ? kind % 7 : 7 {
    case 7:
      .clipState(
        ClipState(
          number: UInt32(script.byte() % 4), received: Int(script.byte()) * 257,
          stage: ClipState.Stage.allCases[Int(script.byte() % 3)]))
    case 0, 1:
      .welcome(
        Welcome(
          version: 2, receiverID: fuzzIdentifier(9 + script.byte() % 8), name: "", model: "",
          capacity: Capacity(
            bytes: UInt64(script.number(in: 0...(1 << 60))),
            duration: MediaDuration(flicks: script.mediaTime().flicks)), codecs: [.pcm],
          settings: script.settings(),
          held: script.byte() % 2 == 0
            ? nil
            : HeldStream(
              generation: script.generation(),
              nextSequence: UInt64(script.number(in: 0...(1 << 60))), from: script.mediaTime()),
          playsClips: true))
    case 2, 3: .status(status(&script))
    case 4:
      .credit(
        Credit(
          limit: UInt64(script.number(in: 0...(1 << 60))), bufferedUntil: .zero, heldBytes: 0))
    case 5:
      .flushedAutomatically(
        Flushed(generation: script.generation(), from: script.mediaTime()))
    case 6: .codecs(Codec.allCases.filter { _ in script.byte() % 2 == 0 })
    default: .refuse(Refusal(reason: .busy, detail: ""))
    }
  }

  private func status(_ script: inout Script) -> RoomStatus {
    let none = SyncErrorStatistics(now: .zero, median: .zero, p99: .zero, maximum: .zero)
    let states = RoomStatus.State.allCases
    return RoomStatus(
      state: states[Int(script.byte()) % states.count], detail: "", playhead: script.mediaTime(),
      bufferedUntil: .zero, heldBytes: 0, syncError: none, clockErrorBound: .zero,
      roundTrip: Nanoseconds(script.number(in: ProtocolLimits.span)),
      commitHorizon: Nanoseconds(script.number(in: ProtocolLimits.commitHorizon)), clockDrift: 0,
      deviceDrift: 0, underruns: 0, latePackets: 0, lostPackets: 0, corruptPackets: 0)
  }

  private func command(_ script: inout Script) -> PlayerCommand {
    let kind = script.byte()
    return switch kind < 224 ? kind % 8 : 8 + kind % 3 {
    case 8:
      .offerClip(
        Clip(format: fuzzFormat, bytes: [UInt8](repeating: 1, count: 700 * Int(script.byte()))),
        volume: nil, to: [RoomID(1), RoomID(2)])
    case 9:
      .beginClip(
        UInt32(script.byte() % 4), at: now + Nanoseconds(script.number(in: 0...(1 << 40))))
    case 10: .withdrawClip(UInt32(script.byte() % 4))
    case 0: .pause
    case 1: .resume
    case 2: .next
    case 3: .previous
    case 4: .seek(to: MediaDuration(flicks: script.mediaTime().flicks))
    case 5: .seekBy(MediaDuration(flicks: script.number(in: -(1 << 58)...(1 << 58))))
    case 6: .volume(.all, UInt16(script.byte()) * 256)
    default: .delay(.all, Nanoseconds(script.number(in: ProtocolLimits.clockTime)))
    }
  }
}

private final class Noise: MediaSource {
  let format = AudioFormat(sampleRate: 8000, channelCount: 1)
  let sampleType = SampleType.int16
  let isLossless = true
  let metadata: ItemMetadata
  private let length: Int64
  private var next: Int64 = 0

  init(length: Int64) {
    self.length = length
    var metadata = ItemMetadata(title: "noise")
    metadata.artwork = Artwork(bytes: [UInt8](repeating: 1, count: 20_000), mimeType: "image/png")
    self.metadata = metadata
  }

  var frameCount: Int64? { length }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    let taken = min(Int64(count), length - next)
    frames += [Float](repeating: 0.1, count: Int(max(0, taken)))
    next += max(0, taken)
  }

  func seek(toFrame frame: Int64) throws(MediaError) { next = min(frame, length) }
}

// MARK: - Both

private let fuzzFormat = StreamFormat(
  codec: .pcm, audio: AudioFormat(sampleRate: 8000, channelCount: 1), sampleType: .int16)

extension StreamFormat {
  fileprivate static let fuzzStereo = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
}

/// Checks that the other side can parse what a session sends.
private func checkControl(_ bytes: [UInt8]) {
  var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
  framer.append(bytes)
  guard let raw = try? framer.next(), (try? ControlMessage.decode(raw)) != nil else {
    preconditionFailure("it says what nobody can read")
  }
}
