import Audio
import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// A `ReceiverSession` and its surroundings: connections that the test opens, a sender's clock, and a sound
/// device that consists of the ring only. The session's output is kept until it is taken.
struct TestReceiver {
  private(set) var session: ReceiverSession
  var now = LocalTime(nanoseconds: 1_000_000_000)
  private(set) var outputs: [ReceiverSession.Output] = []
  /// True to open the sound device as soon as the session asks for it.
  var opensDevice = true
  /// True to answer time requests at once, by a clock ten seconds ahead.
  var answersTime = true
  private var connections = 0

  static let rate = 48_000
  static let packetFrames = 960
  static let packetLength = MediaDuration(frames: Int64(packetFrames), at: rate)
  static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: rate, channelCount: 1), sampleType: .int16)
  static let clockAhead = Nanoseconds.seconds(10)

  init(
    capacity: Capacity = Capacity(bytes: 1 << 20, duration: .seconds(600)),
    memory: ReceiverMemory = ReceiverMemory(), codecs: [Codec] = [.pcm],
    remainingCodecs: [Codec]? = nil, access: AccessPolicy = .open,
    whenBusy: BusyPolicy = .refuse, trust: TrustMemory = TrustMemory(), token: [UInt8]? = nil,
    canSpeak: Bool = true,
    makeDecoder: @escaping DecodeStage.MakeDecoder = { (format) throws(CodecError) in
      try PCMDecoder(format: format)
    }
  ) {
    let remaining = remainingCodecs ?? codecs
    session = ReceiverSession(
      ReceiverSession.Configuration(
        receiverID: .counting(from: 9), name: "Kitchen", model: "test", capacity: capacity,
        codecs: codecs, remainingCodecs: { remaining }, makeDecoder: makeDecoder,
        idleTime: .seconds(5), seed: 1, access: access, whenBusy: whenBusy, token: token,
        arithmetic: FakeArithmetic(), cipher: FakeCipher(), canSpeak: canSpeak,
        playsClips: true),
      memory: memory, trust: trust)
  }

  // MARK: - Inputs

  mutating func handle(_ input: ReceiverSession.Input) {
    session.handle(input, at: now)
    var seen = outputs.count
    while let output = session.nextOutput() { outputs.append(output) }
    while seen < outputs.count {
      react(to: outputs[seen])
      seen += 1
    }
  }

  /// Accepts a connection with the key of this sender.
  mutating func accept(sender: UInt8 = 1, peer: String = "study") -> ConnectionID {
    connections += 1
    handle(.accepted(ConnectionID(connections), peer: peer))
    handle(.secured(ConnectionID(connections), .test(sender)))
    return ConnectionID(connections)
  }

  mutating func say(_ messages: ControlMessage..., on id: ConnectionID) {
    for message in messages { handle(.received(id, message.encoded())) }
  }

  mutating func stream(_ messages: MediaMessage..., on id: ConnectionID) {
    for message in messages { handle(.received(id, message.encoded())) }
  }

  mutating func hello(
    sender: UInt8 = 1, session number: UInt64 = 5, clock: UInt64 = 77, version: UInt16 = 2,
    takesOver: Bool = false, givesBack: Bool = false, priority: UInt8 = 100,
    before proof: [UInt8]? = nil
  ) -> ConnectionID {
    let id = accept(sender: sender)
    if let proof { say(.prove(proof), on: id) }
    say(
      .hello(
        Hello(
          version: version, senderID: .counting(from: sender), senderName: "sender \(sender)",
          session: number, clockID: clock, clockPort: 46_000, takesOver: takesOver,
          givesBack: givesBack, priority: priority)), on: id)
    return id
  }

  mutating func attach(session number: UInt64 = 5, sender: UInt8 = 1) -> ConnectionID {
    let id = accept(sender: sender)
    stream(.attach(session: number), .format(id: 0, Self.format), on: id)
    return id
  }

  /// Sends `count` consecutive packets, from number `first` on.
  mutating func send(
    _ count: Int, from first: Int = 0, generation: UInt32 = 0, at time: MediaTime? = nil,
    on media: ConnectionID
  ) {
    for number in first..<first + count {
      let start = time.map {
        $0 + MediaDuration(flicks: Int64(number - first) * Self.packetLength.flicks)
      }
      stream(
        .packet(Self.packet(number, generation: generation, at: start, startsRun: number == first)),
        on: media)
    }
  }

  static func packet(
    _ number: Int, generation: UInt32 = 0, at time: MediaTime? = nil, startsRun: Bool = false,
    endsStream: Bool = false
  ) -> AudioPacket {
    AudioPacket(
      generation: generation, sequence: UInt64(number),
      mediaTime: time ?? Self.time(number), formatID: 0, startsRun: startsRun,
      endsStream: endsStream,
      encoded: EncodedPacket(
        payload: [UInt8](repeating: 1, count: packetFrames * 2), frameCount: packetFrames))
  }

  static func time(_ packet: Int) -> MediaTime {
    MediaTime(flicks: Int64(packet) * packetLength.flicks)
  }

  func groupTime(in span: Nanoseconds = .zero) -> GroupTime {
    GroupTime(nanoseconds: now.nanoseconds) + Self.clockAhead + span
  }

  /// Reports that `playhead` is heard in `span`, because that much is written ahead.
  mutating func report(
    _ activity: RenderReport.Activity, playhead: MediaTime = .zero, in span: Nanoseconds = .zero,
    starvations: UInt32 = 0
  ) {
    var report = RenderReport()
    report.activity = activity
    report.playhead = playhead
    report.at = now + span
    report.starvations = starvations
    handle(.rendered(report))
  }

  /// Sleeps until `nextDeadline`, again and again, for this long.
  mutating func advance(by span: Nanoseconds) {
    let end = now + span
    var wakes = 0
    while let deadline = session.nextDeadline, deadline <= end {
      wakes = deadline > now ? 0 : wakes + 1
      guard wakes < 1000 else {
        Issue.record("woken in vain at \(now.nanoseconds)")
        break
      }
      now = max(now, deadline)
      handle(.timeout)
    }
    now = end
    handle(.timeout)
  }

  // MARK: - Outputs

  @discardableResult
  mutating func take() -> [ReceiverSession.Output] {
    defer { outputs = [] }
    return outputs
  }

  /// Removes and returns the bytes for `id`.
  mutating func takeSent(_ id: ConnectionID) -> [[UInt8]] {
    var sent: [[UInt8]] = []
    outputs.removeAll { output in
      guard case .send(id, let bytes) = output else { return false }
      sent.append(bytes)
      return true
    }
    return sent
  }

  func told(_ id: ConnectionID) -> [ControlMessage] {
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    for output in outputs {
      if case .send(id, let bytes) = output { framer.append(bytes) }
    }
    var messages: [ControlMessage] = []
    while let raw = try? framer.next() {
      if let message = try? ControlMessage.decode(raw) { messages.append(message) }
    }
    return messages
  }

  func credits(_ id: ConnectionID) -> [UInt64] {
    told(id).compactMap { if case .credit(let credit) = $0 { credit.limit } else { nil } }
  }

  func welcome(_ id: ConnectionID) -> Welcome? {
    told(id).compactMap { if case .welcome(let welcome) = $0 { welcome } else { nil } }.first
  }

  /// Returns the refusal or goodbye to `id`, if there was one.
  func farewell(_ id: ConnectionID) -> ControlMessage? {
    told(id).first {
      switch $0 {
      case .refuse, .goodbye: true
      default: false
      }
    }
  }

  /// The busy states that were to be announced, in order.
  var advertised: [Bool] {
    outputs.compactMap { if case .advertise(let isBusy) = $0 { isBusy } else { nil } }
  }

  func flushes(_ id: ConnectionID) -> [Flushed] {
    told(id).compactMap { if case .flushed(let flushed) = $0 { flushed } else { nil } }
  }

  var closed: [ConnectionID] {
    outputs.compactMap { if case .close(let id) = $0 { id } else { nil } }
  }

  var events: [ReceiverEvent] {
    outputs.compactMap { if case .event(let event) = $0 { event } else { nil } }
  }

  /// The gains with which the PIN was to be said.
  var speeches: [Float] {
    outputs.compactMap { if case .sayPIN(let gain) = $0 { gain } else { nil } }
  }

  /// The titles that were shown, in order; nil for nothing.
  var shown: [String?] { shownItems.map { $0?.description.title } }

  var shownItems: [SoundingItem?] {
    outputs.compactMap { output -> SoundingItem?? in
      if case .nowPlaying(let item) = output { .some(item) } else { nil }
    }
  }

  var commands: [RenderCommand] {
    outputs.compactMap { if case .render(let command) = $0 { command } else { nil } }
  }

  var cuts: [(from: MediaTime, generation: UInt32)] {
    commands.compactMap {
      if case .cut(let from, let generation, _, _) = $0 { (from, generation) } else { nil }
    }
  }

  private mutating func react(to output: ReceiverSession.Output) {
    if opensDevice, case .openDevice(let rate, _) = output { open(rate: rate) }
    if answersTime, case .sendTimeRequest(let bytes, _, _, _) = output { answer(bytes) }
  }

  mutating func open(rate: Int) {
    let format = AudioFormat(sampleRate: rate, channelCount: 2)
    handle(
      .deviceOpened(
        OutputDevice(format: format, commitHorizon: .milliseconds(50)),
        ring: FrameRing(minimumCapacity: 2 * rate, channelCount: 2),
        clips: FrameRing(minimumCapacity: 3 * rate / 2, channelCount: 2)))
  }

  private mutating func answer(_ bytes: [UInt8]) {
    let key = ClockKey(session.link?.secured.clockKey ?? [])
    guard case .request(let request)? = try? TimePacket.decode(bytes[...], key: key) else { return }
    let arrival = GroupTime(nanoseconds: now.nanoseconds + 100_000) + Self.clockAhead
    let answer = TimeAnswer(
      clockID: request.clockID, sequence: request.sequence, requestSentAt: request.sentAt,
      receivedAt: arrival, sentAt: arrival, previous: nil)
    handle(
      .datagram(
        TimePacket.answer(answer).encoded(key: key), receivedAt: now + .microseconds(200)))
  }
}

extension SecuredPeer {
  /// The peer of the sender with this number.
  static func test(_ sender: UInt8) -> SecuredPeer {
    let id = Identifier.counting(from: sender)
    return SecuredPeer(id: id, clockKey: id.bytes, binding: id.bytes + id.bytes)
  }
}

extension Identifier {
  static func counting(from first: UInt8) -> Identifier {
    guard let identifier = Identifier((0..<16).map { first &+ $0 }) else { preconditionFailure() }
    return identifier
  }
}
