import Sender

/// An answer of a server that speaks Subsonic's interface: the songs in it, or why there are none.
package struct SubsonicAnswer: Sendable {
  /// Songs that are asked for at a time; further ones in an answer are left out.
  package static let songLimit = 500
  /// Values in each other.
  package static let depthLimit = 16

  package struct Fault: Error, Hashable, CustomStringConvertible {
    package let description: String
  }

  /// Those that can be played.
  package private(set) var songs: [ServedSong] = []
  /// Songs that the answer has, with those that were left out.
  package private(set) var count = 0

  private var status = ""
  private var code: Int?
  private var message = ""
  private var song = ServedSong()
  private var isLeftOut = false

  /// - Throws: a sentence's part that says why it is no answer, or why the server refuses.
  package init(_ bytes: [UInt8]) throws(Fault) {
    var tokens = JSONTokens(bytes)
    do throws(PlaylistFile.ParseError) {
      try value(&tokens, [], 0)
    } catch {
      throw Fault(description: "this is no answer of a Subsonic server; check the address")
    }
    guard status != "ok" else { return }
    throw Fault(description: reason)
  }

  private var reason: String {
    switch code {
    case 10, 41: "the server takes no tokens (\(shownMessage)); set: login = password"
    case 40, 42, 43, 44: "the server refuses the user or the password (\(shownMessage))"
    case 50: "the server's user may not do this (\(shownMessage))"
    case nil: "this is no answer of a Subsonic server; check the address"
    case let code?: "the server answers with its error \(code) (\(shownMessage))"
    }
  }

  private var shownMessage: String { ServedSong.text(message) }

  // MARK: - Values

  private static let root = "subsonic-response"

  /// - Parameter names: those of the values around it; arrays have none.
  private mutating func value(
    _ tokens: inout JSONTokens, _ names: [String], _ depth: Int
  ) throws(PlaylistFile.ParseError) {
    guard depth < Self.depthLimit else { throw tokens.expected("less nesting") }
    switch tokens.peek() {
    case UInt8(ascii: "["):
      try members(&tokens, until: "]") { answer, tokens throws(PlaylistFile.ParseError) in
        try answer.value(&tokens, names, depth + 1)
      }
    case UInt8(ascii: "{"):
      let isSong = names.count == 3 && names[0] == Self.root && names[2] == "song"
      if isSong { (song, isLeftOut) = (ServedSong(), false) }
      try members(&tokens, until: "}") { answer, tokens throws(PlaylistFile.ParseError) in
        guard tokens.peek() == UInt8(ascii: "\"") else { throw tokens.expected("a name") }
        let name = try tokens.string()
        guard tokens.peek() == UInt8(ascii: ":") else { throw tokens.expected(":") }
        tokens.skip()
        try answer.value(&tokens, names + [name], depth + 1)
      }
      if isSong { endSong() }
    case UInt8(ascii: "\""): take(try tokens.string(), names)
    default: take(try tokens.word(), names)
    }
  }

  private mutating func members(
    _ tokens: inout JSONTokens, until end: Unicode.Scalar,
    _ member: (inout Self, inout JSONTokens) throws(PlaylistFile.ParseError) -> Void
  ) throws(PlaylistFile.ParseError) {
    tokens.skip()
    let close = UInt8(ascii: end)
    if tokens.peek() == close { return tokens.skip() }
    while true {
      try member(&self, &tokens)
      let next = tokens.peek()
      guard next == UInt8(ascii: ",") || next == close else { throw tokens.expected(", or \(end)") }
      tokens.skip()
      if next == close { return }
    }
  }

  private mutating func take(_ text: String, _ names: [String]) {
    guard names.first == Self.root else { return }
    switch names.count {
    case 2 where names[1] == "status": status = text
    case 3 where names[1] == "error" && names[2] == "code": code = Int(text)
    case 3 where names[1] == "error" && names[2] == "message": message = text
    case 4 where names[2] == "song" && text != "null": take(text, ofSong: names[3])
    default: break
    }
  }

  private mutating func take(_ text: String, ofSong name: String) {
    switch name {
    case "id": song.id = ServedSong.id(text)
    case "title": song.title = ServedSong.text(text)
    case "artist": song.artist = ServedSong.text(text)
    case "displayAlbumArtist": song.albumArtist = ServedSong.text(text)
    case "album": song.album = ServedSong.text(text)
    case "albumId": song.albumId = ServedSong.id(text)
    case "coverArt": song.cover = ServedSong.id(text)
    case "suffix": song.suffix = ServedSong.suffix(text)
    case "genre": song.genre = ServedSong.text(text)
    case "path": song.folder = ServedSong.folder(ofPath: text)
    case "track": song.track = number(text, in: 1...9_999)
    case "discNumber": song.disc = number(text, in: 1...999)
    case "year": song.year = number(text, in: 1_000...9_999)
    case "duration": song.durationS = number(text, in: 1...1_000_000).map(Double.init)
    case "size": song.size = max(0, Int64(text) ?? 0)
    case "created": song.createdS = ServedSong.seconds(text)
    case "isDir", "isVideo": isLeftOut = isLeftOut || text == "true"
    default: break
    }
  }

  private func number(_ text: String, in range: ClosedRange<Int>) -> Int? {
    Int(text).flatMap { range.contains($0) ? $0 : nil }
  }

  private mutating func endSong() {
    count += 1
    guard !isLeftOut, !song.id.isEmpty, songs.count < Self.songLimit else { return }
    songs.append(song)
  }
}
