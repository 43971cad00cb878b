/// A FLAC file that consists of a header only: tags, a picture, and a duration without any sound.
package struct TaggedFile: Sendable {
  /// Names and values, such as `("TITLE", "Sinnerman")`.
  package var tags: [(String, String)]
  package var seconds: Double
  /// A JPEG.
  package var picture: [UInt8]?
  /// Number of zeros at the end of the header.
  package var padding = 0

  package init(
    _ title: String?, artist: String? = nil, album: String? = nil, albumArtist: String? = nil,
    track: Int? = nil, disc: Int? = nil, date: String? = nil, seconds: Double = 180
  ) {
    let all = [
      ("TITLE", title), ("ARTIST", artist), ("ALBUM", album), ("ALBUMARTIST", albumArtist),
      ("TRACKNUMBER", track.map { "\($0)" }), ("DISCNUMBER", disc.map { "\($0)" }), ("DATE", date),
    ]
    tags = all.compactMap { key, value in value.map { (key, $0) } }
    self.seconds = seconds
  }

  package var bytes: [UInt8] {
    var blocks: [(type: UInt8, bytes: [UInt8])] = [(0, streamInfo), (4, comments)]
    if let picture { blocks.append((6, Self.block(picture))) }
    if padding > 0 { blocks.append((1, [UInt8](repeating: 0, count: padding))) }
    var bytes = Array("fLaC".utf8)
    for (place, block) in blocks.enumerated() {
      bytes.append(block.type | (place == blocks.count - 1 ? 0x80 : 0))
      bytes += Self.big(block.bytes.count, 3) + block.bytes
    }
    return bytes
  }

  /// 44.1 kHz, two channels of 16 bits.
  private var streamInfo: [UInt8] {
    let frames = Int(seconds * 44_100)
    let shape = 44_100 << 44 | 1 << 41 | 15 << 36 | frames
    return Self.big(4_096, 2) + Self.big(4_096, 2) + Self.big(0, 3) + Self.big(0, 3)
      + Self.big(shape, 8) + [UInt8](repeating: 0, count: 16)
  }

  private var comments: [UInt8] {
    let texts = tags.map { Array("\($0.0)=\($0.1)".utf8) }
    return Self.little(0) + Self.little(texts.count)
      + texts.flatMap { Self.little($0.count) + $0 }
  }

  private static func block(_ picture: [UInt8]) -> [UInt8] {
    let type = Array("image/jpeg".utf8)
    return big(3, 4) + big(type.count, 4) + type + big(0, 4) + big(0, 4) + big(0, 4) + big(0, 4)
      + big(0, 4) + big(picture.count, 4) + picture
  }

  private static func big(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  private static func little(_ number: Int) -> [UInt8] { big(number, 4).reversed() }
}
