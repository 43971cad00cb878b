internal import Audio
internal import Sender

/// Audio that a program makes itself: `Media.custom` makes it a playlist item like any file.
///
/// One source is one reading of the item. It is made, read and dropped on the producer's thread, is never used by two
/// threads at once, and is made anew for each seek. `read` may take its time, because the rooms hold audio for minutes.
public protocol SampleSource: AnyObject {
  /// Format of the samples that `read` gives; must not change.
  var format: PCMFormat { get }
  /// Total number of frames; nil if not known, or if there is no end.
  var frameCount: Int64? { get }
  /// The title for displays and for the player's events.
  var title: String? { get }

  /// Appends up to `count` frames to `frames`, interleaved `[frame][channel]`, full scale ±1. Appending none ends the
  /// item.
  ///
  /// - Throws: any error: the player continues with the next item, and `PlayerEvent.itemFailed` has the error's
  ///   description.
  func read(_ count: Int, appendingTo frames: inout [Float]) throws

  /// Makes the next `read` start with this frame, counted from 0. Called before the first read, if at all.
  func seek(toFrame frame: Int64) throws
}

extension SampleSource {
  public var frameCount: Int64? { nil }
  public var title: String? { nil }
}

/// A program's source in the form that the serializer reads.
final class CustomSource: MediaSource {
  let format: AudioFormat
  let sampleType: SampleType
  let isLossless = true
  let frameCount: Int64?
  let metadata: ItemMetadata
  private let source: any SampleSource
  private let name: String

  init(_ source: any SampleSource, name: String) {
    self.source = source
    self.name = source.title ?? name
    format = source.format.audio
    sampleType = source.format.sampleType
    frameCount = source.frameCount
    metadata = ItemMetadata(title: source.title)
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    let before = frames.count
    do {
      try source.read(count, appendingTo: &frames)
    } catch {
      throw .broken(path: name, reason: "\(error)")
    }
    let given = frames.count - before
    guard given >= 0, given <= count * format.channelCount,
      given.isMultiple(of: format.channelCount)
    else {
      throw .broken(path: name, reason: "it gave \(given) samples, asked for \(count) frames")
    }
  }

  func seek(toFrame frame: Int64) throws(MediaError) {
    do {
      try source.seek(toFrame: frame)
    } catch {
      throw .broken(path: name, reason: "\(error)")
    }
  }
}
