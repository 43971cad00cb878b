import ExpatFeeds
import FFmpegSource
import House
import LinuxIO
import PlaylistFormats
import ProgramJSON
import Sender

/// Reads files in a separate program: a file that crashes or blocks FFmpeg ends only this program, and neither the
/// library nor the music.
package enum LibraryWorker {
  /// Timeout of one file, in seconds; after it, the program ends itself.
  static let timeout: UInt32 = 20

  /// Timeout of a file that is decoded to its end, in seconds.
  static let decodingTimeout: UInt32 = 900

  /// Argument for a program whose results people wait for.
  static let awaited = "--awaited"
  /// Argument for a program that decodes files to their ends.
  static let decoding = "--decoding"

  /// Runs the program: answers requests until they end. Uses standard input and output.
  package static func run(isAwaited: Bool = false, isDecoding: Bool = false) {
    let seconds = isDecoding ? decodingTimeout : timeout
    BackgroundService.run(seconds: seconds, isAwaited: isAwaited) { request in
      WorkerRequest(request).map(answer)?.bytes ?? []
    }
  }

  private static func answer(_ request: WorkerRequest) -> WorkerAnswer {
    do throws(MediaError) {
      switch request {
      case .tags(let path): return .tags(try FileTags(path: path))
      case .image(let path): return .done(try Picture(path: path).hash())
      case .lyrics(let path): return .done(try FileTags.lyrics(path: path) ?? "")
      case .loudness(let path):
        return try LoudnessMeter.measure(path: path).map { .loudness($0) } ?? .done("")
      case .shrink(let path, let isInside, let size, let target):
        return .done(try shrink(path, isInside, size, target))
      case .feed(let address, let reach): return try feed(address, reach)
      case .listens(let request): return request.answer()
      case .shelf(let server, let question): return ShelfRequest.answer(server, question)
      case .songs(let server, let offset): return ServerRequest.songs(server, from: offset)
      case .cover(let server, let id, let size): return ServerRequest.picture(server, id, size)
      case .picture(let address, let reach, let size): return try picture(address, reach, size)
      }
    } catch {
      return switch error {
      case .notFound: .gone
      case .unreadable: .unreadable("\(error)")
      // Only loading FFmpeg can fail in this way.
      case .unsupported: .useless("\(error)")
      default: .broken("\(error)")
      }
    }
  }

  /// Bytes of a feed, and the time in which it must have come.
  static let feedLimit = 16 << 20
  static let feedTime = Duration.seconds(15)

  /// Reads a podcast's feed, and then confines the process for good: what the feed's bytes make of it opens and reaches
  /// nothing. It answers nothing else afterwards.
  private static func feed(
    _ address: String, _ reach: SourceReach
  ) throws(MediaError) -> WorkerAnswer {
    let file: AddressBytes
    do throws(MediaError) {
      file = try AddressBytes(at: address, reach: reach, limit: feedLimit, time: feedTime)
    } catch .unreadable(_, let reason) {
      return .broken(reason)
    }
    if let reason = ConfinedService.confine() { return .useless(reason) }
    do {
      return .feed(try PodcastFeed(file.bytes), isOwn: file.isOwn)
    } catch {
      return .broken(error.description)
    }
  }

  /// Loads a picture, and confines the process for good before it looks at it.
  private static func picture(
    _ address: String, _ reach: SourceReach, _ size: Int
  ) throws(MediaError) -> WorkerAnswer {
    // Afterwards nothing can be loaded.
    Picture.prepare()
    let bytes: [UInt8]
    do throws(MediaError) {
      bytes = try AddressBytes(
        at: address, reach: reach, limit: Picture.sizeLimit, time: ServerRequest.pictureTime
      ).bytes
    } catch .unreadable(_, let reason) {
      return .broken(reason)
    }
    if let reason = ConfinedService.confine() { return .useless(reason) }
    return ServerRequest.picture(bytes, size)
  }

  /// Returns the extension of the file that it made.
  private static func shrink(
    _ path: String, _ isInside: Bool, _ size: Int, _ target: String
  ) throws(MediaError) -> String {
    let bytes = isInside ? try FileTags.picture(path: path) : try Picture(path: path).bytes
    guard let picture = bytes.flatMap({ Picture($0) }) else {
      throw .notAudio(path: path, reason: "there is no picture in it")
    }
    // Without FFmpeg's filters a picture keeps its size.
    var made = picture
    do throws(MediaError) {
      made = try picture.fitting(size)
    } catch .unsupported {
    } catch {
      throw error
    }
    do {
      try StateFile(path: "\(target).\(made.kind.rawValue)").show(made.bytes)
    } catch {
      throw .unreadable(path: target, reason: "\(error)")
    }
    return made.kind.rawValue
  }
}

/// A request to the program: words separated by zeros, which a path cannot contain.
enum WorkerRequest: Hashable {
  case tags(String)
  case image(String)
  case lyrics(String)
  /// Decodes the file to its end. Done without a loudness means that there is none to measure.
  case loudness(String)
  /// Writes a picture, from a media file or a file of its own, at most `size` pixels each way, to `target` plus an
  /// extension.
  case shrink(String, isInside: Bool, size: Int, target: String)
  /// Reads the feed at an address. The program must be ended after its answer.
  case feed(String, SourceReach)
  /// Tells a service of listens. The program must be ended after its answer.
  case listens(ListenRequest)
  /// Asks a server for songs of its library, from this number on. The program must be ended after its answer.
  case songs(MediaServer, from: Int)
  /// Asks a media server of UPnP. The program must be ended after its answer.
  case shelf(MediaServer, ShelfQuestion)
  /// Asks a server for the picture with this identifier. The program must be ended after its answer.
  case cover(MediaServer, String, size: Int)
  /// Loads the picture at an address. The program must be ended after its answer.
  case picture(String, SourceReach, size: Int)

  private var words: [String] {
    switch self {
    case .tags(let path): ["tags", path]
    case .image(let path): ["image", path]
    case .lyrics(let path): ["lyrics", path]
    case .loudness(let path): ["loudness", path]
    case .shrink(let path, let isInside, let size, let target):
      ["shrink", path, isInside ? "inside" : "itself", "\(size)", target]
    case .feed(let address, let reach): ["feed", address, reach.rawValue]
    // JSON has no zero.
    case .listens(let request):
      ["listens", String(decoding: (try? JSON.encode(request)) ?? [], as: UTF8.self)]
    case .shelf(let server, let question): ["shelf"] + server.words + question.words
    case .songs(let server, let offset): ["songs"] + server.words + ["\(offset)"]
    case .cover(let server, let id, let size): ["cover"] + server.words + [id, "\(size)"]
    case .picture(let address, let reach, let size):
      ["picture", address, reach.rawValue, "\(size)"]
    }
  }

  var bytes: [UInt8] { Array(words.joined(separator: "\0").utf8) }

  init?(_ bytes: [UInt8]) {
    let words = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    switch (words.first, words.count) {
    case ("tags", 2): self = .tags(words[1])
    case ("image", 2): self = .image(words[1])
    case ("lyrics", 2): self = .lyrics(words[1])
    case ("loudness", 2): self = .loudness(words[1])
    case ("shrink", 5):
      self = .shrink(
        words[1], isInside: words[2] == "inside", size: Int(words[3]) ?? 0, target: words[4])
    case ("feed", 3):
      guard let reach = SourceReach(rawValue: words[2]) else { return nil }
      self = .feed(words[1], reach)
    case ("listens", 2):
      guard let request = try? JSON.decode(ListenRequest.self, from: words[1].utf8) else {
        return nil
      }
      self = .listens(request)
    case ("shelf", 1 + MediaServer.wordCount + ShelfQuestion.wordCount):
      guard let server = Self.server(words),
        let question = ShelfQuestion(words: words.suffix(ShelfQuestion.wordCount))
      else { return nil }
      self = .shelf(server, question)
    case ("songs", 2 + MediaServer.wordCount):
      guard let server = Self.server(words) else { return nil }
      self = .songs(server, from: words.last.flatMap { Int($0) } ?? 0)
    case ("cover", 3 + MediaServer.wordCount):
      guard let server = Self.server(words) else { return nil }
      self = .cover(server, words[words.count - 2], size: words.last.flatMap { Int($0) } ?? 0)
    case ("picture", 4):
      guard let reach = SourceReach(rawValue: words[2]) else { return nil }
      self = .picture(words[1], reach, size: Int(words[3]) ?? 0)
    default: return nil
    }
  }

  private static func server(_ words: [String]) -> MediaServer? {
    MediaServer(words: words[1...MediaServer.wordCount])
  }
}

/// The program's answer.
enum WorkerAnswer {
  case tags(FileTags)
  /// - isOwn: true if it came from this machine itself.
  case feed(PodcastFeed, isOwn: Bool)
  case loudness(MeasuredSound)
  case answered(ListenAnswer)
  /// - count: of the songs that the server has told, with those that were left out.
  case songs([ServedSong], count: Int)
  /// A page of a media server of UPnP.
  case shelf(ShelfPage)
  case picture(Picture)
  case done(String)
  /// The file does not exist any more.
  case gone
  /// The file could not be read now.
  case unreadable(String)
  case broken(String)
  /// No file can be read, for this reason.
  case useless(String)

  private var words: [String] {
    switch self {
    case .tags(let tags): ["tags"] + tags.words
    case .loudness(let sound): ["loudness", "\(sound.peak)", sound.blocks.text]
    case .feed(let feed, let isOwn):
      ["feed", isOwn ? "own" : "", feed.title, feed.picture ?? ""] + feed.words
    case .answered(let answer): ["answered"] + answer.words
    case .songs(let songs, let count): ["songs", "\(count)"] + songs.flatMap(\.words)
    case .shelf(let page): ["shelf"] + page.words
    case .picture: ["picture", ""]
    case .done(let text): ["done", text]
    case .gone: ["gone", ""]
    case .unreadable(let reason): ["unreadable", reason]
    case .broken(let reason): ["broken", reason]
    case .useless(let reason): ["useless", reason]
    }
  }

  var bytes: [UInt8] {
    let text = Array(words.joined(separator: "\0").utf8)
    if case .picture(let picture) = self { return text + picture.bytes }
    return text
  }

  private static let pictureMark = Array("picture\0".utf8)

  init?(_ bytes: [UInt8]) {
    if bytes.starts(with: Self.pictureMark) {
      guard let picture = Picture(Array(bytes.dropFirst(Self.pictureMark.count))) else {
        return nil
      }
      self = .picture(picture)
      return
    }
    let words = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    guard words.count > 1 else { return nil }
    switch words[0] {
    case "tags":
      guard let tags = FileTags(words: words.dropFirst()) else { return nil }
      self = .tags(tags)
    case "loudness":
      guard words.count == 3, let peak = Double(words[1]), peak.isFinite, peak >= 0,
        let blocks = LoudnessBlocks(text: words[2])
      else { return nil }
      self = .loudness(MeasuredSound(blocks: blocks, peak: peak))
    case "feed":
      guard words.count > 3, var feed = PodcastFeed(title: words[2], words: words.dropFirst(4))
      else { return nil }
      feed.picture = words[3].isEmpty ? nil : words[3]
      self = .feed(feed, isOwn: words[1] == "own")
    case "answered":
      guard let answer = ListenAnswer(words: words.dropFirst()) else { return nil }
      self = .answered(answer)
    case "songs":
      guard let count = Int32(words[1]), let songs = ServedSong.songs(words.dropFirst(2)) else {
        return nil
      }
      self = .songs(songs, count: Int(count))
    case "shelf":
      guard let page = ShelfPage(words: words.dropFirst()) else { return nil }
      self = .shelf(page)
    case "done": self = .done(words[1])
    case "gone": self = .gone
    case "unreadable": self = .unreadable(words[1])
    case "broken": self = .broken(words[1])
    case "useless": self = .useless(words[1])
    default: return nil
    }
  }
}

extension PodcastFeed {
  /// Five of each episode. A text holds no zero: XML has none.
  fileprivate var words: [String] {
    episodes.flatMap { episode in
      [
        episode.guid, episode.title, episode.address, episode.publishedS.map { "\($0)" } ?? "",
        episode.durationS.map { "\($0)" } ?? "",
      ]
    }
  }

  fileprivate init?(title: String, words: ArraySlice<String>) {
    guard words.count % 5 == 0, words.count / 5 <= Self.episodeLimit else { return nil }
    self.init()
    self.title = title
    let words = Array(words)
    for place in stride(from: 0, to: words.count, by: 5) {
      var episode = Episode(
        guid: words[place], title: words[place + 1], address: words[place + 2])
      (episode.publishedS, episode.durationS) = (Int64(words[place + 3]), Double(words[place + 4]))
      episodes.append(episode)
    }
  }
}

extension FileTags {
  /// An empty word means nil.
  fileprivate var words: [String] {
    let texts = [title, artist, albumArtist, album, albumNumber, codec, picture]
    let numbers = [track, disc, year]
    let lists = [genres, composers].map { $0.joined(separator: Self.separator) }
    // One expression of all three takes older compilers too long to check.
    let said = texts.map { $0 ?? "" }
    let counted = numbers.map { number in number.map(String.init) ?? "" }
    return said + counted + [duration.map { "\($0)" } ?? "", hasVideo ? "video" : ""] + lists
  }

  /// Names are cleaned of control characters, so that this one is in none of them.
  private static let separator = "\u{1f}"

  fileprivate init?(words: ArraySlice<String>) {
    let words = words.map { $0.isEmpty ? nil : $0 }
    guard words.count == 14 else { return nil }
    self.init()
    (title, artist, albumArtist, album) = (words[0], words[1], words[2], words[3])
    (albumNumber, codec, picture) = (words[4], words[5], words[6])
    (track, disc, year) = (
      words[7].flatMap { Int($0) }, words[8].flatMap { Int($0) }, words[9].flatMap { Int($0) }
    )
    (duration, hasVideo) = (words[10].flatMap { Double($0) }, words[11] != nil)
    genres = words[12]?.components(of: Self.separator) ?? []
    composers = words[13]?.components(of: Self.separator) ?? []
  }
}

extension String {
  fileprivate func components(of separator: String) -> [String] {
    split { separator.contains($0) }.map(String.init)
  }
}
