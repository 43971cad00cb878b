import ALSAOutput
import Audio
import Clock
import Glibc
import Output
import Receiver
import Synchronization

/// Plays through a sound card for some seconds, on this thread. Linked with RealtimeSanitizer by
/// `run.sh`, it ends with the stack of any call that allocates, locks or waits in the wrong place.
///
///     RealtimeTests DEVICE SECONDS [allocate]
///
/// `allocate` makes a deliberate mistake, to check that the sanitizer finds it.
@main enum RealtimeTests {
  static func main() {
    let words = CommandLine.arguments
    guard words.count >= 3, let seconds = Int64(words[2]), seconds > 0 else {
      print("usage: RealtimeTests DEVICE SECONDS [allocate]")
      exit(2)
    }
    ALSALibrary.configure()
    askForPriority()
    let control = OutputControl {}
    let misbehaves = words.dropFirst(3).contains("allocate")
    // The loop asks for the time outside of what is watched, where it may be told to end: telling it writes to a pipe.
    let end = Atomic<Int64>(.max)
    let clock: @Sendable () -> LocalTime = {
      let time = now()
      if time.nanoseconds >= end.load(ordering: .relaxed) { control.stop() }
      return time
    }
    OutputThread(OutputSettings(device: words[1]), control: control, clock: clock) { device in
      end.store(now().nanoseconds + seconds * 1_000_000_000, ordering: .relaxed)
      let (commands, clips) = clip(rate: device.sampleRate)
      return WatchedSource(
        renderer: Renderer(
          sampleRate: device.sampleRate,
          ring: FrameRing(minimumCapacity: 2 * device.sampleRate, channelCount: 2),
          commands: commands, reports: .reports(), device: .fine, storedDrift: nil, clips: clips,
          fir: filter(rate: device.sampleRate)),
        commands: commands, misbehaves: misbehaves)
    }.run()
    report(control, seconds: seconds)
  }

  /// A clip that begins after half a second and lasts for one: its mixing is watched, too.
  private static func clip(rate: Int) -> (RenderQueue<RenderCommand>, FrameRing) {
    let ring = FrameRing(minimumCapacity: 2 * rate, channelCount: 2)
    var writer = FrameRingWriter(ring)
    let samples = [Float](repeating: 0.1, count: 2 * rate)
    _ = writer.write(samples.span, at: 0, generation: 1)
    let (commands, time) = (RenderQueue<RenderCommand>.commands(), now())
    let group = GroupTime(nanoseconds: time.nanoseconds)
    _ = commands.send(
      .clock(
        ClockEstimate(local: time, group: group, drift: 0, errorBound: .zero), isStep: false))
    _ = commands.send(
      .clip(
        RenderedClip(
          number: 1, from: .zero, until: .zero + .seconds(1), begins: group + .milliseconds(500),
          ends: group + .milliseconds(1_500), gain: 1, musicGain: 0.25,
          ramp: .milliseconds(200))))
    return (commands, ring)
  }

  /// A filter of linear phase.
  private static func filter(rate: Int) -> ImpulseResponse? {
    let sinc = KaiserSinc(halfWidth: 2_000, cutoff: 0.3, beta: 8)
    return ImpulseResponse(
      rate: rate, channels: [sinc.coefficients(count: 4_001, centre: 2_000)])
  }

  private static func report(_ control: OutputControl, seconds: Int64) {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    let time =
      Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6
    if let failure = control.failure { print(failure) }
    if let device = control.device { print(device) }
    print(
      "underruns \(control.underruns), rewinds \(control.rewinds), readings rejected "
        + "\(control.rejected), CPU \(time * 100 / Double(seconds)) % of a core")
  }

  /// Without permission it plays at normal priority, which makes no difference to the sanitizer.
  private static func askForPriority() {
    var parameters = sched_param()
    parameters.sched_priority = 60
    sched_setscheduler(0, SCHED_FIFO, &parameters)
  }

  private static func now() -> LocalTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_RAW, &time)
    return LocalTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}

/// The renderer, with an occasional command that takes frames back.
private struct WatchedSource: RenderSource, ~Copyable {
  private static let turnsBetweenCommands = 37
  private static let turnsBetweenSounds = 23

  var renderer: Renderer
  let commands: RenderQueue<RenderCommand>
  let misbehaves: Bool
  private let program = WatchedSource.program()
  private var turns = 0
  private var rendered: Int64 = 0

  init(
    renderer: consuming Renderer, commands: RenderQueue<RenderCommand>, misbehaves: Bool
  ) {
    self.renderer = renderer
    self.commands = commands
    self.misbehaves = misbehaves
  }

  mutating func takeCommands(at now: LocalTime) -> DeviceFrame? {
    turns += 1
    changeSound()
    let wrong = renderer.takeCommands(at: now)
    return turns % Self.turnsBetweenCommands == 0 ? DeviceFrame(max(0, rendered - 2000)) : wrong
  }

  /// Does what the session's thread does elsewhere: bands and the FIR filter come and go.
  private func changeSound() {
    guard turns % Self.turnsBetweenSounds == 0 else { return }
    let number = turns / Self.turnsBetweenSounds
    _ = commands.send(number % 2 == 0 ? .sound(SoundProgram()) : .sound(program))
    _ = commands.send(.useFIR(number % 6 < 4))
  }

  private static func program() -> SoundProgram {
    var setting = SoundSetting()
    setting.bands = (0..<8).map {
      SoundBand(.peak, frequency: Double(60 << $0), gain: 3, q: 2)
    }
    (setting.bass, setting.hasLoudness, setting.hasCrossfeed) = (4, true, true)
    setting.crossover = Crossover(.high, frequency: 60)
    return SoundProgram(setting, rate: 48_000, attenuation: 20)
  }

  func groupTime(at time: LocalTime) -> GroupTime? { renderer.groupTime(at: time) }

  mutating func rewind(to frame: DeviceFrame) {
    rendered = frame.index
    renderer.rewind(to: frame)
  }

  mutating func observe(_ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds) {
    renderer.observe(frame, at: time, uncertainty: uncertainty)
  }

  mutating func deviceRestarted(at frame: DeviceFrame) {
    rendered = frame.index
    renderer.deviceRestarted(at: frame)
  }

  mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int) {
    renderer.render(into: out, frames: frames)
    if misbehaves { free(malloc(frames)) }
    rendered += Int64(frames)
  }
}
