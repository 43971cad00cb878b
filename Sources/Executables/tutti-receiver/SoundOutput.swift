import ALSAOutput
import Audio
import Clock
import LinuxIO
import Receiver
import Synchronization

/// The output thread with all that belongs to it: made when the session asks for the device, gone when it is
/// closed. Each time the device is opened there are a new ring and new queues.
final class SoundOutput {
  /// What one opened device and the session share.
  struct Chain: Sendable {
    let description: DeviceDescription
    let ring: FrameRing
    let commands: RenderQueue<RenderCommand>
    let reports: RenderQueue<RenderReport>
  }

  /// Decoded frames that fit: more than the session decodes ahead, and what may be rendered again.
  private static let ringTime = 3
  /// Above the clock's and the network's threads, below the kernel's own.
  private static let priority: Int32 = 70

  private let configuration: ReceiverConfiguration.Output
  private let storedDrift: Double?
  private let wake: @Sendable () -> Void
  private let opened = Opened()
  private var thread: RealtimeThread?
  private(set) var control: OutputControl?
  private(set) var chain: Chain?
  private var unsent: [RenderCommand] = []

  /// Chains on their way from the output thread, newest last.
  private final class Opened: Sendable {
    let chains = Mutex<[Chain]>([])
  }

  init(
    _ configuration: ReceiverConfiguration.Output, storedDrift: Double?,
    wake: @escaping @Sendable () -> Void
  ) {
    self.configuration = configuration
    self.storedDrift = storedDrift
    self.wake = wake
  }

  /// Starts the thread; returns why it runs without real-time priority, if it does.
  func open(rate: Int) throws(IOError) -> RealtimeThread.Notice? {
    close()
    let control = OutputControl(wake: wake)
    self.control = control
    let (configuration, opened, drift) = (configuration, opened, storedDrift)
    let makeRenderer: @Sendable (DeviceDescription) -> Renderer = { device in
      let chain = Chain(
        description: device,
        ring: FrameRing(
          minimumCapacity: device.sampleRate * Self.ringTime, channelCount: 2),
        commands: .commands(), reports: .reports())
      opened.chains.withLock { $0.append(chain) }
      return Renderer(
        sampleRate: device.sampleRate, ring: chain.ring, commands: chain.commands,
        reports: chain.reports, device: device.clockClass, storedDrift: drift)
    }
    let thread = try RealtimeThread.start(name: "output", priority: Self.priority) {
      configuration.play(rate: rate, control: control, makeRenderer: makeRenderer)
    }
    let notice = thread.notice
    self.thread = consume thread
    return notice
  }

  /// Stops the thread and waits for it: at most a period, or 50 ms while a device is awaited.
  func close() {
    control?.stop()
    if let thread = thread.take() { thread.join() }
    (control, chain) = (nil, nil)
    unsent = []
    opened.chains.withLock { $0.removeAll() }
  }

  /// The newest device, once after it was opened.
  func takeOpened() -> Chain? {
    let newest = opened.chains.withLock { chains in
      defer { chains.removeAll() }
      return chains.last
    }
    if let newest {
      chain = newest
      unsent = []
    }
    return newest
  }

  /// Hands a command to the render thread; keeps it for later where the queue is full.
  func send(_ command: RenderCommand) {
    unsent.append(command)
    retry()
  }

  func retry() {
    guard let chain else { return unsent.removeAll() }
    while let first = unsent.first, chain.commands.send(first) { unsent.removeFirst() }
  }

  func takeReports() -> [RenderReport] {
    var reports: [RenderReport] = []
    while let report = chain?.reports.receive() { reports.append(report) }
    return reports
  }
}

extension DeviceDescription {
  /// How the renderer should read this card's positions.
  fileprivate var clockClass: RenderClock.DeviceClass {
    if movesAreWatched { return .exact }
    if positionStep <= 8 { return .fine }
    guard positionTime == .reading else { return .edge }
    return .coarse
  }
}

extension ReceiverConfiguration.Output {
  /// The body of the output thread.
  fileprivate func play(
    rate: Int, control: OutputControl,
    makeRenderer: @escaping @Sendable (DeviceDescription) -> Renderer
  ) {
    let clock: @Sendable () -> LocalTime = { HostClock.now }
    switch self {
    case .soundCard(var settings, _):
      settings.sampleRate = rate
      OutputThread<Renderer>(
        settings, control: control, clock: clock, makeSource: makeRenderer
      ).run()
    case .nowhere:
      PacedOutput<Renderer>(
        .nowhere, sampleRate: rate, control: control, clock: clock, makeSource: makeRenderer
      ).run()
    case .waveFile(let path):
      PacedOutput<Renderer>(
        .wave(path: path, format: .float32), sampleRate: rate, control: control, clock: clock,
        makeSource: makeRenderer
      ).run()
    }
  }
}
