internal import Audio
internal import Driver
internal import FFmpegSource
internal import Sender
internal import Synchronization

/// Reads a file, an address, or bytes that a program feeds: first what it is, then its audio, as packets or as samples,
/// from any place.
///
/// It is what a ``Player`` reads with, so it reads every format that a player plays. An ``AudioRenderer`` takes what it
/// gives:
///
///     let reader = try await MediaReader(.file("song.mp3"))
///     while let buffer = try await reader.next() { … }
///
/// Reading and opening wait for disks, networks and feeds on a thread of the reader's own. Every method may be called from
/// any task; calls are carried out one after the other. Cancelling the task ends its wait. ``DecodingProcesses`` protects a
/// program from what files of strangers do to a decoder.
public final class MediaReader: Sendable {
  /// The form in which the audio is given.
  public enum Delivery: Hashable, Sendable {
    /// Decoded, whatever the codec.
    case samples
    /// As it is in the item. Such packets sound exactly as decoded ones, and take a tenth of the memory.
    case packets
    /// Packets if there are any to give, otherwise samples. Where an item's packets cannot be given any further, samples
    /// follow without a gap.
    case packetsIfPossible
  }

  /// Knowledge of how long an item is.
  public enum Length: Hashable, Sendable {
    /// To the frame.
    case exact(Duration)
    /// As the item or its size suggest; may change while it is read.
    case estimated(Duration)
    /// Not known: so much has been read, and more may come.
    case soFar(Duration)

    public var duration: Duration {
      switch self {
      case .exact(let duration), .estimated(let duration), .soFar(let duration): duration
      }
    }
  }

  /// The path, the address, or the name of a feed.
  public let name: String
  /// The format of samples. It does not change within an item.
  public let format: PCMFormat
  /// False if `seek` only goes ahead, or nowhere at all.
  public let isSeekable: Bool
  /// True for what is heard as it happens, such as a radio station, or a feed of unknown size.
  public let isLive: Bool
  private let queue: ReadingQueue
  private let known: Mutex<MediaReading.Facts>

  /// Opens an item, and waits until its first frames are there.
  ///
  /// - Throws: `TuttiError.notFound`; `notPlayable` if it is no media, and if `delivery` is `packets` and it has none to
  ///   give; `broken` if it cannot be read; `cancelled` with the task.
  public convenience init(
    _ media: Media, delivering delivery: Delivery = .packetsIfPossible
  ) async throws(TuttiError) {
    try await self.init(media, delivering: delivery, workers: .shared)
  }

  init(
    _ media: Media, delivering delivery: Delivery, workers: MediaWorkers
  ) async throws(TuttiError) {
    let queue = try ReadingQueue()
    let opener = MediaOpener(interruption: queue.interruption, workers: workers)
    let facts = try await queue.open(media, delivery, opener)
    self.queue = queue
    known = Mutex(facts)
    name = media.name
    format = facts.format
    isSeekable = facts.isSeekable
    isLive = facts.isLive
  }

  deinit { queue.close() }

  /// The format of packets; nil if samples are given.
  public var compressedFormat: CompressedFormat? { known.withLock { $0.packets } }

  /// The reason why samples are given although packets were asked for, in one line; else nil.
  public var samplesReason: String? { known.withLock { $0.reason } }

  /// How long the item is, as known by now. Grows while an item of unknown length is read.
  public var length: Length { known.withLock { $0.length } }

  /// Tags, cover and chapters, as of what was read last: a radio station changes its title.
  public var metadata: MediaMetadata { known.withLock { $0.metadata } }

  /// The share of the item that has been read, 0 to 1; nil while its length is not known. For the share that has come of a
  /// feed, see ``MediaFeed/progress``.
  public var progress: Double? { known.withLock { $0.progress } }

  /// The position of what `next` gives next.
  public var position: PlaybackTime { known.withLock { $0.position } }

  /// Returns the next part of the item; nil at its end.
  ///
  /// Packets come one by one. Those that only prepare the decoder come first, and have no audible frames: enqueue them like
  /// the others.
  ///
  /// - Parameter frameLimit: at most so many frames of samples, 1 to 8192.
  /// - Throws: `TuttiError.broken`, once, after the last part that can be read; `cancelled` with the task; `closed`.
  public func next(frameLimit: Int = 4_096) async throws(TuttiError) -> MediaBuffer? {
    let limit = min(max(1, frameLimit), DecoderMessage.frameLimit)
    return try await change { reading throws(MediaError) in try reading.next(limit) }
  }

  /// Makes `next` go on at a position: its first audible frame is the one there, exactly. Beyond the end, there is nothing.
  ///
  /// - Throws: `TuttiError.notSeekable`, `broken`, `cancelled`, `closed`.
  public func seek(to position: PlaybackTime) async throws(TuttiError) {
    try await change { reading throws(MediaError) in try reading.seek(to: position) }
  }

  /// Ends reading for good, also reads that wait. A reader that is dropped does the same.
  public func close() { queue.close() }

  private func change<Value: Sendable>(
    _ body: @escaping @Sendable (inout MediaReading) throws(MediaError) -> Value
  ) async throws(TuttiError) -> Value {
    let (value, facts) = try await queue.change(body)
    known.withLock { $0 = facts }
    return value
  }
}
