import ALSAOutput
import Audio
import Clock
import Glibc
import LinuxIO
import Output
import Receiver
import Synchronization

/// The output thread with all that belongs to it: made when the session asks for the device, gone when it is
/// closed. Each time the device is opened there are a new ring and new queues. Nothing here waits for a device.
final class SoundOutput {
  /// What one opened device and the session share.
  struct Chain: Sendable {
    let description: DeviceDescription
    let ring: FrameRing
    let commands: RenderQueue<RenderCommand>
    let reports: RenderQueue<RenderReport>
  }

  typealias Handover = OutputHandover<Chain>

  /// Above the clock's and the network's threads, below the kernel's own.
  private static let priority: Int32 = 70
  /// A system without a thread to spare is asked again.
  private static let startPause = Nanoseconds.seconds(1)

  private let choice: ReceiverSettings.Output
  private let storedDrift: Double?
  private let wake: @Sendable () -> Void
  private var handover: Handover?
  /// When to start the thread, and for which sample rate, where it could not be started.
  private var retry: (at: LocalTime, rate: Int, profile: LatencyProfile)?
  /// Threads that were told to stop, or are at work.
  private var threads: [ThreadEnd] = []
  private var chain: Chain?
  private var unsent = RenderBacklog()

  /// Whether an output thread has let go of its device.
  private final class ThreadEnd: Sendable {
    let isReached = Atomic<Bool>(false)
  }

  init(
    _ choice: ReceiverSettings.Output, storedDrift: Double?,
    wake: @escaping @Sendable () -> Void
  ) {
    self.choice = choice
    self.storedDrift = storedDrift
    self.wake = wake
  }

  /// Starts the thread; returns why it runs without real-time priority, if it does.
  func open(rate: Int, _ profile: LatencyProfile, at now: LocalTime) -> RealtimeThread.Notice? {
    close()
    handover = Handover(wake: wake)
    return start(rate: rate, profile, at: now)
  }

  /// When `startAgain` has something to do.
  var deadline: LocalTime? { retry?.at }

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
    do throws(IOError) {
      let thread = try RealtimeThread.start(name: "output", priority: Self.priority) {
        // A thread that hangs in a device must let go of it first.
        while !earlier.allSatisfy({ $0.isReached.load(ordering: .acquiring) }),
          !handover.control.isStopping
        { usleep(5000) }
        if !handover.control.isStopping {
          choice.play(rate: rate, profile, handover: handover, storedDrift: drift)
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

  /// Tells the thread to stop, which takes it a period, or 50 ms while a device is awaited; longer where that hangs.
  func close() {
    handover?.control.stop()
    (handover, chain, retry) = (nil, nil, nil)
    unsent.removeAll()
  }

  /// Closes, and gives a recording the time to be complete. Not while others wait.
  func end() {
    close()
    let deadline = HostClock.now + .seconds(2)
    while HostClock.now < deadline, !threads.allSatisfy({ $0.isReached.load(ordering: .acquiring) })
    {
      usleep(1000)
    }
  }

  /// What became of the device. After `opened`, commands and reports are those of the new one.
  func takeNews() -> [Handover.News] {
    let news = handover?.takeNews() ?? []
    for case .opened(let newest) in news {
      chain = newest
      unsent.removeAll()
    }
    sendUnsent()
    return news
  }

  /// Hands a command to the render thread; keeps it for later where the queue is full.
  func send(_ command: RenderCommand) {
    unsent.append(command)
    sendUnsent()
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
      commands: .commands(), reports: .reports())
  }
}

extension ReceiverSettings.Output {
  /// The body of the output thread.
  fileprivate func play(
    rate: Int, _ profile: LatencyProfile, handover: SoundOutput.Handover, storedDrift: Double?
  ) {
    let clock: @Sendable () -> LocalTime = { HostClock.now }
    let control = handover.control
    let makeRenderer: @Sendable (DeviceDescription) -> Renderer = { device in
      let chain = SoundOutput.makeChain(for: device)
      handover.offer(chain)
      return Renderer(
        sampleRate: device.sampleRate, ring: chain.ring, commands: chain.commands,
        reports: chain.reports, device: device.traits.clockClass, storedDrift: storedDrift)
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
