/// Consecutive Ogg streams in one file, such as a recorded radio programme. FFmpeg takes the length of the last
/// stream for that of all, and its seeks fail; read as if from a pipe, the file plays through.
enum OggChain {
  private static let headerSize = 27
  /// Largest number of pages examined. A day of music has some 400 000.
  private static let pageLimit = 4_000_000

  /// True if another stream begins in the file after the first one has begun to sound.
  static func isChain(_ file: MediaFile) -> Bool {
    var place: Int64 = 0
    var hasData = false
    for _ in 0..<pageLimit {
      guard let page = Page(at: place, of: file) else { return false }
      if page.beginsStream, hasData { return true }
      hasData = hasData || !page.beginsStream
      place += page.size
    }
    return false
  }

  private struct Page {
    let beginsStream: Bool
    let size: Int64

    init?(at place: Int64, of file: MediaFile) {
      var bytes = [UInt8](repeating: 0, count: headerSize + 255)
      let count = file.read(into: &bytes, count: bytes.count, from: place)
      guard count >= headerSize, Array(bytes[0..<4]) == Array("OggS".utf8) else { return nil }
      let segments = Int(bytes[26])
      guard count >= headerSize + segments else { return nil }
      beginsStream = bytes[5] & 2 != 0
      let body = bytes[headerSize..<headerSize + segments].reduce(0) { $0 + Int($1) }
      size = Int64(headerSize + segments + body)
    }
  }
}
