import FFmpegSource
import LinuxIO
import Sender

/// Reads files from anywhere in a program of its own: what is broken enough to end or hold up FFmpeg ends this program,
/// and neither the library nor the music.
package enum LibraryWorker {
  /// Seconds that one file may take; afterwards the program ends itself.
  static let patience: UInt32 = 20

  /// What the program is told where people wait for what it makes.
  static let awaited = "--awaited"

  /// What the program does: answers until nobody asks any more. Takes standard input and output.
  package static func run(isAwaited: Bool = false) {
    BackgroundService.run(seconds: patience, isAwaited: isAwaited) { request in
      WorkerRequest(request).map(answer)?.bytes ?? []
    }
  }

  private static func answer(_ request: WorkerRequest) -> WorkerAnswer {
    do throws(MediaError) {
      switch request {
      case .tags(let path): return .tags(try FileTags(path: path))
      case .image(let path): return .done(try Picture(path: path).hash())
      case .shrink(let path, let isInside, let size, let target):
        return .done(try shrink(path, isInside, size, target))
      }
    } catch {
      return switch error {
      case .notFound: .gone
      case .unreadable: .unreadable("\(error)")
      // Loading FFmpeg is all that can fail so.
      case .unsupported: .useless("\(error)")
      default: .broken("\(error)")
      }
    }
  }

  /// Returns the ending of the file that it made.
  private static func shrink(
    _ path: String, _ isInside: Bool, _ size: Int, _ target: String
  ) throws(MediaError) -> String {
    let bytes = isInside ? try FileTags.picture(path: path) : try Picture(path: path).bytes
    guard let picture = bytes.flatMap({ Picture($0) }) else {
      throw .notAudio(path: path, reason: "there is no picture in it")
    }
    // Without FFmpeg's filters a picture stays as large as it is.
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

/// What is asked of the program: words with zeros between them, for a path has none.
enum WorkerRequest: Hashable {
  case tags(String)
  case image(String)
  /// A picture, in a media file or a file of its own, at most `size` pixels each way, to `target` and an ending.
  case shrink(String, isInside: Bool, size: Int, target: String)

  private var words: [String] {
    switch self {
    case .tags(let path): ["tags", path]
    case .image(let path): ["image", path]
    case .shrink(let path, let isInside, let size, let target):
      ["shrink", path, isInside ? "inside" : "itself", "\(size)", target]
    }
  }

  var bytes: [UInt8] { Array(words.joined(separator: "\0").utf8) }

  init?(_ bytes: [UInt8]) {
    let words = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    switch (words.first, words.count) {
    case ("tags", 2): self = .tags(words[1])
    case ("image", 2): self = .image(words[1])
    case ("shrink", 5):
      self = .shrink(
        words[1], isInside: words[2] == "inside", size: Int(words[3]) ?? 0, target: words[4])
    default: return nil
    }
  }
}

/// What the program found.
enum WorkerAnswer: Hashable {
  case tags(FileTags)
  case done(String)
  /// There is no such file any more.
  case gone
  /// The file could not be read now.
  case unreadable(String)
  case broken(String)
  /// No file can be read, and why.
  case useless(String)

  private var words: [String] {
    switch self {
    case .tags(let tags): ["tags"] + tags.words
    case .done(let text): ["done", text]
    case .gone: ["gone", ""]
    case .unreadable(let reason): ["unreadable", reason]
    case .broken(let reason): ["broken", reason]
    case .useless(let reason): ["useless", reason]
    }
  }

  var bytes: [UInt8] { Array(words.joined(separator: "\0").utf8) }

  init?(_ bytes: [UInt8]) {
    let words = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    guard words.count > 1 else { return nil }
    switch words[0] {
    case "tags":
      guard let tags = FileTags(words: words.dropFirst()) else { return nil }
      self = .tags(tags)
    case "done": self = .done(words[1])
    case "gone": self = .gone
    case "unreadable": self = .unreadable(words[1])
    case "broken": self = .broken(words[1])
    case "useless": self = .useless(words[1])
    default: return nil
    }
  }
}

extension FileTags {
  /// An empty word is nil.
  fileprivate var words: [String] {
    let texts = [title, artist, albumArtist, album, albumNumber, codec, picture]
    let numbers = [track, disc, year]
    return texts.map { $0 ?? "" } + numbers.map { $0.map(String.init) ?? "" }
      + [duration.map { "\($0)" } ?? "", hasVideo ? "video" : ""]
  }

  fileprivate init?(words: ArraySlice<String>) {
    let words = words.map { $0.isEmpty ? nil : $0 }
    guard words.count == 12 else { return nil }
    self.init()
    (title, artist, albumArtist, album) = (words[0], words[1], words[2], words[3])
    (albumNumber, codec, picture) = (words[4], words[5], words[6])
    (track, disc, year) = (
      words[7].flatMap { Int($0) }, words[8].flatMap { Int($0) }, words[9].flatMap { Int($0) }
    )
    (duration, hasVideo) = (words[10].flatMap { Double($0) }, words[11] != nil)
  }
}
