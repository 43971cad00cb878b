package import Audio
package import Clock
package import FFmpegSource
import LinuxIO
package import Sender

/// A live item: the frames of a feed, one after the other.
package final class LiveSource: MediaSource {
  package let format: AudioFormat
  package let sampleType: SampleType
  package let isLossless = true
  package let isSeekable = false
  package let supply = Supply.input
  package let live: LiveTiming?

  private let feed: LiveFeed
  private let title: String
  private let onEnd: @Sendable () -> Void
  private let interruption: ReadInterruption
  private var listener: LiveFeed.Listener
  private var waiting: [Float] = []
  private var position: Int64 = 0

  /// - Parameters:
  ///   - title: for people; nil takes the location.
  ///   - fromPast: true to start with the frames that the feed has kept, false to start with the
  ///     next ones.
  ///   - onEnd: called once, when nothing holds the source any more.
  package init(
    _ feed: LiveFeed, title: String? = nil, fromPast: Bool = false, interruption: ReadInterruption,
    onEnd: @escaping @Sendable () -> Void
  ) throws(MediaError) {
    listener = try feed.listen(fromPast: fromPast)
    self.feed = feed
    self.onEnd = onEnd
    self.interruption = interruption
    (format, sampleType) = (feed.format, feed.sampleType)
    self.title = title ?? "\(feed.location)"
    let begin = listener.begin
    live = feed.latency.map {
      LiveTiming(firstHeard: begin + $0, latency: $0, adapts: feed.adapts)
    }
  }

  deinit {
    feed.leave(listener)
    onEnd()
  }

  package var frameCount: Int64? { nil }

  /// The present title of the program that gives the sound, or that of the source.
  package var metadata: ItemMetadata {
    var metadata = feed.program?.metadata ?? ItemMetadata()
    metadata.title = metadata.title ?? title
    return metadata
  }

  package var heldLatency: Nanoseconds? { feed.heldLatency }

  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    while waiting.isEmpty {
      switch feed.take(&listener) {
      case .blocks(let blocks): for block in blocks { waiting += block.frames }
      case .missed(let blocks):
        // Missed frames become silence if frames are heard at fixed times.
        guard live != nil else { continue }
        waiting = Array(
          repeating: 0,
          count: min(blocks * feed.blockFrames, 10 * format.sampleRate) * format.channelCount)
      case .over: return
      case .nothing:
        guard interruption.waits(for: listener.waker.number) else { return }
      }
    }
    let given = min(waiting.count, count * format.channelCount)
    frames += waiting.prefix(given)
    waiting.removeFirst(given)
    position += Int64(given / format.channelCount)
  }

  /// Succeeds only for the present position.
  package func seek(toFrame frame: Int64) throws(MediaError) {
    guard frame == position else { throw .notSeekable(path: "\(feed.location)") }
  }
}
