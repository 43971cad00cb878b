package import Audio
import Glibc
package import Sender

/// An item with effects. Positions and seeks use the item's own time; the frames that are read are in playing time.
package final class FilteredSource: MediaSource {
  /// Filters with a memory, such as equalizers, get this many seconds of audio before a place.
  private static let leadSeconds: Int64 = 1
  private static let readFrames = 4_096

  package let rate: Double
  package let sampleType = SampleType.float32

  private let source: any MediaSource
  private let chain: String
  private let path: String
  /// Whether a frame comes out for each that goes in.
  private let keepsCount: Bool
  private let hasOwnFilter: Bool
  private var graph: FilterGraph
  private var ready: [Float] = []
  private var readyStart = 0
  private var hasEnded = false
  private var framesToDrop: Int64 = 0
  /// Frames that are still to be given of an item whose length is known; nil where the chain decides.
  private var remaining: Int64?

  /// - Throws: `MediaError.unsupported` where a filter is missing or wrong.
  package init(
    _ source: any MediaSource, effects: Effects, path: String
  ) throws(MediaError) {
    self.source = source
    self.path = path
    rate = effects.rate
    chain = Self.chain(for: effects, format: source.format, metadata: source.metadata)
    keepsCount = effects.rate == 1 && effects.pitch == 0 && effects.filter == nil
    graph = try FilterGraph(chain, format: source.format, path: path)
    hasOwnFilter = effects.filter != nil
    limit(from: 0)
  }

  /// Checks whether a user's chain is valid, before anything plays.
  ///
  /// - Throws: `MediaError.unsupported`.
  package static func check(_ effects: Effects) throws(MediaError) {
    let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
    _ = try FilterGraph(
      chain(for: effects, format: format, metadata: ItemMetadata()), format: format,
      path: "effects")
  }

  package var format: AudioFormat { source.format }
  package var isLossless: Bool { source.isLossless }
  package var frameCount: Int64? { source.frameCount }
  package var estimatedFrameCount: Int64? { source.estimatedFrameCount }
  package var metadata: ItemMetadata { source.metadata }
  package var isSeekable: Bool { source.isSeekable }
  package var supply: Supply { source.supply }

  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    let channels = format.channelCount
    var left = min(count, remaining.map { Int(clamping: $0) } ?? count)
    while left > 0 {
      if readyStart == ready.count, try !refill() { return }
      let taken = min(left, (ready.count - readyStart) / channels)
      frames += ready[readyStart..<readyStart + taken * channels]
      readyStart += taken * channels
      remaining = remaining.map { $0 - Int64(taken) }
      left -= taken
      if source.supply != .stored, left < count { return }
    }
  }

  /// False at the end. If the item broke off, the frames before that come first.
  private func refill() throws(MediaError) -> Bool {
    ready.removeAll(keepingCapacity: true)
    readyStart = 0
    while ready.isEmpty {
      switch graph.read(appendingTo: &ready) {
      case nil: return false
      case true?: drop()
      case false?:
        guard !hasEnded else { return false }
        var block: [Float] = []
        try source.read(Self.readFrames, appendingTo: &block)
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
      keepsCount && source.isSeekable
      ? min(target, Self.leadSeconds * Int64(format.sampleRate)) : 0
    try source.seek(toFrame: target - lead)
    graph = try FilterGraph(chain, format: format, path: path)
    ready.removeAll(keepingCapacity: true)
    readyStart = 0
    hasEnded = false
    framesToDrop = lead
    limit(from: target)
  }

  /// A changed tempo yields a few frames more or less than expected; more would shift the next item.
  private func limit(from frame: Int64) {
    guard let frameCount = source.frameCount, !hasOwnFilter else {
      remaining = nil
      return
    }
    let frames = (Double(max(0, frameCount - frame)) / rate).rounded()
    remaining = Int64(exactly: frames)
  }

  // MARK: - Chains

  static func chain(
    for effects: Effects, format: AudioFormat, metadata: ItemMetadata
  ) -> String {
    var filters: [String] = []
    var tempo = effects.rate
    if !effects.keepsPitch {
      filters += resampling(by: effects.rate, at: format.sampleRate)
      tempo = 1
    }
    if effects.pitch != 0 {
      // Resampling changes pitch and tempo together; the tempo is then restored.
      let factor = pow(2, effects.pitch / 12)
      let raised = Int((Double(format.sampleRate) * factor).rounded())
      filters += ["asetrate=\(raised)", "aresample=\(format.sampleRate)"]
      tempo *= Double(format.sampleRate) / Double(raised)
    }
    filters += tempos(tempo)
    if let loudness = effects.loudness { filters.append(level(to: loudness, metadata)) }
    if let filter = effects.filter { filters.append(filter) }
    return filters.joined(separator: ",")
  }

  /// Filters take whole rates: in hundredths of a hertz they are exact to a ten-millionth.
  private static func resampling(by factor: Double, at rate: Int) -> [String] {
    let fine = 100 * rate
    let read = Int((Double(fine) * factor).rounded())
    return ["asetrate=\(read)", "aresample=\(fine)", "asetrate=\(rate)"]
  }

  /// Factors above 2 would skip sound, and factors below 0.5 are not possible.
  private static func tempos(_ tempo: Double) -> [String] {
    guard tempo != 1 else { return [] }
    var steps: [Double] = []
    var rest = tempo
    while rest > 2 { (rest, steps) = (rest / 2, steps + [2]) }
    while rest < 0.5 { (rest, steps) = (rest / 0.5, steps + [0.5]) }
    return (steps + [rest]).map { "atempo=\($0)" }
  }

  /// A constant gain if the item's tags give its loudness, limited so that peaks stay within full scale; otherwise
  /// loudness is measured while playing, which levels slow changes.
  private static func level(to loudness: Double, _ metadata: ItemMetadata) -> String {
    guard let own = metadata.loudness else { return "loudnorm=I=\(loudness):TP=-1.5:LRA=11" }
    var gain = pow(10, (loudness - own) / 20)
    if let peak = metadata.peak { gain = min(gain, 1 / peak) }
    return "volume=\(gain):precision=float"
  }
}
