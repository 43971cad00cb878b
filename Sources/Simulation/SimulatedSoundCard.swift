import Audio
import Clock
import Receiver

/// A sound card with its own crystal, and the loop that keeps it supplied as the real output loop does: wait for a
/// period, read the position, obey commands, render. A new one is made each time the device is opened.
final class SimulatedSoundCard {
  enum Ending { case fine, ranDry }

  let quality: CardQuality
  /// Random source of the card's host.
  private let random: Pointer<SplitMix64>
  private let crystal: Pointer<Oscillator>
  let ring: FrameRing
  let commands = RenderQueue<RenderCommand>.commands()
  let reports = RenderQueue<RenderReport>.reports()
  private var renderer: Renderer
  private var content: CardContent
  /// `startFrame` was due when the crystal had counted `startElapsed` seconds.
  private var startFrame: Int64 = 0
  private var startElapsed: Double
  private var heard: Int64 = 0
  /// Where writing was when it was last started, or when frames that were written had become wrong.
  private var unsteadyAt: Int64 = 0
  private(set) var underrunCount = 0

  init(
    _ quality: CardQuality, _ configuration: SimulatedGroup.Configuration,
    crystal: Pointer<Oscillator>, random: Pointer<SplitMix64>, storedDrift: Double?,
    at now: TrueTime
  ) {
    self.quality = quality
    self.crystal = crystal
    self.random = random
    let rate = TestSignal.sampleRate
    // Each packet takes a block of its own: the short packets of a live stream need as long a ring as in the real
    // program.
    let span =
      quality.profile.latency == nil ? quality.profile.frameRing : LatencyProfile.deep.frameRing
    ring = FrameRing(
      minimumCapacity: span.frames(at: rate),
      channelCount: configuration.channelCount)
    renderer = Renderer(
      sampleRate: rate, ring: ring, commands: commands, reports: reports,
      device: quality.traits.clockClass, storedDrift: storedDrift)
    content = CardContent(
      isExact: configuration.isExact, channelCount: configuration.channelCount)
    startElapsed = crystal.value.elapsed(at: now.seconds)
    start()
  }

  /// Length of a period. The first turn is due this long after the start.
  var period: Nanoseconds {
    Nanoseconds(Int64(quality.periodFrames) * 1_000_000_000 / Int64(TestSignal.sampleRate))
  }

  private func start() {
    content.appendSilence(min(quality.leadFrames, quality.startFrames))
    renderer.deviceRestarted(at: DeviceFrame(content.end))
  }

  // MARK: - Time

  /// Returns the number of frames that the card has sounded at `time`, if it was supplied.
  func position(at time: TrueTime) -> Double {
    let seconds = crystal.value.elapsed(at: time.seconds) - startElapsed
    return Double(startFrame) + seconds * Double(TestSignal.sampleRate)
  }

  func time(of frame: Int64) -> TrueTime {
    let seconds = Double(frame - startFrame) / Double(TestSignal.sampleRate)
    return TrueTime(seconds: crystal.value.time(ofElapsed: startElapsed + seconds))
  }

  private var turnFrames: Int { quality.traits.turnFrames(after: content.end - unsteadyAt) }

  /// True if a command need not wait for the end of a period.
  var rests: Bool { turnFrames > quality.periodFrames }

  /// Returns when the output thread takes its next turn, which is at the end of a period.
  func nextTurn(after time: TrueTime) -> TrueTime {
    let period = Int64(turnFrames)
    let frame = Int64(position(at: time)) - startFrame
    return max(self.time(of: startFrame + (frame / period + 1) * period), time + Nanoseconds(1000))
  }

  // MARK: - The loop

  func turn(at now: TrueTime, host: inout SimulatedHost, listener: RoomListener) -> Ending {
    let position = position(at: now)
    tellHeard(until: position, listener)
    guard position < Double(content.end) else {
      restart(at: now)
      return .ranDry
    }
    observe(at: now, position: position, host: &host)
    takeBack(at: host.local(at: now), position: Int64(position))
    supply(upTo: Int64(position) + Int64(quality.leadFrames))
    return .fine
  }

  /// Tells what the card has sounded at `time`.
  func tellHeard(at time: TrueTime, _ listener: RoomListener) {
    tellHeard(until: position(at: time), listener)
  }

  private func tellHeard(until position: Double, _ listener: RoomListener) {
    let end = max(heard, min(Int64(position), content.end))
    listener.heard(heard..<end, of: content, by: self)
    heard = end
    content.forget(before: heard - 1)
  }

  private func restart(at now: TrueTime) {
    underrunCount += 1
    startFrame = content.end
    startElapsed = crystal.value.elapsed(at: now.seconds)
    unsteadyAt = startFrame
    start()
  }

  private func observe(at now: TrueTime, position: Double, host: inout SimulatedHost) {
    var frame = Int64(position)
    var late: Double
    switch quality.granularity {
    case .exact:
      late = random.value.uniform(0...1e-6)
    case .fine:
      late = random.value.uniform(-21e-6...21e-6) + random.value.normal(deviation: 2e-6)
    case .edge:
      let period = Int64(quality.periodFrames)
      frame = startFrame + (frame - startFrame) / period * period
      late = random.value.gamma(shape: 2, scale: 4e-6) - 8e-6
      if random.value.chance(0.01) { late += random.value.exponential(mean: 80e-6) }
    case .usb:
      late = random.value.uniform(-0.5e-3...0.5e-3)
    }
    guard frame > startFrame else { return }
    let stamp = host.local(at: time(of: frame) + Nanoseconds(seconds: late))
    renderer.observe(DeviceFrame(frame), at: stamp, uncertainty: Nanoseconds(0))
  }

  private func takeBack(at now: LocalTime, position: Int64) {
    guard let wrong = renderer.takeCommands(at: now), wrong.index < content.end else { return }
    unsteadyAt = content.end
    if quality.canRewind {
      let safe = position + Int64(TestSignal.sampleRate / 100)
      content.rewind(to: min(content.end, max(wrong.index, safe)))
    }
    renderer.rewind(to: DeviceFrame(content.end))
  }

  private func supply(upTo end: Int64) {
    while content.end < end {
      let count = min(Int(end - content.end), quality.periodFrames)
      if content.isExact {
        unsafe content.appendSamples(count) { unsafe renderer.render(into: $0, frames: count) }
      } else {
        renderer.plan(frames: count) { run, isWhole in content.append(run, isWhole: isWhole) }
      }
    }
  }
}

package struct CardQuality: Sendable {
  package enum Granularity: String, Sendable, CaseIterable {
    /// Frame by frame, and read until it moves.
    case exact
    /// In steps of two frames of 48 kHz, with a stamp.
    case fine
    /// At the ends of periods, with the interrupt's stamp.
    case edge
    /// In steps of a USB frame, at any time.
    case usb
  }

  package var crystal: Oscillator.Quality
  package var granularity = Granularity.fine
  package var periodFrames = TestSignal.sampleRate / 100
  package var canRewind = true
  var profile = LatencyProfile.deep
  /// Equal to that of the real driver.
  var leadFrames: Int {
    canRewind
      ? MediaDuration(profile.rewindableLead).frames(at: TestSignal.sampleRate) : startFrames
  }
  var startFrames: Int { MediaDuration(profile.fixedLead).frames(at: TestSignal.sampleRate) }

  package init(crystal: Oscillator.Quality) { self.crystal = crystal }

  /// Adopts a profile. A live stream has periods of its own.
  mutating func use(_ profile: LatencyProfile) {
    self.profile = profile
    guard profile.latency != nil else { return }
    periodFrames = MediaDuration(profile.period).frames(at: TestSignal.sampleRate)
  }

  var traits: CardTraits {
    CardTraits(
      sampleRate: TestSignal.sampleRate, periodFrames: periodFrames, leadFrames: leadFrames,
      canRewind: canRewind, positionTime: granularity.positionTime,
      positionStep: granularity == .edge ? periodFrames : granularity == .usb ? 48 : 1)
  }
}

extension CardQuality.Granularity {
  fileprivate var positionTime: CardTraits.PositionTime {
    switch self {
    case .exact: .watched
    case .fine, .edge: .stamped
    case .usb: .read
    }
  }
}

/// A value that several parts of the simulation change.
final class Pointer<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}
