import Audio
import Clock

/// The end of an item, held back until it is known what follows: another item may fade in over it.
struct HeldEnd {
  /// Samples of all channels together: 12 s of two channels at 192 kHz. With more channels the fade is shorter.
  static let sampleLimit = 4_608_000
  /// Longer items do not exist; it keeps the arithmetic from overflowing.
  private static let longestItem: Int64 = 1 << 40

  /// The item, and the media time at which it was taken up.
  let opened: OpenedItem
  let start: MediaTime
  let format: AudioFormat
  /// All channels together.
  private(set) var samples: [Float] = []
  /// Samples that come before those to hold.
  private var before: Int
  private let limit: Int

  /// Holds as much of what is left of the source as can fade out. An item that fades in and out does so at most over
  /// half of its length each.
  ///
  /// - Parameters:
  ///   - seconds: the longest fade.
  ///   - frame: where reading begins.
  /// - Returns: nil if the item never fades out.
  init?(
    of source: any MediaSource, from frame: Int64, _ opened: OpenedItem, at start: MediaTime,
    seconds: Double
  ) {
    guard let frames = source.fadeLimit(from: frame, seconds: seconds), frames > 0,
      let played = source.playedFrames(from: frame)
    else { return nil }
    let channels = source.format.channelCount
    self.init(
      opened, at: start, source.format, limit: frames * channels,
      before: Int(min(played, Self.longestItem) - Int64(frames)) * channels)
  }

  /// The end of an item, all of which was read.
  init(_ opened: OpenedItem, at start: MediaTime, _ format: AudioFormat, samples: [Float]) {
    self.init(opened, at: start, format, limit: samples.count, before: 0)
    self.samples = samples
  }

  private init(
    _ opened: OpenedItem, at start: MediaTime, _ format: AudioFormat, limit: Int, before: Int
  ) {
    (self.opened, self.start, self.format) = (opened, start, format)
    (self.limit, self.before) = (limit, before)
  }

  var frameCount: Int { samples.count / format.channelCount }
  /// The longest time that is held.
  var length: MediaDuration { format.duration(ofFrames: limit / format.channelCount) }

  /// Takes frames in the order in which they were read. Leaves in `frames` those to encode now.
  mutating func hold(_ frames: inout [Float]) {
    let passed = min(before, frames.count)
    before -= passed
    guard passed < frames.count else { return }
    if samples.isEmpty { samples.reserveCapacity(limit) }
    samples += frames[passed...]
    frames.removeSubrange(passed...)
    // An item that is longer than it says.
    frames += take(samples.count - limit)
  }

  /// Takes out all but the last `count` frames.
  mutating func keep(frames count: Int) -> [Float] {
    take(samples.count - count * format.channelCount)
  }

  private mutating func take(_ count: Int) -> [Float] {
    guard count > 0 else { return [] }
    defer { samples.removeFirst(count) }
    return Array(samples.prefix(count))
  }
}

extension MediaSource {
  /// True if the item may fade: only one whose end is known before it comes.
  var mayFade: Bool { live == nil && frameCount != nil }

  /// Frames that `read` gives from a frame of the item on; nil if that is not known.
  fileprivate func playedFrames(from frame: Int64) -> Int64? {
    guard mayFade, let frameCount, rate > 0 else { return nil }
    let left = frameCount.subtractingReportingOverflow(max(0, frame))
    guard !left.overflow, left.partialValue > 0 else { return 0 }
    return Int64(exactly: (Double(left.partialValue) / rate).rounded())
  }

  /// The most frames over which an item that begins with a frame may fade; nil if it never does.
  func fadeLimit(from frame: Int64, seconds: Double) -> Int? {
    guard seconds > 0, let played = playedFrames(from: frame) else { return nil }
    let wanted = Int64(
      (min(seconds, Effects.crossfades.upperBound) * Double(format.sampleRate)).rounded())
    return Int(min(wanted, played / 2, Int64(HeldEnd.sampleLimit / format.channelCount)))
  }
}

extension ItemMetadata {
  /// True if `next` follows on the same album, as its maker has put them: there, nothing fades.
  func isFollowed(by next: ItemMetadata) -> Bool {
    guard let album, !album.isEmpty, album == next.album, albumArtist == next.albumArtist else {
      return false
    }
    guard let track, let nextTrack = next.track else { return true }
    let (disc, nextDisc) = (disc ?? 1, next.disc ?? 1)
    return disc == nextDisc ? nextTrack == track &+ 1 : nextDisc == disc &+ 1 && nextTrack == 1
  }
}
