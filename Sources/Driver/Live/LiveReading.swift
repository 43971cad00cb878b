import ALSAOutput
import Audio
import Clock
import FFmpegSource
import LinuxIO
import Output
import Sender

/// The input of a feed: it gives an intake frames and their times of arrival. For one thread at a time.
protocol LiveReading: AnyObject {
  var format: AudioFormat { get }
  var sampleType: SampleType { get }
  /// The kind of clock, before anything has arrived.
  var clock: SourceClock { get }
  /// True if audio that waits at the start is kept.
  var keepsBacklog: Bool { get }

  /// Waits for frames until `deadline`, and hands them over. Returns false if the input has ended for good.
  ///
  /// - Throws: `MediaError` if the input is gone, and may come back.
  func read(into intake: LiveIntake, until deadline: LocalTime) throws(MediaError) -> Bool

  /// Lets go of an input that is gone, after which nobody reads it any more.
  func close()
}

extension LiveReading {
  func close() {}
}

/// Samples that a program writes.
final class PipeReading: LiveReading {
  /// Time that is read ahead of a program that writes as fast as it is read.
  private static let lead = Nanoseconds.milliseconds(10)
  /// Most bytes read at once: a second of stereo in 32 bits.
  private static let mostBytes = 384_000

  let format: AudioFormat
  let sampleType: SampleType
  let keepsBacklog: Bool
  private let reader: PipeReader
  private let name: String
  private let frameBytes: Int
  private var pacing: PipePacing
  /// Bytes that are not a whole frame yet.
  private var rest: [UInt8]
  private var hasBegun = false

  /// - Parameter header: bytes that were already read, after a header.
  init(
    _ reader: PipeReader, name: String, raw: RawFormat, header: [UInt8] = [], keepsBacklog: Bool
  ) {
    self.reader = reader
    self.name = name
    self.keepsBacklog = keepsBacklog
    format = raw.audio
    sampleType = raw.sampleType
    rest = header
    frameBytes = raw.audio.channelCount * raw.sampleType.format.byteCount
    pacing = PipePacing(sampleRate: raw.audio.sampleRate)
  }

  var clock: SourceClock { .pipe(PipeClock(sampleRate: format.sampleRate)) }

  func read(into intake: LiveIntake, until deadline: LocalTime) throws(MediaError) -> Bool {
    if !hasBegun {
      hasBegun = true
      // A file has no clock.
      if reader.capacity == nil { intake.pace() }
    }
    var limit = Self.mostBytes
    if let wanted = intake.wantedFrames(at: HostClock.now, lead: Self.lead) {
      limit = wanted * frameBytes
      // The next block makes space.
      if limit == 0 {
        PipeReader.sleep(until: min(deadline, HostClock.now + .milliseconds(2)))
        return true
      }
    }
    do {
      switch try reader.read(atMost: limit, appendingTo: &rest) {
      case .nothing: reader.wait(until: deadline)
      case .read(_, let waiting): take(waiting: waiting, into: intake)
      case .ended:
        guard reader.isNamed else { return false }
        rest = []
        intake.sourceChanged(to: clock)
        pacing = PipePacing(sampleRate: format.sampleRate)
        // Only its data announces the next writer.
        reader.wait(until: deadline)
      }
    } catch {
      throw .unreadable(path: name, reason: error.description)
    }
    return true
  }

  private func take(waiting: Int, into intake: LiveIntake) {
    let now = HostClock.now
    let whole = rest.count / frameBytes * frameBytes
    var frames: [Float] = []
    sampleType.format.decode(Array(rest.prefix(whole)), appendingTo: &frames)
    rest.removeFirst(whole)
    intake.arrived(frames, at: now)
    if let capacity = reader.capacity,
      pacing.read(whole / frameBytes, available: waiting, of: capacity, at: now)
    {
      intake.pace()
    }
  }
}

/// Samples that a sound card records.
final class CardReading: LiveReading {
  /// Number of frames in the intake before this card's.
  private var base: Int64?
  let format: AudioFormat
  let sampleType: SampleType
  let keepsBacklog = false
  private var card: CaptureCard?
  private let name: String

  init(_ name: String) throws(MediaError) {
    self.name = name
    let card: CaptureCard
    do {
      card = try CaptureCard(opening: name) { HostClock.now }
    } catch {
      throw .unreadable(path: "alsa:\(name)", reason: error.description)
    }
    format = card.format
    sampleType = card.device.format == .int16 ? .int16 : .int24
    self.card = consume card
  }

  var clock: SourceClock {
    .card(
      RenderClock(
        sampleRate: format.sampleRate, device: card?.clockClass ?? .coarse, storedDrift: nil))
  }

  func read(into intake: LiveIntake, until deadline: LocalTime) throws(MediaError) -> Bool {
    let base = base ?? intake.receivedFrames
    self.base = base
    do {
      guard let look = try card?.next() else { return false }
      if look.wasRestarted { intake.cardRestarted() }
      if !look.frames.isEmpty { intake.arrived(look.frames, at: HostClock.now) }
      if let position = look.position {
        intake.observed(base + position.frame, at: position.at, uncertainty: position.uncertainty)
      }
    } catch {
      throw .unreadable(path: "alsa:\(name)", reason: error.description)
    }
    return true
  }

  /// Most cards can be opened only once, and a card that is unplugged keeps its number while it is open.
  func close() { card = nil }
}

enum LiveReadings {
  /// Default format of a named pipe's samples.
  private static let usualRaw = RawFormat(
    audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
  /// Span of audio that may wait in a pipe if rooms buffer for long.
  private static let deepSpan = Nanoseconds.milliseconds(340)

  static func open(
    _ location: LiveLocation, _ settings: LiveFeed.Settings, _ interruption: ReadInterruption
  ) throws(MediaError) -> any LiveReading {
    switch location {
    case .card(let device): return try CardReading(device)
    case .pipe(let path):
      let raw = settings.raw ?? usualRaw
      let reader: PipeReader
      do {
        reader = try PipeReader(path: path, capacity: capacity(for: raw, settings))
      } catch {
        throw .unreadable(path: "pipe:\(path)", reason: error.description)
      }
      return PipeReading(reader, name: "pipe:\(path)", raw: raw, keepsBacklog: false)
    case .standardInput:
      let reader = PipeReader(
        descriptor: 0, capacity: capacity(for: settings.raw ?? usualRaw, settings))
      var header: [UInt8] = []
      let raw: RawFormat
      if let said = settings.raw {
        raw = said
      } else {
        raw = try readHeader(reader, &header, interruption)
      }
      return PipeReading(
        reader, name: "standard input", raw: raw, header: header, keepsBacklog: true)
    case .input(let name):
      throw .unreadable(path: name, reason: "inputs with a name play through a daemon: tutti serve")
    }
  }

  /// Returns how many bytes may wait in a pipe: no more than the latency, which the kernel rounds up.
  static func capacity(for raw: RawFormat, _ settings: LiveFeed.Settings) -> Int {
    let span = settings.latency ?? deepSpan
    let frame = raw.audio.channelCount * raw.sampleType.format.byteCount
    return Int(Double(raw.audio.sampleRate * frame) * span.seconds)
  }

  /// Reads a header. `rest` gets the bytes after it.
  private static func readHeader(
    _ reader: PipeReader, _ rest: inout [UInt8], _ interruption: ReadInterruption
  ) throws(MediaError) -> RawFormat {
    let name = "standard input"
    while interruption.waits(for: reader.descriptor) {
      let answer: PipeReader.Answer
      do {
        answer = try reader.read(atMost: 4096, appendingTo: &rest)
      } catch {
        throw .unreadable(path: name, reason: error.description)
      }
      if answer == .ended {
        throw .notAudio(path: name, reason: "it has ended before its header has")
      }
      switch WaveHeader.read(rest) {
      case .incomplete: continue
      case .found(let found):
        rest.removeFirst(found.length)
        return RawFormat(audio: found.format, sampleType: found.sampleType)
      case .refused(let reason):
        throw .notAudio(path: name, reason: "\(reason); say what it is, such as --raw 48000:16:2")
      }
    }
    throw .unreadable(path: name, reason: "reading was ended")
  }
}

extension MediaError {
  /// The message without the path.
  var reason: String {
    switch self {
    case .unreadable(_, let reason), .notAudio(_, let reason), .unsupported(_, let reason),
      .broken(_, let reason):
      reason
    case .notFound, .endsEarly, .notSeekable: "\(self)"
    }
  }
}
