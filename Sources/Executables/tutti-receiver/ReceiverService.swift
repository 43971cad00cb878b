import ALSAOutput
import Audio
import AvahiDiscovery
import Clock
import Codecs
import FFmpegDecoder
import LinuxIO
import Logging
import OpenSSLSecurity
import Output
import Pairing
import Receiver
import WireProtocol

/// Drives a `ReceiverSession`: sockets, sound device, discovery, state and log, on one thread. The output thread
/// is the only other one that matters.
final class ReceiverService {
  /// What others could make change many times a second is written, and announced, no more often than this.
  private static let restInterval = Nanoseconds.seconds(1)
  /// Connections at a time: 16 in the lobby, 9 at the desk, two of a sender, and 4 that are left to others to close.
  private static let connectionLimit = 32

  private let configuration: ReceiverConfiguration
  private let log: ReceiverLog
  private let state: ReceiverState
  private let reactor: Reactor
  private let clockSocket: DatagramID
  /// Audio of live streams comes on it.
  private let liveSocket: DatagramID
  private let output: SoundOutput
  private var session: ReceiverSession
  private var publisher: ServicePublisher?
  private var browser: ServiceBrowser?
  private var advertisement: ReceiverAdvertisement
  private let peers: PeerConnections<Receiver.ConnectionID>
  private var acceptedCount = 0
  private var requests = AwaitedStamps<UInt32>()
  private var suspends = SuspendDetector()
  /// Nil where the renderer sets the volume.
  private let hardwareVolume: HardwareVolume?
  private var display: NowPlayingDisplay
  private let writer: NewestValueThread<ReceiverMemory>
  private let keeper: TrustKeeper
  private let token: LocalToken
  private var unsaved: ReceiverMemory?
  private var nextSave = HostClock.now
  private var announced: ReceiverAdvertisement
  private var nextAnnouncement = HostClock.now
  private var isStopping = false
  private var exitFailure: StartFailure?

  init(_ configuration: ReceiverConfiguration) throws {
    self.configuration = configuration
    log = ReceiverLog(level: configuration.logLevel)
    state = try ReceiverState(configuration.stateDirectory)
    display = try NowPlayingDisplay(directory: state.directory, log)
    writer = try state.writer(log)
    ALSALibrary.configure()
    reactor = try Reactor()
    let security = try TLSContext(try state.identityKey(log))
    peers = PeerConnections(
      reactor: reactor, limit: Self.connectionLimit, secure: security.channel)
    try reactor.watch(signals: [.interrupt, .terminate])
    var options = ConnectionOptions()
    // What a cut makes obsolete must be read all the same before what comes behind it.
    options.receiveLimit = 128 << 10
    let listener = try reactor.listen(on: .any(port: configuration.port), options: options)
    // Answers carry the kernel's time of arrival, and wait for the next request: half as many turns.
    clockSocket = try reactor.openDatagrams(
      on: .any(port: 0), trafficClass: .clock, wakes: false)
    liveSocket = try reactor.openDatagrams(on: .any(port: 0), trafficClass: .audio)
    if let error = lockMemory() { log.notice("memory is not locked", "\(error)") }
    let memory = state.memory(startVolume: configuration.startVolume, log)
    let waker = reactor.waker
    output = SoundOutput(configuration.output, storedDrift: memory.deviceDrift) { waker.wake() }
    hardwareVolume = try configuration.hardwareVolume { waker.wake() }
    let id = security.identifier
    let trustFile = TrustFile(directory: state.directory)
    let trust = state.trust(trustFile, log)
    keeper = try TrustKeeper(trustFile, holding: trust.memory, log, on: reactor)
    token = LocalToken.own(id)
    let codecs = decodableCodecs()
    session = ReceiverSession(
      .init(
        receiverID: id, name: configuration.name, model: configuration.model,
        capacity: configuration.capacity, codecs: codecs, remainingCodecs: decodableCodecs,
        makeDecoder: { format throws(CodecError) in try makeDecoder(format) },
        idleTime: configuration.output.idleTime(configuration.idleTime),
        figuresInterval: configuration.figuresInterval,
        profile: ReceiverConfiguration.profile, seed: try SystemRandom.number(),
        access: configuration.access, whenBusy: configuration.whenBusy,
        token: token.made(log), arithmetic: SPAKE2(), cipher: DatagramSealing(),
        reopensDevice: configuration.output.isSoundCard),
      memory: memory, trust: trust.memory)
    advertisement = ReceiverAdvertisement(
      id: id, name: configuration.name, model: configuration.model,
      version: ProtocolVersion.newest, codecs: codecs, state: .free,
      access: configuration.access == .open ? .open : .paired)
    announced = advertisement
    try announce(port: reactor.localAddress(of: listener)?.port ?? configuration.port)
    tellPIN(trust)
    lookForDevice()
  }

  func run() throws {
    while !isStopping {
      let deadline = [session.nextDeadline, restDeadline, output.deadline].compactMap(\.self).min()
      for event in try reactor.wait(until: deadline) { handle(event) }
      takeFromOutput()
      if let number = keeper.takeKept() { handle(.trustKept(number)) }
      if let trust = keeper.takeChanged() { handle(.trustChanged(trust)) }
      if suspends.suspendedSinceLastCall() != nil { handle(.resumedFromSuspend) }
      handle(.timeout)
      catchUp(at: HostClock.now)
    }
    output.end()
    finishState()
    if let exitFailure { throw exitFailure }
  }

  // MARK: - Session

  private func handle(_ input: ReceiverSession.Input) {
    session.handle(input, at: HostClock.now)
    while let output = session.nextOutput() { carryOut(output) }
  }

  private func carryOut(_ output: ReceiverSession.Output) {
    switch output {
    case .send(let id, let bytes): peers.send(bytes, to: id)
    case .close(let id): peers.close(id)
    case .sendTimeRequest(let bytes, let sequence, let id, let port):
      sendTimeRequest(bytes, sequence: sequence, to: peers.address(of: id)?.with(port: port))
    case .sendAsk(let bytes, let id, let port):
      sendAsk(bytes, to: peers.address(of: id)?.with(port: port))
    case .openDevice(let rate, let profile):
      noteStart(self.output.open(rate: rate, profile, at: HostClock.now))
    case .closeDevice:
      self.output.close()
      hardwareVolume?.use(nil)
    case .render(let command): render(command)
    case .advertise(let isBusy): advertise(isBusy: isBusy)
    case .advertiseCodecs(let codecs): advertisement.codecs = codecs
    case .persist(let memory): unsaved = memory
    case .keepTrust(let trust, let number): keeper.keep(trust, number)
    case .nowPlaying(let item): display.change(to: item)
    case .event(let event): log.write(event)
    }
  }

  // MARK: - What is done once a second at most

  private var restDeadline: LocalTime? {
    let save = unsaved == nil ? nil : nextSave
    let announcement = advertisement == announced ? nil : nextAnnouncement
    return [save, announcement, display.deadline].compactMap(\.self).min()
  }

  private func catchUp(at now: LocalTime) {
    if unsaved != nil, nextSave <= now {
      nextSave = now + Self.restInterval
      save()
    }
    if advertisement != announced, nextAnnouncement <= now {
      nextAnnouncement = now + Self.restInterval
      announceAgain()
    }
    display.catchUp(at: now)
  }

  private func save() {
    if let memory = unsaved.take() { writer.post(memory) }
  }

  /// At the end, where a disk that hangs may not hang the program.
  private func finishState() {
    save()
    display.remove()
    token.remove()
    if !keeper.finish(within: 5000) || !writer.finish(within: 5000) {
      log.warning("settings could not be kept", "\(state.directory): the disk does not answer")
    }
  }

  // MARK: - Network

  /// Until somebody is paired, whoever installs this reads it here.
  private func tellPIN(_ trust: TrustRecord) {
    guard configuration.access == .paired, trust.memory.pairings.all.isEmpty, let pin = trust.pin
    else { return }
    log.notice(
      "nobody is paired yet",
      "PIN \(pin.written); on a sender: tutti pair \(configuration.name.asShellWord)")
  }

  private func handle(_ event: ReactorEvent) {
    keeper.handle(event)
    peers.take(event) { event in
      switch event {
      case .received(let id, let bytes): handle(.received(id, bytes))
      case .closed(let id, _): handle(.closed(id))
      case .connected(let id, let peer): handle(.secured(id, peer))
      case .failed: break
      }
    }
    switch event {
    case .accepted(let connection, _, let address): accept(connection, from: address)
    case .datagram(_, let datagram):
      handle(.datagram(datagram.bytes, receivedAt: datagram.receivedAt))
    case .transmitted(let socket, let stamp) where socket == clockSocket:
      if let sequence = requests[stamp.id] {
        handle(.transmitted(sequence: sequence, at: stamp.at))
      }
    case .acceptFailed(_, let error): log.warning("connections wait", "\(error)")
    case .signal: isStopping = true
    case .connected, .connectFailed, .received, .closed, .drained, .woken, .readable,
      .transmitted:
      break
    }
  }

  private func accept(_ connection: LinuxIO.ConnectionID, from address: SocketAddress?) {
    acceptedCount += 1
    let id = Receiver.ConnectionID(acceptedCount)
    guard peers.accept(connection, from: address, as: id) else { return }
    handle(.accepted(id, peer: address?.host ?? "this host", network: address?.network.host))
  }

  private func sendTimeRequest(_ bytes: [UInt8], sequence: UInt32, to address: SocketAddress?) {
    guard let address, let id = try? reactor.send(bytes, to: address, from: clockSocket) else {
      return
    }
    requests.note(id, for: sequence)
  }

  private func sendAsk(_ bytes: [UInt8], to address: SocketAddress?) {
    if let address { _ = try? reactor.send(bytes, to: address, from: liveSocket) }
  }

  // MARK: - Discovery

  private func announce(port: UInt16) throws {
    log.notice("listening", "\(configuration.name) on port \(port)")
    guard configuration.announces else { return }
    let log = log
    do {
      publisher = try ServicePublisher(
        PublishedService(
          name: configuration.name, type: ReceiverAdvertisement.serviceType, port: port,
          text: text)
      ) { log.write($0) }
    } catch {
      throw StartFailure.unavailable("cannot be announced: \(error)")
    }
    watchForTwins(port: port)
  }

  /// Another receiver with this one's identity, such as one with a copied disk, hides one of the two from senders.
  private func watchForTwins(port: UInt16) {
    let (log, id) = (log, advertisement.id.hex)
    browser = try? ServiceBrowser(
      type: ReceiverAdvertisement.serviceType, identifierKey: "id"
    ) { event in
      guard case .found(let service) = event, service["id"]?.lowercased() == id,
        !service.isLocal || service.port != port
      else { return }
      log.twin(service)
    }
  }

  private var text: [TextPair] { advertisement.textRecord.map { TextPair($0.key, $0.value) } }

  private func advertise(isBusy: Bool) {
    advertisement.state = isBusy ? .busy : .free
  }

  private func announceAgain() {
    announced = advertisement
    publisher?.update(text: text)
  }

  // MARK: - Sound

  /// A wrong name in a setting is better known at the start than at the first music. On a thread of its own, for a sound
  /// server may hang.
  private func lookForDevice() {
    guard case .soundCard(let settings, _) = configuration.output else { return }
    let log = log
    let thread = try? RealtimeThread.start(name: "device check", priority: nil) {
      guard let error = ALSALibrary.obstacle(toOpening: settings.device) else { return }
      log.warning("no sound device", "\(error); it is tried again when there is something to play")
    }
    if let thread { thread.detach() }
  }

  private func noteStart(_ notice: RealtimeThread.Notice?) {
    if let notice { log.notice("output thread", "\(notice)") }
  }

  private func takeFromOutput() {
    noteStart(output.startAgain(at: HostClock.now))
    for news in output.takeNews() {
      switch news {
      case .opened(let chain): opened(chain)
      case .unavailable(let reason): handle(.deviceLost(reason: reason))
      case .lost: handle(.deviceLost(reason: "the sound device went away"))
      case .ended(let reason):
        exitFailure = StartFailure(
          description: "\(reason); what was recorded is complete", code: 74)
        isStopping = true
      }
    }
    for news in hardwareVolume?.takeNews() ?? [] {
      switch news {
      case .gain(let gain): output.send(.gain(gain))
      case .failed(let reason): log.warning("no hardware volume", reason)
      }
    }
    for report in output.takeReports() { handle(.rendered(report)) }
  }

  private func opened(_ chain: SoundOutput.Chain) {
    log.notice("device", "\(chain.description)")
    hardwareVolume?.use(chain.description.device)
    let device = OutputDevice(
      format: AudioFormat(
        sampleRate: chain.description.sampleRate, channelCount: LatencyProfile.renderedChannels),
      commitHorizon: chain.description.traits.commitHorizon,
      writtenAhead: configuration.output.writtenAhead(chain.description.traits))
    handle(.deviceOpened(device, ring: chain.ring))
  }

  private func render(_ command: RenderCommand) {
    guard case .gain(let gain) = command, let hardwareVolume else { return output.send(command) }
    if let gain = hardwareVolume.gain(toReach: gain) { output.send(.gain(gain)) }
  }
}

extension ReceiverConfiguration {
  fileprivate func hardwareVolume(
    wake: @escaping @Sendable () -> Void
  ) throws(IOError) -> HardwareVolume? {
    guard case .soundCard(_, let choice) = output, choice != .none else { return nil }
    return try HardwareVolume(choice, wake: wake)
  }
}

extension LocalToken {
  /// Of the receiver with this identifier.
  fileprivate static func own(_ id: Identifier) -> LocalToken {
    LocalToken(directory: directories[0], name: id.hex)
  }

  /// Without it, senders of this user have to pair as others do.
  fileprivate func made(_ log: ReceiverLog) -> [UInt8]? {
    do throws(IOError) {
      return try renew()
    } catch {
      log.warning("players of this user on this machine must be paired as others", "\(error)")
      return nil
    }
  }
}

@Sendable private func decodableCodecs() -> [Codec] {
  [Codec.pcm] + AudioCodecs.decodable + (FFmpegDecoder.isInstalled ? FFmpegDecoder.decodable : [])
}

/// PCM is decoded here, the rest by libraries.
private func makeDecoder(_ format: StreamFormat) throws(CodecError) -> any AudioDecoder {
  switch format.codec {
  case .pcm: try PCMDecoder(format: format)
  case .flac, .opus: try AudioCodecs.makeDecoder(for: format)
  case .mp3, .aac, .alac, .vorbis, .ac3, .eac3: try FFmpegDecoder(format: format)
  }
}

extension ReceiverConfiguration.Output {
  /// A recording goes on in its file.
  fileprivate var isSoundCard: Bool { if case .soundCard = self { true } else { false } }

  /// How long before it is heard a frame must be there. What has no card takes back all that it has written ahead.
  fileprivate func writtenAhead(_ traits: CardTraits) -> Nanoseconds {
    isSoundCard ? traits.writtenAhead : LatencyProfile.pacedWrittenAhead
  }

  /// A recording goes on through silence; only a sound card is released for others.
  func idleTime(_ configured: Nanoseconds) -> Nanoseconds {
    switch self {
    case .soundCard: configured
    case .nowhere, .waveFile: .seconds(1 << 30)
    }
  }
}
