import Clock
import LinuxIO
import ProgramJSON
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
      if !hasWarned { journal.warning("the file for displays cannot be written", "\(error)") }
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
    try file.show(JSON.line(NowPlaying(item, coverPath: cover.path)))
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

/// The object of `now-playing.json`, with the names of `tutti status --json`.
private struct NowPlaying: Encodable {
  var album: String?
  var artist: String?
  var artworkBytes: Int?
  var artworkPath: String?
  var artworkType: String?
  var durationS: Double?
  var title: String?
  var track: UInt16?

  init(_ item: SoundingItem, coverPath: String?) {
    func known(_ text: String) -> String? { text.isEmpty ? nil : text }
    let description = item.description
    (album, artist, title) = (
      known(description.album), known(description.artist), known(description.title)
    )
    if let artwork = item.artwork, let coverPath {
      (artworkBytes, artworkPath) = (artwork.bytes.count, coverPath)
      artworkType = known(artwork.mimeType)
    }
    if description.duration > .zero { durationS = description.duration.seconds }
    if description.track > 0 { track = description.track }
  }
}
