import Clock
import LinuxIO
import Receiver
import WireProtocol

/// What is heard in this room, as files for displays: `now-playing.json` and the cover beside it. Neither is there
/// while nothing plays. They are written on a thread of their own.
struct NowPlayingDisplay {
  /// What a sender could make change many times a second is written no more often than this.
  private static let restInterval = Nanoseconds.seconds(1)

  private let journal: any ReceiverJournal
  private let writer: NewestValueThread<SoundingItem?>
  private var item: SoundingItem?
  private var isBehind = false
  private var nextWrite = HostClock.now

  /// Nothing plays yet, whatever an earlier run has left.
  init(directory: String, _ journal: any ReceiverJournal) throws(IOError) {
    self.journal = journal
    writer = try NewestValueThread(name: "display") {
      let files = NowPlayingFiles(directory: directory, journal)
      return files.show
    }
    writer.post(nil)
  }

  /// When `catchUp` has something to do.
  var deadline: LocalTime? { isBehind ? nextWrite : nil }

  mutating func change(to item: SoundingItem?) {
    if let description = item?.description, description != self.item?.description {
      if !description.sentence.isEmpty { journal.notice("now playing", description.sentence) }
    }
    self.item = item
    isBehind = true
  }

  /// Writes what has changed.
  mutating func catchUp(at now: LocalTime) {
    guard isBehind, nextWrite <= now else { return }
    isBehind = false
    nextWrite = now + Self.restInterval
    writer.post(item)
  }

  /// At the end of the program.
  func remove() {
    writer.post(nil)
    _ = writer.finish(within: 2000)
  }
}

/// The files, on the thread that writes them.
private final class NowPlayingFiles {
  private let journal: any ReceiverJournal
  private let file: StateFile
  private var cover: CoverFile
  private var hasWarned = false

  init(directory: String, _ journal: any ReceiverJournal) {
    self.journal = journal
    file = StateFile(path: directory + "/now-playing.json")
    cover = CoverFile(directory: directory)
  }

  /// Where that cannot be done the log says so once, and nothing else is affected.
  func show(_ item: SoundingItem?) {
    do throws(IOError) {
      try write(item)
      hasWarned = false
    } catch {
      if !hasWarned { journal.warning("displays are not told what plays", "\(error)") }
      hasWarned = true
    }
  }

  private func write(_ item: SoundingItem?) throws(IOError) {
    guard let item else {
      try file.remove()
      return try cover.remove()
    }
    // A picture that cannot be written is no reason to keep the title back.
    let failure = showCover(of: item)
    try file.show(Array(item.json(coverPath: cover.path).utf8))
    if let failure { throw failure }
  }

  private func showCover(of item: SoundingItem) -> IOError? {
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
