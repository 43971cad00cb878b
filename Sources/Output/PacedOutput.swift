import Audio
package import Clock

/// Plays a source into a sink without a sound card, at the pace of the host's clock. It replaces `OutputThread`. The
/// device that it simulates is exact, and can take back every frame that the sink does not have yet.
package struct PacedOutput<Source: RenderSource & ~Copyable>: ~Copyable {
  private let choice: SinkChoice
  private let sampleRate: Int
  private let lead: Nanoseconds
  private let control: OutputControl
  private let clock: @Sendable () -> LocalTime
  private let makeSource: (DeviceDescription) -> Source

  /// Takes the arguments of `OutputThread`, with a sink instead of a sound card. `lead` is the time that is rendered
  /// ahead of the sink.
  package init(
    _ choice: SinkChoice, sampleRate: Int = 48_000, lead: Nanoseconds, control: OutputControl,
    clock: @escaping @Sendable () -> LocalTime,
    makeSource: @escaping (DeviceDescription) -> Source
  ) {
    self.choice = choice
    self.sampleRate = sampleRate
    self.lead = lead
    self.control = control
    self.clock = clock
    self.makeSource = makeSource
  }

  /// Plays until `control` is stopped, or until the sink fails, which `.ended` reports.
  package func run() {
    do throws(SinkError) {
      let sink = try choice.make(sampleRate)
      let start = clock()
      let description = description(start)
      var source = makeSource(description)
      control.postOpened(description)
      var device = PacedDevice(
        sink, sampleRate: sampleRate, leadFrames: frames(lead), ahead: choice.ahead,
        start: start)
      source.deviceRestarted(at: DeviceFrame(0))
      while !control.isStopping {
        pause(for: LatencyProfile.pacedPeriod)
        try device.advance(&source, now: clock())
      }
      try sink?.finish()
    } catch {
      control.postFailure(error.description, .ended)
    }
  }

  private func frames(_ span: Nanoseconds) -> Int { Int(span.count) * sampleRate / 1_000_000_000 }

  /// Describes the simulated device. If the sink takes frames ahead, the device cannot rewind, because frames that the
  /// sink has cannot be taken back.
  private func description(_ start: LocalTime) -> DeviceDescription {
    let isLate = choice.ahead > .zero
    let lead = frames(isLate ? choice.ahead : lead)
    return DeviceDescription(
      device: choice.name, identity: "paced", sampleRate: sampleRate,
      channelCount: LatencyProfile.renderedChannels, format: .float32,
      periodFrames: frames(LatencyProfile.pacedPeriod), ringFrames: lead, leadFrames: lead,
      startFrames: 0, canRewind: !isLate, positionTime: .reading, positionStep: 1,
      startsAt: start)
  }
}

/// The sound card that `PacedOutput` simulates: a ring of frames, each of which goes to the sink when its time has
/// come.
struct PacedDevice: ~Copyable {
  private let sink: (any FrameSink)?
  private let sampleRate: Int
  private let ahead: Nanoseconds
  /// The time at which frame 0 is heard.
  private let start: LocalTime
  private let ring: UnsafeMutablePointer<Float>
  private let ringFrames: Int
  /// Numbers of frames passed to the sink, and of frames rendered, since the start.
  private var released: Int64 = 0
  private var written: Int64 = 0

  init(
    _ sink: (any FrameSink)?, sampleRate: Int, leadFrames: Int, ahead: Nanoseconds,
    start: LocalTime
  ) {
    self.sink = sink
    self.sampleRate = sampleRate
    self.ahead = ahead
    self.start = start
    ringFrames = leadFrames
    ring = .allocate(capacity: 2 * ringFrames)
    ring.initialize(repeating: 0, count: 2 * ringFrames)
  }

  deinit { ring.deallocate() }

  /// Brings the device to `now`: takes commands, passes frames that are due to the sink, and renders new ones.
  mutating func advance(
    _ source: inout some RenderSource & ~Copyable, now: LocalTime
  ) throws(SinkError) {
    let heard = frames(in: now - start)
    source.observe(DeviceFrame(heard), at: time(of: heard), uncertainty: .zero)
    if let wrong = source.takeCommands(at: now), wrong.index < written {
      written = max(wrong.index, released)
      source.rewind(to: DeviceFrame(written))
    }
    // After a stall of the machine the sink still gets every frame, at its place.
    let due = frames(in: now + ahead - start)
    while released < due {
      try release(min(due - released, written - released), source)
      fill(&source)
    }
    fill(&source)
  }

  private mutating func fill(_ source: inout some RenderSource & ~Copyable) {
    while written < released + Int64(ringFrames) {
      let place = Int(written % Int64(ringFrames))
      let count = min(ringFrames - place, Int(released - written) + ringFrames, sampleRate / 100)
      source.render(into: ring + 2 * place, frames: count)
      written += Int64(count)
    }
  }

  /// Passes the next `count` frames to the sink.
  private mutating func release(
    _ count: Int64, _ source: borrowing some RenderSource & ~Copyable
  ) throws(SinkError) {
    let end = released + count
    while released < end {
      let place = Int(released % Int64(ringFrames))
      let part = min(Int(end - released), ringFrames - place)
      let time = time(of: released)
      try sink?.take(
        SoundingFrames(
          samples: UnsafeBufferPointer(start: ring + 2 * place, count: 2 * part),
          localTime: time, groupTime: source.groupTime(at: time)))
      released += Int64(part)
    }
  }

  /// Divides first, so that no span can overflow.
  private func frames(in span: Nanoseconds) -> Int64 {
    let (seconds, rest) = span.count.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * Int64(sampleRate) + rest * Int64(sampleRate) / 1_000_000_000
  }

  private func time(of frame: Int64) -> LocalTime {
    let (seconds, rest) = frame.quotientAndRemainder(dividingBy: Int64(sampleRate))
    return start + Nanoseconds(seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(sampleRate))
  }
}
