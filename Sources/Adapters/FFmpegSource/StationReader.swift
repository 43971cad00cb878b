import CFFmpeg
import Clock
import Sender
import Synchronization

/// Reads a station into its memory, on a thread of its own, and calls it again when it fails: for as long as somebody has
/// something to hear meanwhile, and else as often as `NetworkSettings.retryDelays` says. Hangs up while nobody has listened for long.
final class StationReader {
  /// Audio after which a connection counts as good, so that the next failure is a new one.
  private static let proof = MediaDuration.seconds(5)
  /// Audio by which a station may be ahead of the time since it began: more than any sends at once. One that sends faster than
  /// it plays would else drop from the memory what nobody has heard yet.
  private static let lead = MediaDuration.seconds(60)
  /// Time between two reports of what is kept.
  private static let interval = Duration.seconds(1)
  private static let blockSize = 32 << 10
  /// In bytes: an eighth of a second at 128 kbit/s.
  private static let partSize = 2 << 10

  private let station: KeptStation
  private let network: NetworkInput
  private let library: FFmpegLibrary
  private let url: String
  private let tell: @Sendable (KeptStretch?) -> Void
  private var context: UnsafeMutablePointer<AVIOContext>?
  private var packets = StationPackets()
  private var block = [UInt8](repeating: 0, count: blockSize)
  private var begun = ContinuousClock.now
  private var told: ContinuousClock.Instant?
  private var attempts = 0
  private var attemptTime = MediaDuration.zero

  /// - Parameters:
  ///   - network: used by nobody else from now on, as is the connection.
  ///   - first: bytes that came already, and what the station has said.
  init(
    _ station: KeptStation, _ network: NetworkInput, _ library: FFmpegLibrary, url: String,
    _ context: UnsafeMutablePointer<AVIOContext>, first: ([UInt8], [SourceTitle]),
    tell: @escaping @Sendable (KeptStretch?) -> Void
  ) {
    (self.station, self.network, self.library) = (station, network, library)
    (self.url, self.context, self.tell) = (url, context, tell)
    network.handOver(to: station.interruption)
    take(first.0[...], first.1)
  }

  deinit { if let context { network.close(context) } }

  func run() {
    while !network.isInterrupted {
      guard let context else {
        guard connects() else { return }
        continue
      }
      if station.isLeft {
        leave(context)
      } else if station.isFull || station.endTime - elapsed > Self.lead {
        _ = network.waits(milliseconds: 100)
      } else if let fault = read(context) {
        hangUp(context)
        if !network.isInterrupted { network.reportReconnecting(because: fault) }
      }
    }
  }

  /// Hangs up, and waits until somebody listens again.
  private func leave(_ context: UnsafeMutablePointer<AVIOContext>) {
    hangUp(context)
    tell(station.stretch)
    let left = ContinuousClock.now
    while !network.isInterrupted, station.isLeft { _ = network.waits(milliseconds: 100) }
    begun += ContinuousClock.now - left
  }

  private func hangUp(_ context: UnsafeMutablePointer<AVIOContext>) {
    network.close(context)
    self.context = nil
    packets.beginAnew()
  }

  /// Reads once. Returns the reason why the connection is of no more use.
  private func read(_ context: UnsafeMutablePointer<AVIOContext>) -> String? {
    cff_clear_log()
    let count = network.waiting(for: context) {
      library.calls.avio_read_partial(context, &block, Int32(Self.blockSize))
    }
    guard count > 0 else {
      return count == 0 || count == cff_eof ? "the station hung up" : library.reason(of: count)
    }
    take(block[..<Int(count)], library.titles(of: context))
    return packets.skipped > StationPackets.searchLimit ? "it sends no music" : nil
  }

  private var elapsed: MediaDuration {
    MediaDuration(Nanoseconds(Int64((ContinuousClock.now - begun) / .nanoseconds(1))))
  }

  private func take(_ bytes: ArraySlice<UInt8>, _ titles: [SourceTitle]) {
    let elapsed = elapsed
    // Bytes that come at once have places within them, too.
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: Self.partSize) {
      let whole = packets.cut(bytes[start..<min(start + Self.partSize, bytes.endIndex)])
      station.append(
        whole.bytes, lasting: whole.duration, after: elapsed,
        saying: start == bytes.startIndex ? titles : [])
    }
    if station.endTime - attemptTime > Self.proof { attempts = 0 }
    if told.map({ ContinuousClock.now - $0 >= Self.interval }) ?? true {
      told = .now
      tell(station.stretch)
    }
  }

  /// Tries once to connect. Returns false if the station is given up.
  private func connects() -> Bool {
    let delays = network.settings.retryDelays
    guard attempts < delays.count || !station.isTaken, let last = delays.last else {
      station.end(because: "the station hung up")
      tell(nil)
      return false
    }
    let delay = attempts < delays.count ? delays[attempts] : last
    (attempts, attemptTime) = (attempts + 1, station.endTime)
    guard network.waits(milliseconds: Int32(delay / .milliseconds(1))) else { return false }
    cff_clear_log()
    var fresh: UnsafeMutablePointer<AVIOContext>?
    _ = network.waiting { network.open(url, &fresh) }
    context = fresh
    return true
  }
}

/// Hands a reader over to its thread.
final class StationHandOver: Sendable {
  private let reader: Mutex<StationReader>

  init(_ reader: sending StationReader) { self.reader = Mutex(reader) }

  func run() { reader.withLock { $0.run() } }
}
