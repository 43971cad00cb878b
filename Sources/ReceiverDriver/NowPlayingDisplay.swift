import Clock
import LinuxIO
import Receiver
import WireProtocol

/// Shows the item that sounds in this room as files for displays: `now-playing.json` and the cover beside it. The
/// files exist only while something plays. A thread of its own writes them.
struct NowPlayingDisplay {
  /// Minimum time between two writes, because a sender could make the item change many times a second.
  private static let restInterval = Nanoseconds.seconds(1)

  private let journal: any ReceiverJournal
  private let writer: NewestValueThread<SoundingItem?>
  private var item: SoundingItem?
  private var isBehind = false
  private var nextWrite = HostClock.now

  /// Removes the files that an earlier run may have left.
  init(directory: String, _ journal: any ReceiverJournal) throws(IOError) {
    self.journal = journal
    writer = try NewestValueThread(name: "display") {
      let files = NowPlayingFiles(directory: directory, journal)
      return files.show
    }
    writer.post(nil)
  }

  /// Time at which `catchUp` must be called; nil if nothing has changed.
  var deadline: LocalTime? { isBehind ? nextWrite : nil }

  mutating func change(to item: SoundingItem?) {
    if let description = item?.description, description != self.item?.description {
      if !description.sentence.isEmpty { journal.notice("now playing", description.sentence) }
    }
    self.item = item
    isBehind = true
  }

  /// Writes the newest item, if it has changed and the minimum time has passed.
  mutating func catchUp(at now: LocalTime) {
    guard isBehind, nextWrite <= now else { return }
    isBehind = false
    nextWrite = now + Self.restInterval
    writer.post(item)
  }

  /// Removes the files at the end of the program.
  func remove() {
    writer.post(nil)
    _ = writer.finish(within: 2000)
  }
}

/// Writes the files. Used on the writing thread only.
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

  /// Shows the item, or removes the files if it is nil. Logs the first failure of a series and goes on.
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
    // Write the title even if the picture cannot be written.
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
  /// `Artist - Title (Album)`; unknown parts are left out.
  var sentence: String {
    let name = [artist, title].filter { !$0.isEmpty }.joined(separator: " - ")
    return album.isEmpty ? name : name.isEmpty ? album : "\(name) (\(album))"
  }
}

extension SoundingItem {
  /// One JSON object in one line, with the names of `tutti status --json`.
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
  /// The text as a JSON string.
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
