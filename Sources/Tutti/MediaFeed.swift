internal import FFmpegSource
internal import Sender

/// The bytes of a media file or stream that a program feeds as they come, for a ``MediaReader`` or a ``Player``: from a
/// download of its own, an archive, or a socket.
///
/// All bytes are kept in an unnamed file in `$TMPDIR`, or else in `/var/tmp`, so that a seek can go back. Every method may be
/// called from any task, and none waits.
public final class MediaFeed: Sendable {
  /// Largest number of bytes: 512 MiB.
  public static let byteLimit = Int(FedBytes.limit)

  let bytes: FedBytes

  /// - Parameters:
  ///   - name: for messages. An extension such as `.mp3` helps to recognise formats that have no mark of their own.
  ///   - expectedByteCount: in all, if the program knows it. Without it, the item can be read only once and from its
  ///     beginning until all bytes have come, as a radio station.
  /// - Throws: `TuttiError.unavailable` if there is no temporary file.
  public init(name: String = "a feed", expectedByteCount: Int? = nil) throws(TuttiError) {
    do throws(MediaError) {
      bytes = try FedBytes(name: name, expectedCount: expectedByteCount.map(Int64.init))
    } catch {
      throw .unavailable(error.description)
    }
  }

  deinit { bytes.finish() }

  /// Adds bytes behind the earlier ones.
  ///
  /// - Throws: `TuttiError.closed` after `finish`; `unavailable` beyond `byteLimit`, or if the disk is full.
  public func append(_ bytes: [UInt8]) throws(TuttiError) {
    do throws(FedBytes.Refusal) {
      try self.bytes.append(bytes)
    } catch {
      switch error {
      case .isOver: throw .closed
      case .isFull:
        throw .unavailable(
          "\(self.bytes.name): the disk for temporary files is full, or it has more than "
            + "\(Self.byteLimit >> 20) MiB")
      }
    }
  }

  /// Marks the end: no more bytes come. A feed that is dropped ends by itself.
  public func finish() { bytes.finish() }

  /// Number of bytes so far.
  public var byteCount: Int { Int(bytes.count) }

  /// The share of the expected bytes that has come, 0 to 1; nil while their number is not known.
  public var progress: Double? {
    if bytes.isOver { return 1 }
    return bytes.expectedCount.map { min(1, Double(bytes.count) / Double($0)) }
  }
}

extension Media {
  /// The bytes of the item, if a program gives them.
  var fed: FedBytes? { if case .feed(let feed) = kind { feed.bytes } else { nil } }
}
