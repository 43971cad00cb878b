package import Audio
package import Clock
package import Sender

/// An item with effects. Positions and seeks use the item's own time; the frames that it gives are in playing time.
///
/// It needs no limit of time and memory besides that of the effects' numbers: `FilterText` writes at most 24 filters,
/// each of which keeps at most some seconds of audio and gives at most 4 frames for each that it takes. Only an
/// `OwnChain` can do more.
package final class FilteredSource: MediaSource {
  /// Seconds of audio decoded before a sought place, for filters with a memory, such as equalizers.
  private static let leadSeconds: Int64 = 1
  private static let readFrames = 4_096

  package let rate: Double
  package let sampleType = SampleType.float32

  private let source: any MediaSource
  private let level: ItemLevel?
  private let chain: String
  private let path: String
  /// True if each frame of the item yields one frame.
  private let keepsCount: Bool
  private let hasOwnChain: Bool
  private var graph: FilterGraph
  private var ready: [Float] = []
  private var readyStart = 0
  private var hasEnded = false
  private var framesToDrop: Int64 = 0
  /// Frames still to give of an item of known length; nil if the chain decides.
  private var remaining: Int64?

  /// - Parameter measured: used where the item's tags do not give its loudness.
  /// - Throws: `MediaError.unsupported` if a filter is missing or wrong.
  package init(
    _ source: any MediaSource, effects: Effects, measured: ItemLevel? = nil,
    chain own: OwnChain? = nil, path: String
  ) throws(MediaError) {
    self.source = source
    self.path = path
    rate = effects.rate
    let level = ItemLevel(source.metadata) ?? measured
    self.level = level
    chain = FilterText.chain(effects, own, of: source.format, level)
    keepsCount = effects.rate == 1 && effects.pitch == 0 && own == nil
    graph = try FilterGraph(chain, format: source.format, path: path)
    hasOwnChain = own != nil
    limit(from: 0)
  }

  /// Checks before anything plays that FFmpeg has all filters for the effects and a user's chain. Loads FFmpeg and
  /// builds the chain, so it is not for a thread on which something plays.
  ///
  /// - Throws: `MediaError.unsupported`.
  package static func check(_ effects: Effects, chain: OwnChain? = nil) throws(MediaError) {
    let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
    _ = try FilterGraph(
      FilterText.chain(effects, chain, of: format, nil), format: format, path: "effects")
  }

  package var format: AudioFormat { source.format }
  package var isLossless: Bool { source.isLossless }
  package var frameCount: Int64? { source.frameCount }
  package var estimatedFrameCount: Int64? { source.estimatedFrameCount }
  package var metadata: ItemMetadata {
    var metadata = source.metadata
    metadata.loudness = metadata.loudness ?? level?.loudness
    return metadata
  }
  package var isSeekable: Bool { source.isSeekable }
  package var supply: Supply { source.supply }
  package func place(near position: MediaDuration) -> MediaDuration {
    source.place(near: position)
  }

  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    let channels = format.channelCount
    var left = min(count, remaining.map { Int(clamping: $0) } ?? count)
    while left > 0 {
      if readyStart == ready.count, try !refill() { return try checkEnd() }
      let taken = min(left, (ready.count - readyStart) / channels)
      frames += ready[readyStart..<readyStart + taken * channels]
      readyStart += taken * channels
      remaining = remaining.map { $0 - Int64(taken) }
      left -= taken
      if source.supply != .stored, left < count { return }
    }
  }

  /// A chain that ends before its item would cut music off without a word.
  ///
  /// - Throws: `MediaError.broken`, once.
  private func checkEnd() throws(MediaError) {
    guard keepsCount, let missing = remaining, missing > Int64(format.sampleRate / 10) else {
      return
    }
    remaining = 0
    throw .broken(path: path, reason: "a filter has left out its last \(missing) frames")
  }

  /// Gets more frames. Returns false at the end. If the item broke off, the frames before that come first.
  private func refill() throws(MediaError) -> Bool {
    ready.removeAll(keepingCapacity: true)
    readyStart = 0
    while ready.isEmpty {
      switch try graph.read(appendingTo: &ready) {
      case nil: return false
      case true?: drop()
      case false?:
        guard !hasEnded else { return false }
        var block: [Float] = []
        do throws(MediaError) {
          try source.read(Self.readFrames, appendingTo: &block)
        } catch {
          // It has said by this that frames are missing.
          remaining = nil
          throw error
        }
        hasEnded = block.isEmpty
        guard graph.write(block) else {
          throw .broken(path: path, reason: "a filter takes no more")
        }
      }
    }
    return true
  }

  package func packets() throws(PassObstacle) -> any PacketSource { throw .soundIsChanged }

  private func drop() {
    let dropped = min(framesToDrop, Int64(ready.count / format.channelCount))
    framesToDrop -= dropped
    ready.removeFirst(Int(dropped) * format.channelCount)
  }

  package func seek(toFrame frame: Int64) throws(MediaError) {
    let target = max(0, frame)
    let lead =
      keepsCount && source.isSeekable && !source.isKept
      ? min(target, Self.leadSeconds * Int64(format.sampleRate)) : 0
    try source.seek(toFrame: target - lead)
    graph = try FilterGraph(chain, format: format, path: path)
    ready.removeAll(keepingCapacity: true)
    readyStart = 0
    hasEnded = false
    framesToDrop = lead
    limit(from: target)
  }

  /// Limits the frames to give: a changed tempo yields a few frames more or less than expected, and more would shift
  /// the next item.
  private func limit(from frame: Int64) {
    guard let frameCount = source.frameCount, !hasOwnChain else {
      remaining = nil
      return
    }
    let frames = (Double(max(0, frameCount - frame)) / rate).rounded()
    remaining = Int64(exactly: frames)
  }
}
