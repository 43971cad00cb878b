package import Audio
import Clock
package import Sender

/// A file, a radio station or an HLS stream, by HTTP or HTTPS.
///
/// Opening and reading wait for the network; a `ReadInterruption` ends that within a tenth of a second. The exception
/// is the look-up of the server's name, in which the C library cannot be interrupted: there the caller can only
/// disown the thread.
package final class NetworkSource: MediaSource {
  package let format: AudioFormat
  package let sampleType: SampleType
  package let isLossless: Bool
  package let frameCount: Int64?
  /// False for live sources, unless their last hour is kept. On a server without ranges, a seek back loads everything before the place again, and a
  /// seek ahead loads the part between.
  package let isSeekable: Bool
  /// True if the source has no end of its own.
  package let isLive: Bool

  private let url: String
  private let channels: ChannelLimit
  private let library: FFmpegLibrary
  private let network: NetworkInput
  private let isRadio: Bool
  /// True if the last hour of the station is kept, and whoever keeps it calls it again when it fails.
  private let isKept: Bool
  private var reader: ItemReader
  private var hasBegun = false
  private var position: Int64 = 0
  /// True once a live list of segments has ended.
  private var hasEnded = false
  /// Passes on the packets of a live stream until its frames are read.
  private var passing: LivePackets?
  /// Passes on the packets of a file.
  private var filePackets: PacketReader?
  /// Attempts to reconnect since the source last delivered well.
  private var attempts = 0
  private var framesSinceAttempt = 0

  package static func isNetwork(_ location: String) -> Bool {
    let lowered = location.prefix(8).lowercased()
    return lowered.hasPrefix("http://") || lowered.hasPrefix("https://")
  }

  /// - Parameters:
  ///   - reach: the addresses to which it may lead, including redirects and lists.
  ///   - remote: reads for this process; nil if it reads by itself.
  ///   - report: called on the reading thread.
  package init(
    url: String, reach: SourceReach = .all, channels: ChannelLimit = .stereo,
    settings: NetworkSettings = .init(),
    interruption: ReadInterruption, remote: (any RemoteSource)? = nil,
    report: @escaping @Sendable (SourceNotice) -> Void = { _ in }
  ) throws(MediaError) {
    let library = try FFmpegLibrary.load(toPlay: url)
    let network = NetworkInput(
      url, reach: reach, settings: settings, interruption: interruption, library: library,
      remote: remote,
      report: report)
    let reader = try ItemReader(path: url, channels: channels) { () throws(MediaError) in
      try Demuxer(path: url, input: .network(network), library: library)
    }
    let demuxer = reader.audio.reader.demuxer
    guard demuxer.size <= settings.sizeLimit else {
      throw .unsupported(path: url, reason: "it claims to have \(demuxer.size >> 30) GiB")
    }
    format = reader.format
    sampleType = reader.audio.facts.sampleType
    isLossless = reader.audio.facts.isLossless
    isLive = demuxer.isLive
    isRadio = demuxer.isRadio
    isKept = demuxer.isRadio && network.keptHandle != nil
    isSeekable = isKept || !demuxer.isLive && (demuxer.isSeekable || demuxer.byteCount > 0)
    frameCount = demuxer.isLive ? nil : reader.frameCount
    (self.url, self.channels, self.library, self.network) = (url, channels, library, network)
    self.reader = reader
  }

  package var supply: Supply { isLive ? .live : .fetched }
  package var metadata: ItemMetadata { reader.audio.metadata }
  /// True if the source can be used again, which saves the several requests of opening it. False for a list of
  /// segments, which FFmpeg keeps elsewhere.
  package var isReusable: Bool {
    isSeekable && attempts == 0 && reader.audio.reader.demuxer.readsBytes && network.isCurrent
  }
  package var estimatedFrameCount: Int64? { isLive ? nil : reader.audio.estimatedFrameCount }

  /// - Throws: `MediaError.broken` if the connection is lost for good.
  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    guard count > 0 else { return }
    if let passing {
      let rest = passing.rest
      position = passing.position
      reader.goOn(after: rest.lead, with: rest.waiting)
      (self.passing, hasBegun) = (nil, true)
    }
    hasBegun = true
    let before = frames.count
    try readOn(count, appendingTo: &frames)
    position += Int64((frames.count - before) / format.channelCount)
  }

  /// Reads, and reconnects if the connection was lost.
  private func readOn(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    while !network.isInterrupted, !hasEnded {
      let before = frames.count
      var loss: MediaError?
      do throws(MediaError) {
        try reader.read(count, appendingTo: &frames)
      } catch {
        loss = error
      }
      if frames.count > before {
        note(framesRead: (frames.count - before) / format.channelCount)
        return
      }
      if network.isInterrupted { return }
      guard loss != nil || isRadio else { return }
      try connectAgain(after: loss ?? .broken(path: url, reason: "the station hung up"))
    }
  }

  private func note(framesRead count: Int) {
    framesSinceAttempt += count
    if framesSinceAttempt > 5 * format.sampleRate { attempts = 0 }
  }

  /// Reconnects. A radio station continues at its present position, a file with the next frame.
  private func connectAgain(after loss: MediaError) throws(MediaError) {
    guard isRadio || isSeekable, loss.hasSounded else { throw loss }
    if isKept {
      guard let fresh = try? reopened() else { throw loss }
      (reader, passing) = (fresh, nil)
      return
    }
    let reason = if case .broken(_, let fault) = loss { fault } else { "it ended before its time" }
    let delays = network.settings.retryDelays
    let next = position
    while attempts < delays.count, !network.isInterrupted {
      network.reportReconnecting(because: reason)
      let delay = delays[attempts]
      attempts += 1
      framesSinceAttempt = 0
      guard network.waits(milliseconds: Int32(delay / .milliseconds(1))) else {
        return
      }
      if let fresh = try? reopened() {
        // A list that has ended meanwhile would be played again from its beginning.
        hasEnded = isRadio && !fresh.audio.reader.demuxer.isLive
        if hasEnded { return }
        (reader, passing) = (fresh, nil)
        if !isRadio { try reader.seek(toFrame: next) }
        return
      }
    }
    if !network.isInterrupted { throw loss }
  }

  /// Returns the packets of a file over a connection of their own, or those of a live stream over the present one.
  /// Ask again once a live stream has changed its format, or its station has hung up.
  package func packets() throws(PassObstacle) -> any PacketSource {
    if isLive { return try livePackets() }
    guard isSeekable, !isKept else { throw .isLive }
    if let filePackets, !filePackets.hasFailed { return filePackets }
    let (url, library, network) = (url, library, network)
    let packets = try PacketReader(of: reader.audio) { () throws(MediaError) in
      try Demuxer(path: url, input: .network(network), library: library)
    }
    filePackets = packets
    return packets
  }

  /// Returns packets only for stations, which are never far ahead: a room that joins may have to wait until earlier
  /// passed packets have sounded.
  private func livePackets() throws(PassObstacle) -> LivePackets {
    guard isRadio, !hasBegun, !hasEnded else { throw .isLive }
    if let passing {
      guard let loss = passing.loss else { throw .isLive }
      note(framesRead: Int(passing.position - position))
      position = passing.position
      do { try connectAgain(after: loss) } catch { throw .unreadable(error) }
      guard !hasEnded, !network.isInterrupted else { throw .isLive }
    }
    let packets = try LivePackets(reader.audio, from: position)
    passing = packets
    return packets
  }

  private func reopened() throws(MediaError) -> ItemReader {
    let (url, library, network) = (url, library, network)
    return try ItemReader(path: url, channels: channels, format: format) {
      () throws(MediaError) in
      try Demuxer(path: url, input: .network(network), library: library)
    }
  }

  /// Seeks. A live stream that was just opened continues at its present position, and its frames count from `frame`.
  ///
  /// - Throws: `MediaError.notSeekable` if only later places can be reached, and `frame` is not one.
  package func seek(toFrame frame: Int64) throws(MediaError) {
    let target = max(0, frame)
    guard target != passing?.position ?? position else { return }
    if isKept {
      // Where it is after a seek that failed is not known.
      position = -1
      guard network.seekKept(to: MediaDuration(frames: target, at: format.sampleRate)) != nil
      else {
        throw .notSeekable(path: url)
      }
      (reader, passing, hasBegun) = (try reopened(), nil, false)
    } else if isLive {
      guard !hasBegun else { throw .notSeekable(path: url) }
    } else {
      guard isSeekable || target > position else { throw .notSeekable(path: url) }
      try reader.seek(toFrame: target)
    }
    position = target
  }
}

extension Demuxer {
  /// In bytes, as the server states it; 0 if unknown.
  fileprivate var size: Int64 { max(0, byteCount) }
}
