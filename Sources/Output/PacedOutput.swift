import Audio
package import Clock

/// Plays a source without a sound card, at the pace of the host's clock: into a WAV file, or nowhere.
/// Stands in for `OutputThread`; the device that it makes up is exact and gives everything back that has
/// not been heard yet.
package struct PacedOutput<Source: RenderSource & ~Copyable>: ~Copyable {
  package enum Destination: Hashable, Sendable {
    case nowhere
    case wave(path: String, format: WaveFormat)
  }

  private let destination: Destination
  private let sampleRate: Int
  private let lead: Nanoseconds
  private let control: OutputControl
  private let clock: @Sendable () -> LocalTime
  private let makeSource: (DeviceDescription) -> Source

  /// As `OutputThread`'s, with a destination instead of a sound card.
  package init(
    _ destination: Destination, sampleRate: Int = 48_000, lead: Nanoseconds,
    control: OutputControl, clock: @escaping @Sendable () -> LocalTime,
    makeSource: @escaping (DeviceDescription) -> Source
  ) {
    self.destination = destination
    self.sampleRate = sampleRate
    self.lead = lead
    self.control = control
    self.clock = clock
    self.makeSource = makeSource
  }

  /// Plays until `control` is stopped or the file cannot be written, which `.ended` tells.
  package func run() {
    do throws(WaveFileError) {
      var device = try PacedDevice(
        destination.file(sampleRate), sampleRate: sampleRate, leadFrames: leadFrames)
      var source = makeSource(description)
      control.postOpened(description)
      let start = clock()
      source.deviceRestarted(at: DeviceFrame(0))
      while !control.isStopping {
        pause(for: LatencyProfile.pacedPeriod)
        try device.advance(&source, start: start, now: clock())
      }
      try device.finish()
    } catch {
      control.postFailure(error.description, .ended)
    }
  }

  private var leadFrames: Int { Int(lead.count) * sampleRate / 1_000_000_000 }

  private var description: DeviceDescription {
    let name =
      switch destination {
      case .nowhere: "null"
      case .wave(let path, _): "wav:\(path)"
      }
    return DeviceDescription(
      device: name, identity: "paced", sampleRate: sampleRate,
      channelCount: LatencyProfile.renderedChannels, format: .float32,
      periodFrames: sampleRate / 100, ringFrames: leadFrames,
      leadFrames: leadFrames, startFrames: 0, canRewind: true,
      positionTime: .reading, positionStep: 1)
  }
}

extension PacedOutput.Destination where Source: ~Copyable {
  fileprivate func file(_ sampleRate: Int) throws(WaveFileError) -> WaveFile? {
    guard case .wave(let path, let format) = self else { return nil }
    var file = try WaveFile(path: path, sampleRate: sampleRate, format: format)
    try file.flush()
    return file
  }
}

/// The sound card that `PacedOutput` makes up: a ring of frames that go to the file when they are heard.
struct PacedDevice: ~Copyable {
  private let sampleRate: Int
  private let ring: UnsafeMutablePointer<Float>
  private let ringFrames: Int
  private var file: WaveFile?
  /// Frames heard, and written ahead of that, since the start.
  private var heard: Int64 = 0
  private var written: Int64 = 0
  private var unflushed = 0

  init(_ file: consuming WaveFile?, sampleRate: Int, leadFrames: Int) {
    self.file = file
    self.sampleRate = sampleRate
    ringFrames = leadFrames
    ring = .allocate(capacity: 2 * ringFrames)
    ring.initialize(repeating: 0, count: 2 * ringFrames)
  }

  deinit { ring.deallocate() }

  /// Brings the device to `now`: lets go what has been heard, obeys, and fills up.
  mutating func advance(
    _ source: inout some RenderSource & ~Copyable, start: LocalTime, now: LocalTime
  ) throws(WaveFileError) {
    let due = Self.frames(in: now - start, at: sampleRate)
    source.observe(
      DeviceFrame(due), at: start + Self.span(of: due, at: sampleRate), uncertainty: .zero)
    if let wrong = source.takeCommands(at: now), wrong.index < written {
      written = max(wrong.index, heard)
      source.rewind(to: DeviceFrame(written))
    }
    // A machine that stood still catches up: the file has every frame, at its place.
    while heard < due {
      try release(min(due - heard, written - heard))
      fill(&source)
    }
    fill(&source)
  }

  mutating func finish() throws(WaveFileError) { try file?.flush() }

  private mutating func fill(_ source: inout some RenderSource & ~Copyable) {
    while written < heard + Int64(ringFrames) {
      let place = Int(written % Int64(ringFrames))
      let count = min(ringFrames - place, Int(heard - written) + ringFrames, sampleRate / 100)
      source.render(into: ring + 2 * place, frames: count)
      written += Int64(count)
    }
  }

  /// Lets the next `count` frames go to the file.
  private mutating func release(_ count: Int64) throws(WaveFileError) {
    let end = heard + count
    while heard < end {
      let place = Int(heard % Int64(ringFrames))
      let part = min(Int(end - heard), ringFrames - place)
      try file?.append(ring + 2 * place, count: part)
      heard += Int64(part)
      unflushed += part
    }
    if unflushed >= sampleRate {
      try file?.flush()
      unflushed = 0
    }
  }

  /// Divides first, so that no span overflows.
  private static func frames(in span: Nanoseconds, at sampleRate: Int) -> Int64 {
    let (seconds, rest) = span.count.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * Int64(sampleRate) + rest * Int64(sampleRate) / 1_000_000_000
  }

  private static func span(of frames: Int64, at sampleRate: Int) -> Nanoseconds {
    let (seconds, rest) = frames.quotientAndRemainder(dividingBy: Int64(sampleRate))
    return Nanoseconds(seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(sampleRate))
  }
}
