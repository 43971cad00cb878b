import Clock
import LinuxIO
import Receiver
import WireProtocol

/// What is heard in this room, as files for displays: `now-playing.json` and the cover beside it. Neither is there
/// while nothing plays.
struct NowPlayingDisplay {
  /// What a sender could make change many times a second is written no more often than this.
  private static let restInterval = Nanoseconds.seconds(1)

  private let file: StateFile
  private var cover: CoverFile
  private var item: SoundingItem?
  private var isBehind = false
  private var nextWrite = HostClock.now
  private var hasWarned = false

  /// Nothing plays yet, whatever an earlier run has left.
  init(directory: String) {
    file = StateFile(path: directory + "/now-playing.json")
    cover = CoverFile(directory: directory)
    try? write()
  }

  /// When `catchUp` has something to do.
  var deadline: LocalTime? { isBehind ? nextWrite : nil }

  mutating func change(to item: SoundingItem?, _ log: ReceiverLog) {
    if let description = item?.description, description != self.item?.description {
      log.nowPlaying(description)
    }
    self.item = item
    isBehind = true
  }

  /// Writes what has changed. Where that cannot be done the log says so once, and nothing else is affected.
  mutating func catchUp(at now: LocalTime, _ log: ReceiverLog) {
    guard isBehind, nextWrite <= now else { return }
    isBehind = false
    nextWrite = now + Self.restInterval
    do throws(IOError) {
      try write()
      hasWarned = false
    } catch {
      if !hasWarned { log.warning("displays are not told what plays", "\(error)") }
      hasWarned = true
    }
  }

  /// At the end of the program.
  mutating func remove() {
    item = nil
    try? write()
  }

  private mutating func write() throws(IOError) {
    guard let item else {
      try file.remove()
      return try cover.remove()
    }
    // A picture that cannot be written is no reason to keep the title back.
    let failure = showCover(of: item)
    try file.show(Array(item.json(coverPath: cover.path).utf8))
    if let failure { throw failure }
  }

  private mutating func showCover(of item: SoundingItem) -> IOError? {
    do throws(IOError) {
      guard let artwork = item.artwork else {
        try cover.remove()
        return nil
      }
      try cover.show(artwork.bytes, mimeType: artwork.mimeType)
      return nil
    } catch {
      return error
    }
  }
}

extension ItemDescription {
  /// `Artist - Title (Album)`, as far as it is known.
  var sentence: String {
    let name = [artist, title].filter { !$0.isEmpty }.joined(separator: " - ")
    return album.isEmpty ? name : name.isEmpty ? album : "\(name) (\(album))"
  }
}

extension SoundingItem {
  /// One object in one line, with the names that `tutti status --json` has.
  fileprivate func json(coverPath: String?) -> String {
    var pairs: [(name: String, value: String)] = []
    func add(_ name: String, _ text: String?) {
      if let text, !text.isEmpty { pairs.append((name, text.quoted)) }
    }
    add("album", description.album)
    add("artist", description.artist)
    if let artwork, let coverPath {
      pairs.append(("artwork_bytes", "\(artwork.bytes.count)"))
      add("artwork_path", coverPath)
      add("artwork_type", artwork.mimeType)
    }
    if description.duration > .zero {
      pairs.append(("duration_s", "\(description.duration.seconds)"))
    }
    add("title", description.title)
    if description.track > 0 { pairs.append(("track", "\(description.track)")) }
    return "{" + pairs.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}\n"
  }
}

extension String {
  /// As JSON has it.
  fileprivate var quoted: String {
    let escaped = unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case _ where scalar.value < 0x20:
        "\\u00" + (scalar.value < 16 ? "0" : "")
          + String(scalar.value, radix: 16)
      default: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }
}
