internal import Audio
internal import FFmpegSource
internal import Sender

/// One opened item in the hands of a ``MediaReader``. On the reader's thread.
struct MediaReading {
  /// Properties that other threads may know.
  struct Facts: Sendable {
    var format: PCMFormat
    var packets: CompressedFormat?
    /// Why samples are given although packets were asked for.
    var reason: String?
    var isSeekable: Bool
    var isLive: Bool
    var length: MediaReader.Length
    var metadata: MediaMetadata
    var progress: Double?
    var position: PlaybackTime
  }

  private let source: any MediaSource
  private let interruption: ReadInterruption
  private let name: String
  private let mustBePackets: Bool
  /// The bytes of the item, if a program gives them.
  private let fed: FedBytes?
  private var packets: (any PacketSource)?
  private var packetFormat: CompressedFormat?
  private var reason: String?
  /// The next frame to give.
  private var frame: Int64 = 0
  /// The end of what has been given, wherever it was.
  private var furthest: Int64 = 0
  private var isAtEnd = false
  /// It was told that the item breaks off.
  private var hasBroken = false
  /// A read was ended in the middle: FFmpeg may have lost a part of what it had.
  private var wasInterrupted = false
  /// Thrown once what came before it was taken.
  private var failure: MediaError?
  private var known: (ItemMetadata, MediaMetadata)

  /// - Throws: the reason why there are no packets, if nothing else will do.
  init(
    _ source: any MediaSource, _ delivery: MediaReader.Delivery, name: String, fed: FedBytes?,
    _ interruption: ReadInterruption
  ) throws(MediaError) {
    (self.source, self.interruption, self.name, self.fed) = (source, interruption, name, fed)
    known = (source.metadata, MediaMetadata(source.metadata))
    mustBePackets = delivery == .packets
    guard delivery != .samples else { return }
    // A station's packets change with what it sends.
    let isLive = source.supply == .live && !mustBePackets
    do throws(PassObstacle) {
      if isLive { throw .isLive }
      let packets = try source.packets()
      guard let format = CompressedFormat(packets.format) else {
        throw .notPassable(codec: packets.format.codec.title)
      }
      (self.packets, packetFormat) = (packets, format)
    } catch {
      reason = "\(name): \(error.reason)"
      if mustBePackets { throw .unsupported(path: name, reason: error.reason) }
    }
  }

  private var rate: Int { source.format.sampleRate }

  // MARK: - Facts

  mutating func facts() -> Facts {
    if source.metadata != known.0 { known = (source.metadata, MediaMetadata(source.metadata)) }
    return Facts(
      format: PCMFormat(source.format, source.sampleType), packets: packetFormat, reason: reason,
      isSeekable: source.isSeekable, isLive: source.supply == .live, length: length,
      metadata: known.1, progress: progress, position: PlaybackTime(frame: frame, at: rate))
  }

  private var length: MediaReader.Length {
    func duration(_ frames: Int64) -> Duration { PlaybackTime(frame: frames, at: rate) - .zero }
    if let count = source.frameCount { return .exact(duration(count)) }
    if isAtEnd { return .exact(duration(furthest)) }
    if let count = source.estimatedFrameCount { return .estimated(duration(max(count, furthest))) }
    return .soFar(duration(furthest))
  }

  private var progress: Double? {
    if isAtEnd { return 1 }
    guard let count = source.frameCount ?? source.estimatedFrameCount, count > 0 else { return nil }
    return min(1, Double(furthest) / Double(count))
  }

  // MARK: - Reading

  mutating func next(_ limit: Int) throws(MediaError) -> MediaBuffer? {
    if let failure {
      self.failure = nil
      throw failure
    }
    try recover()
    if let packets, let packetFormat {
      do throws(MediaError) {
        return try nextPacket(packets, packetFormat)
      } catch {
        wasInterrupted = isInterrupted
        hasBroken = hasBroken || mustBePackets && !wasInterrupted
        guard !mustBePackets, !wasInterrupted else { throw error }
        (self.packets, self.packetFormat) = (nil, nil)
        reason = error.description
        try source.seek(toFrame: frame)
      }
    }
    return try nextSamples(limit)
  }

  private mutating func nextPacket(
    _ packets: any PacketSource, _ format: CompressedFormat
  ) throws(MediaError) -> MediaBuffer? {
    let time = PlaybackTime(frame: packets.position, at: rate)
    guard let packet = try packets.next() else { return try end() }
    moved(to: packets.position)
    do throws(TuttiError) {
      return .packet(try CompressedBuffer(packet, format: format, at: time))
    } catch {
      throw .broken(path: name, reason: error.description)
    }
  }

  private mutating func nextSamples(_ limit: Int) throws(MediaError) -> MediaBuffer? {
    var samples: [Float] = []
    do throws(MediaError) {
      try source.read(limit, appendingTo: &samples)
    } catch {
      wasInterrupted = isInterrupted
      hasBroken = hasBroken || !wasInterrupted
      if samples.isEmpty { throw error }
      failure = error
    }
    if samples.isEmpty { return try end() }
    let time = PlaybackTime(frame: frame, at: rate)
    let format = PCMFormat(source.format, source.sampleType)
    moved(to: frame + Int64(samples.count / format.channelCount))
    return .samples(AudioBuffer(whole: samples, format: format, at: time))
  }

  private mutating func moved(to frame: Int64) {
    self.frame = frame
    furthest = max(furthest, frame)
  }

  /// Goes to where the last part ended.
  private mutating func recover() throws(MediaError) {
    guard wasInterrupted else { return }
    guard source.isSeekable else { throw .notSeekable(path: name) }
    if let packets {
      try packets.seek(toFrame: frame)
    } else {
      // A seek to the place where a source believes to be does nothing.
      try source.seek(toFrame: frame == 0 ? 1 : 0)
      try source.seek(toFrame: frame)
    }
    wasInterrupted = false
  }

  /// An interrupted read gives nothing either. A format that does not tell its length ends wherever its bytes do.
  private mutating func end() throws(MediaError) -> MediaBuffer? {
    try goOn()
    isAtEnd = true
    if !hasBroken, let fed, let expected = fed.expectedCount, fed.count < expected {
      hasBroken = true
      throw .broken(path: name, reason: "its bytes end after \(fed.count) of \(expected)")
    }
    return nil
  }

  mutating func seek(to position: PlaybackTime) throws(MediaError) {
    let target = max(0, position.frame(at: rate))
    failure = nil
    try recover()
    if let packets { try packets.seek(toFrame: target) } else { try source.seek(toFrame: target) }
    try goOn()
    frame = target
  }

  private var isInterrupted: Bool { interruption.isInterrupted(in: interruption.era) }

  private mutating func goOn() throws(MediaError) {
    wasInterrupted = isInterrupted
    if wasInterrupted { throw .broken(path: name, reason: "reading was ended") }
  }
}
