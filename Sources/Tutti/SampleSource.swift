internal import Audio
internal import Sender

/// Audio that a program makes itself: give one to `Media.custom`, and it is a playlist item like any file.
///
/// One source is one reading of the item. It is made, read and dropped on the producer's thread, never used by two
/// threads at once, and made anew for each seek. `read` may take its time: what the rooms play lies minutes ahead.
public protocol SampleSource: AnyObject {
  /// Of what `read` gives; must not change.
  var format: PCMFormat { get }
  /// Frames in all; nil where it is not known, or where there is no end.
  var frameCount: Int64? { get }
  /// Shown by displays, and told by the player's events.
  var title: String? { get }

  /// Appends up to `count` frames to `frames`, interleaved `[frame][channel]`, full scale ±1. To append none is to say
  /// that the item has ended.
  ///
  /// - Throws: whatever it likes: the player goes on with the next item, and `PlayerEvent.itemFailed` tells the error's
  ///   description.
  func read(_ count: Int, appendingTo frames: inout [Float]) throws

  /// Makes the next `read` begin with this frame, from 0. Called before the first read, if at all.
  func seek(toFrame frame: Int64) throws
}

extension SampleSource {
  public var frameCount: Int64? { nil }
  public var title: String? { nil }
}

/// A program's source, as the serializer reads it.
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
