import ALSAOutput
import Audio
import Clock
import Glibc
import LinuxIO
import Output
import Pairing
import Receiver
import Synchronization

/// The output thread and everything that belongs to it. It exists from the time when the session asks for the device
/// until the device is closed. Each opening of the device gets a new ring and new queues. Nothing here waits for a
/// device.
final class SoundOutput {
  /// The objects that the session shares with one opened device.
  struct Chain: Sendable {
    let description: DeviceDescription
    let ring: FrameRing
    /// For what is mixed over the music.
    let clips: FrameRing
    let commands: RenderQueue<RenderCommand>
    let reports: RenderQueue<RenderReport>
  }

  typealias Handover = OutputHandover<Chain>

  /// Above the threads of the clock and the network, below the kernel's own.
  private static let priority: Int32 = 70
  /// Pause before another attempt if the system could not start a thread.
  private static let startPause = Nanoseconds.seconds(1)

  private let choice: ReceiverSettings.Output
  private let fir: ImpulseResponse?
  private let storedDrift: Double?
  private let wake: @Sendable () -> Void
  private var handover: Handover?
  /// Time, sample rate and profile of the next attempt to start the thread; nil if the last one succeeded.
  private var retry: (at: LocalTime, rate: Int, profile: LatencyProfile)?
  /// Threads that still run, including those that were told to stop.
  private var threads: [ThreadEnd] = []
  private var chain: Chain?
  private var unsent = RenderBacklog()
  /// True if a command was sent that is to be carried out at once.
  private var isUrgent = false
  /// The voice that says the PIN; nil while nothing is said.
  private var voice: Voice?

  /// Tells when an output thread has released its device.
  private final class ThreadEnd: Sendable {
    let isReached = Atomic<Bool>(false)
  }

  init(
    _ choice: ReceiverSettings.Output, _ fir: ImpulseResponse? = nil, storedDrift: Double?,
    wake: @escaping @Sendable () -> Void
  ) {
    self.choice = choice
    self.fir = fir
    self.storedDrift = storedDrift
    self.wake = wake
  }

  /// Starts the thread. Returns the reason if the thread runs without real-time priority.
  func open(rate: Int, _ profile: LatencyProfile, at now: LocalTime) -> RealtimeThread.Notice? {
    close()
    handover = Handover(wake: wake)
    return start(rate: rate, profile, at: now)
  }

  /// Time at which `startAgain` or `takeVoiceTrouble` must be called; nil if there is none.
  var deadline: LocalTime? { .earliest([retry?.at, voice?.endsAt]) }

  func startAgain(at now: LocalTime) -> RealtimeThread.Notice? {
    guard let retry, retry.at <= now else { return nil }
    return start(rate: retry.rate, retry.profile, at: now)
  }

  private func start(
    rate: Int, _ profile: LatencyProfile, at now: LocalTime
  ) -> RealtimeThread.Notice? {
    guard let handover else { return nil }
    retry = nil
    threads.removeAll { $0.isReached.load(ordering: .acquiring) }
    let (choice, drift, earlier, end) = (choice, storedDrift, threads, ThreadEnd())
    let fir = fir
    do throws(IOError) {
      let thread = try RealtimeThread.start(name: "output", priority: Self.priority) {
        if Self.wait(for: earlier, handover.control) {
          choice.play(rate: rate, profile, fir, handover: handover, storedDrift: drift)
        }
        end.isReached.store(true, ordering: .releasing)
      }
      threads.append(end)
      let notice = thread.notice
      thread.detach()
      return notice
    } catch {
      handover.control.postFailure("\(error)", .unavailable)
      retry = (now + Self.startPause, rate, profile)
      return nil
    }
  }

  /// Waits until earlier threads have released the device, in which they may hang. Returns false if this one is stopped
  /// meanwhile.
  private static func wait(for earlier: [ThreadEnd], _ control: OutputControl) -> Bool {
    while !control.isStopping {
      if earlier.allSatisfy({ $0.isReached.load(ordering: .acquiring) }) { return true }
      usleep(5000)
    }
    return false
  }

  // MARK: - The PIN

  /// Says the PIN, on a thread of its own, unless the device is in use.
  /// - Parameters:
  ///   - pin: called on that thread; nil if there is none.
  ///   - gain: 0...1.
  func say(_ pin: @escaping @Sendable () -> PIN?, gain: Float, at now: LocalTime) {
    guard handover == nil else { return }
    close()
    threads.removeAll { $0.isReached.load(ordering: .acquiring) }
    let voice = Voice(wake: wake, at: now)
    let (choice, earlier, end, handover) = (choice, threads, ThreadEnd(), voice.handover)
    do throws(IOError) {
      let thread = try RealtimeThread.start(name: "voice", priority: nil) {
        if Self.wait(for: earlier, handover.control) { choice.say(pin, gain: gain, handover) }
        end.isReached.store(true, ordering: .releasing)
      }
      threads.append(end)
      thread.detach()
    } catch {
      handover.control.postFailure("\(error)", .ended)
    }
    self.voice = voice
  }

  /// Ends the voice once all is said. Returns the reason if it could not be heard.
  func takeVoiceTrouble(at now: LocalTime) -> String? {
    let trouble = voice?.takeTrouble(at: now)
    if trouble != nil || voice?.endsAt ?? now <= now {
      voice?.stop()
      voice = nil
    }
    return trouble
  }

  // MARK: - Ending

  /// Tells the thread to stop. That takes one period, or 50 ms while the thread waits for a device, or longer if the
  /// device hangs.
  func close() {
    handover?.control.stop()
    (handover, chain, retry) = (nil, nil, nil)
    unsent.removeAll()
    voice?.stop()
    voice = nil
  }

  /// Closes the device, and waits until a recording is complete. Blocks, so do not call it while others wait.
  func end() {
    close()
    let deadline = HostClock.now + .seconds(2)
    while HostClock.now < deadline, !threads.allSatisfy({ $0.isReached.load(ordering: .acquiring) })
    {
      usleep(1000)
    }
  }

  /// Returns changes of the device. After `opened`, commands and reports belong to the new device.
  func takeNews() -> [Handover.News] {
    let news = handover?.takeNews() ?? []
    for case .opened(let newest) in news {
      chain = newest
      unsent.removeAll()
    }
    sendUnsent()
    return news
  }

  /// Sends a command to the render thread, or keeps it for later if the queue is full.
  func send(_ command: RenderCommand) {
    unsent.append(command)
    sendUnsent()
    isUrgent = isUrgent || command.isUrgent
  }

  /// Has the output thread carry out what was sent, all at once.
  func callIfUrgent() {
    if isUrgent { handover?.control.call() }
    isUrgent = false
  }

  private func sendUnsent() {
    guard unsent.count > 0 else { return }
    guard let chain else { return unsent.removeAll() }
    unsent.drain(chain.commands.send)
  }

  func takeReports() -> [RenderReport] {
    var reports: [RenderReport] = []
    while let report = chain?.reports.receive() { reports.append(report) }
    return reports
  }

  fileprivate static func makeChain(for device: DeviceDescription) -> Chain {
    Chain(
      description: device,
      ring: FrameRing(
        minimumCapacity: ReceiverSettings.profile.frameRing.frames(at: device.sampleRate),
        channelCount: LatencyProfile.renderedChannels),
      clips: FrameRing(
        minimumCapacity: LatencyProfile.clipRing.frames(at: device.sampleRate),
        channelCount: LatencyProfile.renderedChannels),
      commands: .commands(), reports: .reports())
  }
}

extension ReceiverSettings.Output {
  /// The body of the output thread.
  fileprivate func play(
    rate: Int, _ profile: LatencyProfile, _ fir: ImpulseResponse?,
    handover: SoundOutput.Handover, storedDrift: Double?
  ) {
    // Before the card is open: it may take longer than a card can wait.
    let fir = fir?.converted(to: rate)
    let clock: @Sendable () -> LocalTime = { HostClock.now }
    let control = handover.control
    let makeRenderer: @Sendable (DeviceDescription) -> Renderer = { device in
      let chain = SoundOutput.makeChain(for: device)
      handover.offer(chain)
      return Renderer(
        sampleRate: device.sampleRate, ring: chain.ring, commands: chain.commands,
        reports: chain.reports, device: device.traits.clockClass, storedDrift: storedDrift,
        clips: chain.clips, fir: fir?.converted(to: device.sampleRate))
    }
    switch self {
    case .soundCard(var settings, _):
      settings.sampleRate = rate
      if profile.latency != nil { settings.use(profile) }
      OutputThread<Renderer>(
        settings, control: control, clock: clock, makeSource: makeRenderer
      ).run()
    case .sink(let choice):
      PacedOutput<Renderer>(
        choice, sampleRate: rate, lead: profile.pacedLead, control: control, clock: clock,
        makeSource: makeRenderer
      ).run()
    }
  }
}
