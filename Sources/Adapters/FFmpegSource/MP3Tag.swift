import Glibc

/// The frame in front of an MP3 stream in which encoders say what they added to it. FFmpeg honours it without
/// telling: the length of the stream needs it.
enum MP3Tag {
  /// An MPEG audio frame is never longer.
  private static let frameLimit = 1_441
  /// The decoder's own delay, which the padding has to make up for.
  private static let decoderDelay: Int64 = 529

  /// Decoded frames at the end that are not part of the recording. Nil where there is no such tag.
  static func endPadding(ofFile path: String, before offset: Int64?) -> Int64? {
    guard let offset, offset > 0 else { return nil }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let start = max(0, Int(offset) - frameLimit)
    var bytes = [UInt8](repeating: 0, count: Int(offset) - start)
    guard pread(file, &bytes, bytes.count, off_t(start)) == bytes.count else { return nil }
    return endPadding(in: bytes)
  }

  static func endPadding(in bytes: [UInt8]) -> Int64? {
    let names = ["Xing", "Info"].map { Array($0.utf8) }
    let starts = bytes.indices.dropLast(8).reversed()
    guard let tag = starts.first(where: { names.contains(Array(bytes[$0..<$0 + 4])) }) else {
      return nil
    }
    // Flags say which of frame count, byte count, table of contents and quality stand before the rest.
    let flags = bytes[tag + 7]
    let sizes = [4, 4, 100, 4].enumerated().map { flags >> $0 & 1 == 1 ? $1 : 0 }
    let encoder = tag + 8 + sizes.reduce(0, +)
    guard bytes.count >= encoder + 24 else { return 0 }
    let encoders = ["LAME", "Lavf", "Lavc"].map { Array($0.utf8) }
    guard encoders.contains(Array(bytes[encoder..<encoder + 4])) else { return 0 }
    let padding = Int64(bytes[encoder + 22] & 0x0F) << 8 | Int64(bytes[encoder + 23])
    return max(0, padding - decoderDelay)
  }
}
