internal import Audio
internal import Clock
internal import Driver
internal import FFmpegSource
internal import LinuxIO
internal import Sender
internal import Synchronization

/// Audio that a program makes, or receives, as it happens: for ``Media/live(_:)`` and ``AudioRenderer``.
///
/// Append it when it is there, at the pace of whatever makes it: the rooms sound the last frame of each part `latency`
/// after it was appended, and those before it as much earlier as they are. The input follows the pace by resampling, by
/// a few millionths. Parts that come later than half the latency are left out, and where nothing comes there is silence.
/// All players that play the input hear the same. Every method may be called from any task.
public final class LiveInput: Sendable {
  /// The name for displays and messages.
  public let name: String
  /// The format of the samples.
  public let format: PCMFormat
  /// Time from an append to its sound; nil if it is chosen while it plays.
  public let latency: Duration?
  /// Longest time that appended samples may wait.
  static let longestWait = Nanoseconds.milliseconds(500)
  private let liveLatency: Driver.LiveLatency
  private let goal: LatencyGoal?
  private let pipe: ProgramPipe
  private let feed = Mutex<LiveFeed?>(nil)

  /// - Parameters:
  ///   - name: for displays and messages.
  ///   - format: of all samples that are appended.
  ///   - latency: 10 ms to 2 s; nil lets the rooms choose it, from 20 to 200 ms, by how well their packets come.
  /// - Throws: `TuttiError.invalid` outside that range; `unavailable` if the system refuses a pipe.
  public init(
    name: String = "live", format: PCMFormat = .stereo48k, latency: Duration?
  ) throws(TuttiError) {
    (self.name, self.format, self.latency) = (name, format, latency)
    liveLatency = try Driver.LiveLatency(latency)
    goal = liveLatency.goal
    let bytes = Double(format.sampleRate * format.channelCount * MemoryLayout<Float>.size)
    do throws(IOError) {
      pipe = try ProgramPipe(capacity: Int(bytes * Self.longestWait.seconds))
    } catch {
      throw .unavailable("\(error)")
    }
  }

  deinit { feed.withLock { feed -> Void in feed?.stop() } }

  /// Number of frames that can be appended now: half a second at most.
  public var room: Int { pipe.room / (format.channelCount * MemoryLayout<Float>.size) }

  /// Adds samples: interleaved, `[frame][channel]`, full scale ±1. Larger values are clipped; NaN becomes silence.
  ///
  /// - Throws: `TuttiError.invalid` if they are not whole frames, or after `finish`; `queueIsFull` beyond `room`, as if
  ///   nobody plays the input: nothing is added then.
  public func append(_ samples: [Float]) throws(TuttiError) {
    guard samples.count.isMultiple(of: format.channelCount) else {
      throw .invalid(
        "\(samples.count) samples are not whole frames of \(format.channelCount) channels")
    }
    if isFinished { throw .invalid("nothing can be appended after finish()") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * MemoryLayout<Float>.size)
    for sample in samples {
      let bits = (sample.isNaN ? 0 : min(max(sample, -1), 1)).bitPattern
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
      }
    }
    guard pipe.write(bytes) else { throw .queueIsFull }
  }

  /// Ends the input: what was appended is heard, and then the item ends.
  public func finish() { pipe.finish() }

  private var isFinished: Bool { pipe.isFinished }

  /// Waits until a quarter of a second can be appended. Returns false after `finish`, and where the task is cancelled.
  func waitForRoom() async -> Bool { await pipe.waitForRoom() }

  /// Opens it for a player. All share one feed, which runs as long as the input.
  func open(
    wish: LatencyWish?, interruption: ReadInterruption,
    report: @escaping @Sendable (SourceNotice) -> Void
  ) throws(MediaError) -> any MediaSource {
    let opened = feed.withLock { feed in
      Result { () throws(MediaError) -> LiveFeed in
        if let feed { return feed }
        let new = try LiveFeed(
          pipe, name: name, raw: RawFormat(audio: format.audio, sampleType: .float32),
          latency: liveLatency, goal: goal, report: report)
        feed = new
        return new
      }
    }
    let shared = try opened.get()
    if let goal { wish?.begin(goal) }
    return try LiveSource(shared, title: name, interruption: interruption) { [goal] in
      if let goal { wish?.end(goal) }
    }
  }
}

extension Driver.LiveLatency {
  /// - Throws: `TuttiError.invalid` outside of its range.
  init(_ latency: Duration?) throws(TuttiError) {
    guard let latency else {
      self = .chosen
      return
    }
    guard let fixed = Driver.LiveLatency(Nanoseconds(latency.wholeNanoseconds)) else {
      throw .invalid(
        "a latency is \(Self.range.lowerBound) to \(Self.range.upperBound) ms, not \(latency)")
    }
    self = fixed
  }
}

// MARK: - Inputs of players

/// A live item that is not the program's own.
struct LiveOrigin: Sendable {
  var location: LiveLocation
  var raw: RawFormat?
  /// Nil if rooms buffer it as much as music.
  var latency: Driver.LiveLatency?
}

extension Media {
  /// The time from the arrival of a live input's audio to its sound, in all rooms.
  public enum Latency: Hashable, Sendable {
    /// 10 ms to 2 s.
    case fixed(Duration)
    /// Chosen while it plays, from 20 to 200 ms: the shortest at which no room has gaps.
    case automatic
    /// Rooms buffer seconds of it, as they do with music. It stops, and goes on, like a radio station.
    case deep
  }

  /// The sound that a card records, as it happens: a turntable, a microphone.
  ///
  /// - Parameters:
  ///   - device: ALSA's name of the card: `default`, or such as `hw:1`.
  ///   - latency: from the card to the rooms.
  /// - Throws: `TuttiError.invalid` for what is no name of a card, and for a latency out of range.
  public static func capture(
    device: String = "default", latency: Latency = .automatic
  ) throws(TuttiError) -> Media {
    guard case .card(let card)? = LiveLocation("alsa:\(device)") else {
      throw .invalid("“\(device)” is no name of a sound card; try “default”, or “hw:1”")
    }
    return Media(kind: .live(LiveOrigin(location: .card(card), latency: try latency.live())))
  }

  /// Samples that programs write into a named pipe, one program after the other, as they happen.
  ///
  /// - Parameters:
  ///   - path: absolute; made with `mkfifo`.
  ///   - format: of the samples, which are little-endian integers of its resolution.
  ///   - latency: from the pipe to the rooms.
  /// - Throws: `TuttiError.invalid` for a path that is not absolute, and for a latency out of range.
  public static func pipe(
    _ path: String, format: PCMFormat = .stereo48k, latency: Latency = .automatic
  ) throws(TuttiError) -> Media {
    guard case .pipe(let path)? = LiveLocation("pipe:\(path)") else {
      throw .invalid("“\(path)” is no absolute path of a pipe")
    }
    let raw = RawFormat(audio: format.audio, sampleType: format.sampleType)
    return Media(
      kind: .live(LiveOrigin(location: .pipe(path), raw: raw, latency: try latency.live())))
  }

  /// Audio that this program appends as it happens.
  public static func live(_ input: LiveInput) -> Media { Media(kind: .input(input)) }
}

extension Media.Latency {
  func live() throws(TuttiError) -> Driver.LiveLatency? {
    switch self {
    case .fixed(let latency): try Driver.LiveLatency(latency)
    case .automatic: .chosen
    case .deep: nil
    }
  }
}
