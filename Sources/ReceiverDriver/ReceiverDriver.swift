import ALSAOutput
import Audio
package import Clock
import Codecs
package import LinuxIO
import OpenSSLSecurity
import Output
package import Pairing
package import Receiver
package import WireProtocol

/// Drives a `ReceiverSession` with its output, over any kind of lines to its senders. A member of an `EventLoop`, used
/// on that loop's thread only. The output thread is the only other thread that matters.
package final class ReceiverDriver: LoopMember {
  /// The receiver's identity and stored state, apart from its settings.
  package struct Identity {
    package var id: Identifier
    package var memory = ReceiverMemory()
    package var trust = TrustMemory()
    /// The secret in a file that only this machine's user can read; a sender that knows it needs no pairing. Nil if
    /// there is none.
    package var token: [UInt8]?

    package init(id: Identifier) { self.id = id }
  }

  /// Called for outputs of the session that the driver does not handle: storing, announcing and displaying.
  package var onOutput: (ReceiverSession.Output) -> Void = { _ in }
  /// The reason why the output has ended for good; nil while it works.
  package private(set) var ending: String?
  private var session: ReceiverSession
  private let lines: any ReceiverLines
  private let journal: any ReceiverJournal
  private let choice: ReceiverSettings.Output
  private let output: SoundOutput
  /// Nil if the renderer applies the volume.
  private let hardwareVolume: HardwareVolume?
  private var suspends = SuspendDetector()
  /// Reads the PIN, on any thread; nil if this receiver never says it.
  private let readPIN: (@Sendable () -> PIN?)?

  /// - Parameter readPIN: may block; called on a thread of its own. Nil if this receiver never says its PIN.
  package init(
    _ settings: ReceiverSettings, _ identity: Identity, lines: any ReceiverLines,
    waker: Waker, _ journal: any ReceiverJournal, readPIN: (@Sendable () -> PIN?)? = nil
  ) throws(IOError) {
    self.readPIN = readPIN
    self.lines = lines
    self.journal = journal
    choice = settings.output
    output = SoundOutput(choice, settings.fir, storedDrift: identity.memory.deviceDrift) {
      waker.wake()
    }
    hardwareVolume = try choice.hardwareVolume { waker.wake() }
    session = ReceiverSession(
      .init(
        receiverID: identity.id, name: settings.name, model: settings.model,
        capacity: settings.capacity, codecs: Decoders.available(),
        remainingCodecs: Decoders.available,
        makeDecoder: { format throws(CodecError) in try Decoders.make(format) },
        idleTime: choice.idleTime(settings.idleTime), figuresInterval: settings.figuresInterval,
        profile: ReceiverSettings.profile, seed: try SystemRandom.number(),
        access: settings.access, whenBusy: settings.whenBusy, token: identity.token,
        arithmetic: SPAKE2(), cipher: DatagramSealing(), reopensDevice: choice.isSoundCard,
        canSpeak: readPIN != nil, playsClips: true, timeToPeak: settings.fir?.timeToPeak),
      memory: identity.memory, trust: identity.trust)
  }

  /// Releases the device, and waits until a recording is complete. Blocks, so do not call it while others wait.
  package func end() { output.end() }

  // MARK: - Event loop

  package var nextDeadline: LocalTime? {
    .earliest([Self.deadline(of: &session), output.deadline])
  }

  /// Read in place: a session that is only read would be copied at each turn.
  private static func deadline(of session: inout ReceiverSession) -> LocalTime? {
    session.nextDeadline
  }

  @discardableResult
  package func handle(_ event: ReactorEvent) -> Bool {
    lines.take(event) { handle($0) }
    return false
  }

  package func turn() {
    takeFromOutput()
    if suspends.suspendedSinceLastCall() != nil { handle(.resumedFromSuspend) }
    handle(.timeout)
  }

  // MARK: - Session

  package func handle(_ input: ReceiverSession.Input) {
    session.handle(input, at: HostClock.now)
    while let output = session.nextOutput() { perform(output) }
    self.output.callIfUrgent()
  }

  private func perform(_ output: ReceiverSession.Output) {
    switch output {
    case .send(let id, let bytes): lines.send(bytes, to: id)
    case .close(let id): lines.close(id)
    case .sendTimeRequest(let bytes, let sequence, let id, let port):
      let left = lines.sendTimeRequest(bytes, sequence: sequence, toHostOf: id, port: port)
      if let left { session.handle(.transmitted(sequence: sequence, at: left), at: HostClock.now) }
    case .sendAsk(let bytes, let id, let port): lines.sendAsk(bytes, toHostOf: id, port: port)
    case .openDevice(let rate, let profile):
      noteStart(self.output.open(rate: rate, profile, at: HostClock.now))
    case .closeDevice:
      self.output.close()
      hardwareVolume?.use(nil)
    case .render(let command): render(command)
    case .event(let event): journal.write(event)
    case .sayPIN(let gain): readPIN.map { self.output.say($0, gain: gain, at: HostClock.now) }
    case .advertise, .advertiseCodecs, .persist, .keepTrust, .nowPlaying: onOutput(output)
    }
  }

  // MARK: - Sound

  private func noteStart(_ notice: RealtimeThread.Notice?) {
    if let notice { journal.notice("output thread", "\(notice)") }
  }

  private func takeFromOutput() {
    let now = HostClock.now
    noteStart(output.startAgain(at: now))
    if let reason = output.takeVoiceTrouble(at: now) {
      journal.warning("the PIN was not heard", reason)
    }
    for news in output.takeNews() {
      switch news {
      case .opened(let chain): opened(chain)
      case .unavailable(let reason): handle(.deviceLost(reason: reason))
      case .lost: handle(.deviceLost(reason: "the sound device went away"))
      case .ended(let reason):
        ending = reason
        // The sender learns why the room is silent.
        handle(.deviceLost(reason: reason))
      }
    }
    for news in hardwareVolume?.takeNews() ?? [] {
      switch news {
      case .gain(let gain): output.send(.gain(gain))
      case .failed(let reason): journal.warning("no hardware volume", reason)
      }
    }
    for report in output.takeReports() { handle(.rendered(report)) }
  }

  private func opened(_ chain: SoundOutput.Chain) {
    journal.notice("device", "\(chain.description)")
    if let start = chain.description.startsAt {
      journal.notice("recording", "frame 0 at \(start.nanoseconds) ns of CLOCK_MONOTONIC_RAW")
    }
    hardwareVolume?.use(chain.description.device)
    let device = OutputDevice(
      format: AudioFormat(
        sampleRate: chain.description.sampleRate, channelCount: LatencyProfile.renderedChannels),
      commitHorizon: chain.description.traits.commitHorizon,
      writtenAhead: choice.writtenAhead(chain.description.traits))
    handle(.deviceOpened(device, ring: chain.ring, clips: chain.clips))
  }

  private func render(_ command: RenderCommand) {
    guard let hardwareVolume else { return output.send(command) }
    if case .clip(var clip) = command {
      clip.gain = hardwareVolume.gain(ofClip: clip.gain)
      return output.send(.clip(clip))
    }
    if case .gain(let gain) = command {
      if let gain = hardwareVolume.gain(toReach: gain) { output.send(.gain(gain)) }
      return
    }
    if case .sound(let sound) = command, let gain = hardwareVolume.follow(sound) {
      output.send(.gain(gain))
    }
    output.send(command)
  }
}

extension ReceiverSettings.Output {
  fileprivate func hardwareVolume(
    wake: @escaping @Sendable () -> Void
  ) throws(IOError) -> HardwareVolume? {
    guard case .soundCard(_, let choice) = self, choice != .none else { return nil }
    return try HardwareVolume(choice, wake: wake)
  }
}
