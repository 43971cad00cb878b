import Audio
import CFFmpeg
import Sender

/// The frames of an opened stream, in the format in which they are played.
final class DecodedAudio {
  let format: AudioFormat
  let facts: MediaFacts
  let reader: FrameReader

  private let converter: FrameConverter
  private var pending: [Float] = []
  private var pendingStart = 0
  /// Coming frames that must be skipped.
  private var framesToDrop = 0
  private var isDrained = false
  private var known: (version: Int, metadata: ItemMetadata)?

  /// - Parameter wanted: the format of the frames; nil for the supported one nearest to the decoded frames.
  init(
    _ demuxer: Demuxer, channels: ChannelLimit, format wanted: AudioFormat? = nil
  ) throws(MediaError) {
    reader = try FrameReader(demuxer)
    facts = try MediaFacts(reader, path: demuxer.path, library: demuxer.library)
    format =
      wanted
      ?? AudioFormat(
        sampleRate: Self.playableRate(for: facts.decodedRate),
        channelCount: channels.count(for: facts.decodedChannelCount))
    converter = FrameConverter(output: format, path: demuxer.path, library: demuxer.library)
  }

  /// Changes while a radio station is read.
  var metadata: ItemMetadata {
    let version = reader.demuxer.metadataVersion
    if let known, known.version == version { return known.metadata }
    let metadata = reader.demuxer.metadata
    known = (version, metadata)
    return metadata
  }

  /// The rate itself if it is supported. Else, of one beyond them all, as of DSD, the highest that divides it; and of others
  /// the nearest one, and of two equally near ones the higher.
  static func playableRate(for rate: Int) -> Int {
    if let highest = AudioFormat.supportedRates.last, rate > highest,
      let part = AudioFormat.supportedRates.last(where: { rate.isMultiple(of: $0) })
    {
      return part
    }
    return AudioFormat.supportedRates.min { (abs($0 - rate), -$0) < (abs($1 - rate), -$1) } ?? rate
  }

  var isResampled: Bool { format.sampleRate != facts.decodedRate }

  /// Counts the frames that `read` gives.
  var frameCount: Int64? { facts.frameCount.map(playedCount) }
  var estimatedFrameCount: Int64? { facts.estimatedFrameCount.map(playedCount) }

  /// The number of the frame after the last that was decoded, in frames that `read` gives.
  var decodedEnd: Int64 { playedCount(ofDecoded: reader.position) }

  private func playedCount(ofDecoded count: Int64) -> Int64 {
    guard isResampled else { return count }
    return count / Int64(facts.decodedRate) * Int64(format.sampleRate)
      + count % Int64(facts.decodedRate) * Int64(format.sampleRate) / Int64(facts.decodedRate)
  }

  /// Appends up to `count` frames and returns how many; none at the end.
  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) -> Int {
    var given = 0
    while given < count {
      let ready = (pending.count - pendingStart) / format.channelCount
      if ready == 0 {
        guard try refill() else { break }
        continue
      }
      let taken = min(ready, count - given)
      let end = pendingStart + taken * format.channelCount
      frames += pending[pendingStart..<end]
      pendingStart = end
      given += taken
    }
    return given
  }

  /// Continues with the frames that the reader decodes next, without the first `count`.
  func restart(dropping count: Int) {
    converter.reset()
    pending.removeAll(keepingCapacity: true)
    pendingStart = 0
    framesToDrop = count
    isDrained = false
  }

  /// False at the end.
  private func refill() throws(MediaError) -> Bool {
    pending.removeAll(keepingCapacity: true)
    pendingStart = 0
    if let block = reader.next() {
      try converter.convert(block, appendingTo: &pending)
    } else {
      guard !isDrained else { return false }
      isDrained = true
      if isResampled { try converter.drain(appendingTo: &pending) }
    }
    let dropped = min(framesToDrop, pending.count / format.channelCount)
    framesToDrop -= dropped
    pendingStart = dropped * format.channelCount
    return true
  }
}

/// How many channels may come out.
package struct ChannelLimit: Hashable, Sendable {
  package var maximum: Int

  /// Items with more channels than `maximum` are mixed down to two, or to one where it is 1.
  package init(maximum: Int) {
    self.maximum = min(max(1, maximum), AudioFormat.maximumChannelCount)
  }

  package static let stereo = ChannelLimit(maximum: 2)

  func count(for channels: Int) -> Int { channels <= maximum ? channels : min(2, maximum) }
}
