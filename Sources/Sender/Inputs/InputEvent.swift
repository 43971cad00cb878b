/// Something that the program of an input tells of its music.
package enum InputEvent: Hashable, Sendable {
  /// Another title has begun.
  case title(InputTitle)
  /// The picture of the title; nil if it has none.
  case cover(Artwork?)
  case playing
  case paused
  /// Nobody plays to it any more.
  case stopped
  /// Its user has set this volume there, 0 to 100.
  case volume(Double)
}

/// Something that a household asks of the program of an input.
package enum InputOrder: Hashable, Sendable {
  case play
  case pause
  case next
  case previous
  /// 0 to 100.
  case volume(Double)

  /// One object of JSON in a line, for the program's standard input.
  package var line: [UInt8] {
    let word =
      switch self {
      case .play: #"{"do":"play"}"#
      case .pause: #"{"do":"pause"}"#
      case .next: #"{"do":"next"}"#
      case .previous: #"{"do":"previous"}"#
      case .volume(let volume): #"{"do":"volume","volume":\#(Int(min(max(volume, 0), 100)))}"#
      }
    return Array(word.utf8) + [UInt8(ascii: "\n")]
  }
}

/// The title that a program names, safe to show. Parts that it does not name are nil.
package struct InputTitle: Hashable, Sendable {
  package var title: String? { didSet { title = Self.shown(title) } }
  package var artist: String? { didSet { artist = Self.shown(artist) } }
  package var album: String? { didSet { album = Self.shown(album) } }

  package init(title: String? = nil, artist: String? = nil, album: String? = nil) {
    self.title = Self.shown(title)
    self.artist = Self.shown(artist)
    self.album = Self.shown(album)
  }

  private static func shown(_ text: String?) -> String? {
    guard let text else { return nil }
    let shown = ItemMetadata.shown(text)
    return shown.isEmpty ? nil : shown
  }
}

extension ItemMetadata {
  /// Takes what a program tells of its music.
  package mutating func take(_ event: InputEvent) {
    switch event {
    case .title(let title):
      // Its picture comes after it.
      if (self.title, artist, album) != (title.title, title.artist, title.album) { artwork = nil }
      (self.title, artist, album) = (title.title, title.artist, title.album)
    case .cover(let cover): artwork = cover
    case .playing, .paused, .stopped, .volume: break
    }
  }
}

extension Artwork {
  /// Takes a picture whose beginning says what it is: JPEG, PNG, GIF or WebP. Returns nil for anything else, and for what is
  /// larger than `sizeLimit`.
  package init?(recognising bytes: [UInt8]) {
    let kinds: [(beginning: [UInt8], type: String)] = [
      ([0xff, 0xd8, 0xff], "image/jpeg"), ([0x89] + Array("PNG\r\n".utf8), "image/png"),
      (Array("GIF8".utf8), "image/gif"),
    ]
    var type = kinds.first { bytes.starts(with: $0.beginning) }?.type
    if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
      type = "image/webp"
    }
    guard let type else { return nil }
    self.init(bytes: bytes, mimeType: type)
  }
}

/// The decoding of RFC 4648.
enum Base64 {
  /// Returns nil for anything else. Spaces and ends of lines may stand between.
  static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count, padding) = (UInt32(0), 0, 0)
    for byte in text {
      if byte == 0x20 || (9...13).contains(byte) { continue }
      if byte == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = value(of: byte) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 1
      guard count % 4 == 0 else { continue }
      bytes += [
        UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8),
        UInt8(truncatingIfNeeded: bits),
      ]
    }
    // Two letters make a byte, three make two.
    switch (count % 4, padding) {
    case (0, 0): break
    case (2, 0), (2, 2): bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
    case (3, 0), (3, 1):
      bytes += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
    default: return nil
    }
    return bytes
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
