import Audio
package import Sender

/// The loudness of a whole file.
package struct MeasuredSound: Hashable, Sendable {
  package var blocks: LoudnessBlocks
  /// The largest sample, relative to full scale 1.
  package var peak: Double

  package init(blocks: LoudnessBlocks, peak: Double) { (self.blocks, self.peak) = (blocks, peak) }
}

/// Measures files as rooms play them, in stereo, by FFmpeg's `ebur128`.
package enum LoudnessMeter {
  /// Longer items, such as audiobooks, are not measured. In seconds.
  package static let durationLimit = 3 * 3_600
  /// The filter's windows of 400 ms move on by so much, in seconds. The first three reach before the beginning.
  private static let step = 0.1
  private static let incompleteBlocks = 3

  /// Decodes the whole file. Blocks the thread meanwhile.
  ///
  /// - Returns: Nil if there is nothing to measure: the file's tags give its loudness, or it is longer than `limit` seconds.
  /// - Throws: `MediaError`; `unsupported` if this machine lacks FFmpeg or its filters.
  package static func measure(
    path: String, limit: Int = durationLimit
  ) throws(MediaError) -> MeasuredSound? {
    let source = try FileSource(path: path)
    guard source.metadata.loudness == nil else { return nil }
    return try measure(source, path: path, limit: limit)
  }

  /// Measures the rest of a source, but nothing of a longer one.
  package static func measure(
    _ source: any MediaSource, path: String, limit: Int = durationLimit
  ) throws(MediaError) -> MeasuredSound? {
    let format = source.format
    let limit = limit * format.sampleRate
    guard source.frameCount ?? 0 <= limit else { return nil }
    // Rooms play mono from both loudspeakers, which adds 3 LU.
    let graph = try FilterGraph("ebur128=metadata=1:dualmono=1", format: format, path: path)
    var measured = MeasuredSound(blocks: LoudnessBlocks(), peak: 0)
    var (frameCount, blockCount) = (0, 0)
    var frames: [Float] = []
    let portion = Int(step * Double(format.sampleRate))
    repeat {
      frames.removeAll(keepingCapacity: true)
      try source.read(portion, appendingTo: &frames)
      frameCount += frames.count / format.channelCount
      guard frameCount <= limit else { return nil }
      for sample in frames { measured.peak = max(measured.peak, Double(abs(sample))) }
      guard graph.write(frames) else {
        throw .broken(path: path, reason: "its loudness cannot be measured")
      }
      while let loudness = try graph.readNote("lavfi.r128.M") {
        blockCount += 1
        if blockCount > incompleteBlocks { measured.blocks.add(loudness) }
      }
    } while !frames.isEmpty
    return measured
  }
}
