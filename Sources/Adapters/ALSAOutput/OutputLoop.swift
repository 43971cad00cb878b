import CALSA
import Clock
import Glibc
import Output
import Receiver

/// Keeps one running card supplied. Made and run on the output thread; allocates only when made.
struct OutputLoop: ~Copyable {
  enum Ending: Equatable {
    case stopped
    /// The card is gone; `code` is a negative `errno`.
    case lost(code: Int32)
  }

  /// Frames are rewound no closer to the card's pointer than one second divided by this, because the card may have
  /// fetched that much already, plus one step of its position.
  private static let rewindSafety = 100

  /// How often a card is started, at most, to learn how it reports its position.
  private static let probes = 3

  private let pcm: PCMDevice
  private let device: DeviceDescription
  private let control: OutputControl
  private let clock: @Sendable () -> LocalTime
  private let marks = RealtimeMarks()
  private var positions: PositionReader
  private var writer: SampleWriter
  /// Frames written since the card was opened, and those of them when it was last started anew.
  private var written: Int64
  private var restartedAt: Int64?
  /// Frames written when it was last started, or when frames that were written had become wrong.
  private var unsteadyAt: Int64 = 0

  /// Opens the card, starts it with silence and watches what it can do.
  init(
    opening settings: OutputSettings, control: OutputControl,
    clock: @escaping @Sendable () -> LocalTime
  ) throws(ALSAError) {
    let setup = try DeviceSetup(settings)
    let pcm = try PCMDevice(opening: settings.device)
    var device = try setup.apply(to: pcm)
    let writer = SampleWriter(
      device.format, channelCount: device.channelCount, capacity: device.periodFrames)
    var silence: Int32 = 0
    let asked = device
    for _ in 0..<Self.probes {
      silence += try pcm.check(
        Self.startSilent(pcm, writer, frames: asked.startFrames), "snd_pcm_start")
      device = asked
      if DeviceProbe.refine(&device, watching: pcm) { break }
      // It ran dry on a machine that stood still meanwhile.
      try pcm.check(pcm.prepare(), "snd_pcm_prepare")
    }
    try setup.keepLead(on: pcm, &device)
    self.control = control
    self.clock = clock
    self.pcm = pcm
    self.writer = writer
    self.device = device
    positions = PositionReader(device, clock: clock)
    written = Int64(silence)
  }

  var description: DeviceDescription { device }

  /// Plays until it is stopped or the card is gone. `source` has not rendered for this card yet.
  mutating func run(_ source: inout some RenderSource & ~Copyable) -> Ending {
    source.deviceRestarted(at: DeviceFrame(written))
    while !control.isStopping {
      let code = turn(&source)
      if code < 0 { return .lost(code: code) }
    }
    return .stopped
  }

  /// One turn: wait, read the position, obey commands, supply frames. Negative if the card is gone.
  private mutating func turn(_ source: inout some RenderSource & ~Copyable) -> Int32 {
    var reading = positions.next(
      pcm, resting: rest, until: control, waiting: waitMilliseconds)
    if !reading.isPrecise, !positions.awaitsMove {
      control.countRejectedReading()
      reading = positions.read(pcm)
    }
    guard reading.code >= 0 else { return recover(from: reading.code, &source) }
    switch reading.status.state {
    case SND_PCM_STATE_RUNNING: break
    case SND_PCM_STATE_DISCONNECTED: return -ENODEV
    case SND_PCM_STATE_SUSPENDED: return recover(from: -ESTRPIPE, &source)
    default: return recover(from: -EPIPE, &source)
    }
    observe(reading, &source)
    var queued = device.ringFrames - reading.status.free
    queued -= takeBack(&source, queued: queued)
    return supply(&source, frames: device.leadFrames - queued)
  }

  /// How long the thread leaves the card alone before it waits for the next period.
  private var rest: Nanoseconds {
    let frames = device.traits.turnFrames(after: written - unsteadyAt) - device.periodFrames
    return Nanoseconds(Int64(frames) * 1_000_000_000 / Int64(device.sampleRate))
  }

  /// Long enough that a card that wakes nobody is still kept supplied.
  private var waitMilliseconds: Int32 {
    Int32(max(2, device.periodFrames * 2000 / device.sampleRate))
  }

  private func observe(
    _ reading: PositionReader.Reading, _ source: inout some RenderSource & ~Copyable
  ) {
    guard reading.isPrecise else { return }
    marks.enter()
    defer { marks.exit() }
    let heard = DeviceFrame(written - Int64(reading.status.delay))
    source.observe(heard, at: reading.at, uncertainty: reading.uncertainty)
  }

  /// Obeys the commands that wait; the number of frames taken back from the card.
  private mutating func takeBack(
    _ source: inout some RenderSource & ~Copyable, queued: Int
  ) -> Int {
    let now = clock()
    marks.enter()
    let wrong = source.takeCommands(at: now)
    marks.exit()
    guard let wrong, wrong.index < written else { return 0 }
    unsteadyAt = written
    var count = 0
    if device.canRewind {
      // Not more than is queued, so that the conversion is safe whatever `wrong` is.
      let frames = Int(min(written - max(wrong.index, 0), Int64(max(queued, 0))))
      count = pcm.rewind(
        frames: frames, keeping: device.sampleRate / Self.rewindSafety + device.positionStep)
      written -= Int64(count)
    }
    if count > 0 { control.countRewind() }
    marks.enter()
    source.rewind(to: DeviceFrame(written))
    marks.exit()
    return count
  }

  /// Renders and writes `frames`, a period at a time.
  private mutating func supply(
    _ source: inout some RenderSource & ~Copyable, frames: Int
  ) -> Int32 {
    var left = frames
    // A card that wakes too often would keep this thread from ever sleeping, and with its priority
    // everything else.
    if left < device.periodFrames / 4 { pause(for: .milliseconds(1)) }
    while left > 0 {
      let count = min(left, writer.capacity)
      marks.enter()
      source.render(into: writer.frames, frames: count)
      writer.convert(count)
      marks.exit()
      let taken = pcm.write(writer.bytes, frames: count)
      if taken < 0, taken != -Int(EAGAIN) {
        source.rewind(to: DeviceFrame(written))
        return recover(from: Int32(taken), &source)
      }
      written += Int64(max(taken, 0))
      if taken < count {
        source.rewind(to: DeviceFrame(written))
        return 0
      }
      left -= count
    }
    return 0
  }

  /// Starts the card anew after it ran dry or was suspended. Negative where it is gone.
  private mutating func recover(
    from failure: Int32, _ source: inout some RenderSource & ~Copyable
  ) -> Int32 {
    var code = failure
    if code == -ESTRPIPE { control.post(.suspended) }
    while code == -ESTRPIPE, !control.isStopping {
      // Some cards cannot resume, and then have to be prepared. Neither works while they sleep. What was
      // queued before is too late now, so that a card that did resume is started anew, too.
      if pcm.resume() != -EAGAIN { code = pcm.prepare() }
      if code == -ESTRPIPE { pause(for: .milliseconds(10)) }
    }
    guard code == -EPIPE || code >= 0 else { return code }
    // A card that runs dry over and over would keep this thread from ever sleeping.
    if let restartedAt, written - restartedAt < Int64(device.sampleRate) {
      pause(for: .milliseconds(5))
    }
    code = pcm.prepare()
    guard code >= 0 else { return code }
    let started = Self.startSilent(pcm, writer, frames: device.startFrames)
    guard started >= 0 else { return started }
    written += Int64(started)
    restartedAt = written
    unsteadyAt = written
    positions.restart()
    source.deviceRestarted(at: DeviceFrame(written))
    control.post(.underrun)
    return 0
  }

  /// Fills the prepared card with silence and starts it. The frames written, or a negative code.
  private static func startSilent(
    _ pcm: borrowing PCMDevice, _ writer: borrowing SampleWriter, frames: Int
  ) -> Int32 {
    writer.silence()
    var left = frames
    while left > 0 {
      let taken = pcm.write(writer.bytes, frames: min(left, writer.capacity))
      if taken < 0 { return Int32(taken) }
      left -= taken
    }
    let code = pcm.start()
    return code < 0 ? code : Int32(frames)
  }
}
