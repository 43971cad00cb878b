import ArgumentParser
import FFmpegSource
import Glibc
import House
import ProgramJSON
import Sender
import Service

struct QueueCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "Lists the items to play, and marks the current one.",
    discussion: """
      Titles and lengths come from the tags of the files, else from the playlist.
      If there is no title, or a file cannot be read quickly, its name is shown.

      Examples:
        tutti queue
        tutti queue --json
      """)
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .queue }

  func show(_ answer: ControlAnswer) throws {
    if common.json { return try common.show(answer) }
    for line in QueueText.lines(answer.queue ?? []) { try printLine(line) }
  }
}

struct AddCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Adds files and folders to the list.",
    discussion: """
      Examples:
        tutti add song.flac           at the end
        tutti add album/ --next       after what plays now
        tutti add song.flac --now     at once; what was to come follows it
        tutti add song.flac --at 1    at the beginning
        tutti add Turntable           an input in the daemon's configuration
      """)
  @Argument(
    help: "Files, folders, playlists, addresses or inputs of the daemon.", completion: .file())
  var files: [String]
  @Flag(help: "Insert after the current item.")
  var next = false
  @Flag(help: "Play at once. What was to come follows.")
  var now = false
  @Option(
    name: .customLong("at"),
    help: .init("Insert at this place of the list, counted from 1.", valueName: "number"))
  var to: Int?
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    if [next, now, to != nil].count(where: \.self) > 1 {
      throw Failure(.usage, "only one of --next, --now and --at")
    }
    if let to, to < 1 { throw Failure(.usage, "--at counts from 1") }
    // The player runs in another folder, so paths must be absolute.
    var entries = try MediaPaths.expand(files, takesInputs: true)
    for index in entries.indices {
      entries[index].location = MediaPaths.absolute(entries[index].location)
    }
    let place = to.map { Order.Place.number($0) } ?? (now ? .nowAndKeep : next ? .next : .end)
    let request = ControlRequest.edit(.add(entries.map { Order.NewEntry($0) }, at: place))
    guard JSON.line(ControlCall(id: 1, request)).count <= ControlServer.requestLimit else {
      throw Failure(.usage, "too many files at once (\(entries.count)); add them in parts")
    }
    return request
  }
}

struct RemoveCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Removes items from the list, by their numbers.",
    discussion: """
      If you remove the current item, the next one plays at once.

      Examples:
        tutti remove 3
        tutti remove 4 5 6
      """)
  @Argument(help: "Numbers, as shown by: tutti queue")
  var numbers: [Int]
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .edit(.remove(numbers)) }
}

struct MoveCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Moves an item to another place in the list.",
    discussion: "Example:\n  tutti move 7 2    number 7 becomes number 2")
  @Argument(help: "Its number, as shown by: tutti queue")
  var number: Int
  @Argument(help: "Its new number.")
  var to: Int
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    guard to >= 1 else { throw Failure(.usage, "numbers count from 1") }
    return .edit(.move(number, to: .number(to)))
  }
}

struct ClearCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Empties the list, and ends the music.",
    discussion: "Examples:\n  tutti clear\n  tutti clear --others")
  @Flag(help: "Keep the current item, which plays on.")
  var others = false
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .edit(others ? .clearOthers : .clear) }
}

struct JumpCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "jump", abstract: "Plays an item of the list from its beginning.",
    discussion: "Example:\n  tutti jump 3")
  @Argument(help: "Its number, as shown by: tutti queue")
  var number: Int
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .edit(.play(number)) }
}

struct ShuffleCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "shuffle",
    abstract: "Puts the list in random order; the current item plays on, as the first.",
    discussion: """
      With off, the list gets back the order that it had before.
      Items that were added since stay behind the item that they were added behind.

      Examples:
        tutti shuffle
        tutti shuffle off
      """)
  @Argument(help: "on or off.", completion: .list(["on", "off"]))
  var mode: OnOff = .on
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .edit(mode == .on ? .shuffle : .unshuffle) }

  enum OnOff: String, ExpressibleByArgument {
    case on, off
  }
}

struct RepeatCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "repeat", abstract: "Repeats the list, one item, or nothing.",
    discussion: "Examples:\n  tutti repeat all\n  tutti repeat one\n  tutti repeat off")
  @Argument(help: "\(Playlist.Repetition.allCases.map(\.rawValue).orList).")
  var mode: Playlist.Repetition
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest {
    .change(.init(repeat: mode))
  }
}

extension Playlist.Repetition: ExpressibleByArgument {}

enum MediaPaths {
  /// Returns the files behind the given names, with folders and playlists expanded.
  ///
  /// - Parameter takesInputs: true if a name that is no file may be an input, which only the daemon
  ///   knows.
  static func expand(_ names: [String], takesInputs: Bool = false) throws -> [PlaylistEntry] {
    do {
      return try names.flatMap { name in
        if name == "-" { return [PlaylistEntry(name)] }
        do {
          return try MediaFolder.files(at: name)
        } catch MediaError.notFound where takesInputs && !name.contains(where: "./".contains) {
          return [PlaylistEntry("input:\(name)")]
        }
      }
    } catch let error as MediaError {
      throw Failure(.noInput, error.description)
    }
  }

  /// Throws if an entry is an input: without a daemon there are none.
  static func refuseInputs(_ entries: [PlaylistEntry]) throws {
    for entry in entries {
      guard case .input(let name) = LiveLocation(entry.location) else { continue }
      throw Failure(.noInput, MediaError.notFound(path: name).description)
    }
  }

  /// Makes a path absolute, because the player runs in another folder.
  static func absolute(_ path: String) -> String {
    if path.holds("://") || path == "-" || LiveLocation.isNamed(path) { return path }
    var parts: [Substring] = []
    let whole = path.hasPrefix("/") ? path : workingDirectory + "/" + path
    for part in whole.split(separator: "/") where part != "." {
      if part == "..", !parts.isEmpty {
        parts.removeLast()
      } else if part != ".." {
        parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static var workingDirectory: String {
    guard let path = getcwd(nil, 0) else { return "" }
    defer { free(path) }
    return String(cString: path)
  }
}
