import ArgumentParser
import FFmpegSource
import Glibc
import House
import ProgramJSON
import Sender
import Service
import WireProtocol

import enum House.Refusal

struct SearchCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Finds music in the daemon's library, and plays it.",
    discussion: """
      Each word may be the beginning of a word of a title or a name.

      Examples:
        tutti search nina blues
        tutti search nina blues --play 2    number 2 of that list
        tutti search nina --play 2 --on Kitchen
        tutti search sinnerman --add 1      to the end of the queue
        tutti search sinnerman --favour 1   to the favourites
      """)
  @Argument(help: "What to look for.")
  var words: [String]
  @OptionGroup var choice: LibraryChoice
  @Option(help: .init("Make this number of the list a favourite.", valueName: "number"))
  var favour: Int?
  @OptionGroup var common: CommonOptions
  var change: LibraryChange? {
    favour.map { number in .init(number) { .favour(thing: $0, isFavourite: true) } }
  }
  var request: LibraryRequest { .search(text: words.joined(separator: " ")) }
  var nothing: String { "nothing is called \(words.joined(separator: " ").shownPlainly)" }
}

struct FavouritesCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourites", abstract: "Lists the household's favourites, and plays them.",
    discussion: """
      The latest comes first. Hearts on the page add and remove them.

      Examples:
        tutti favourites
        tutti favourites --play 1
        tutti favourites --remove 3
      """)
  @OptionGroup var choice: LibraryChoice
  @Option(help: .init("Take this number out of the list.", valueName: "number"))
  var remove: Int?
  @OptionGroup var common: CommonOptions
  var change: LibraryChange? {
    remove.map { number in .init(number) { .favour(thing: $0, isFavourite: false) } }
  }
  var request: LibraryRequest { .favourites }
  var nothing: String { "no favourite yet; add one with: tutti search WORDS --favour 1" }
}

struct RadioCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "radio", abstract: "Lists the daemon's stations, plays them, and keeps new ones.",
    discussion: """
      Examples:
        tutti radio
        tutti radio --play 2
        tutti radio --keep http://example.com/jazz.mp3 --name "Jazz all night"
        tutti radio --keep stations.m3u      all that are in this list
        tutti radio --remove 2
      """)
  @OptionGroup var choice: LibraryChoice
  @Option(
    help: .init(
      "Keep the station at this address, or all of this M3U, PLS or XSPF file.",
      valueName: "address|file"))
  var keep: String?
  @Option(help: .init("What it is called (default: as it calls itself).", valueName: "name"))
  var name: String?
  @Option(help: .init("Remove this number of the list.", valueName: "number"))
  var remove: Int?
  @OptionGroup var common: CommonOptions
  var change: LibraryChange? { remove.map { .init($0) { .forget(thing: $0) } } }
  var request: LibraryRequest { .radios }
  var nothing: String { "no station yet; keep one with: tutti radio --keep ADDRESS --name NAME" }

  func run() throws {
    guard let keep else {
      try reporting { if name != nil { throw Failure(.usage, "--name goes with --keep") } }
      return try showOrChange()
    }
    try reporting {
      guard change == nil, choice.number == nil else {
        throw Failure(.usage, "--keep goes with --name only")
      }
    }
    if Radio.isAddress(keep) { return try tell(.addRadio(name: name, uri: keep)) }
    try reporting { try self.keep(listed: keep) }
  }

  /// One that cannot be kept does not keep the others out.
  private func keep(listed file: String) throws {
    guard name == nil else { throw Failure(.usage, "--name goes with an address only") }
    let entries: [PlaylistEntry]
    do throws(MediaError) {
      entries = try MediaFolder.files(at: file)
    } catch {
      throw Failure(.noInput, "\(error)")
    }
    var lost = 0
    for entry in entries {
      do {
        let name = entry.title.map {
          String($0.unicodeScalars.prefix(Radio.nameLengths.upperBound))
        }
        let request = LibraryRequest.addRadio(
          name: name, uri: entry.location, picture: entry.picture)
        if let done = try ask(request).done {
          try printLine(done.shownPlainly)
        }
      } catch let refusal as Refusal {
        printError("tutti: \(entry.location): \(refusal)".shownPlainly)
        lost += 1
      }
    }
    guard lost == 0 else {
      throw Failure(.unavailable, "\(lost) of \(entries.count) stations were not kept")
    }
  }
}

struct PlaylistsCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "playlists", abstract: "Lists the daemon's playlists, and plays them.",
    discussion: """
      Examples:
        tutti playlists
        tutti playlists --play 1
        tutti playlists --add 2      to the end of the queue
        tutti playlists --remove 3
        tutti playlists --rename 1 --name "Sunday"
        tutti playlists --show 1
        tutti playlists --show 1 --drop 5
        tutti playlists --show 1 --move 5 --to 2
        tutti search sinnerman --add 1 --into "Sunday"
        tutti save "Sunday"          makes one of the queue
      """)
  @OptionGroup var choice: LibraryChoice
  @Option(help: .init("Delete this number of the list.", valueName: "number"))
  var remove: Int?
  @Option(help: .init("Give this number of the list another --name.", valueName: "number"))
  var rename: Int?
  @Option(help: .init("With --rename.", valueName: "name"))
  var name: String?
  @Option(help: .init("Show the items of this number of the list.", valueName: "number"))
  var show: Int?
  @Option(help: .init("With --show: take this item out.", valueName: "number"))
  var drop: Int?
  @Option(help: .init("With --show: move this item.", valueName: "number"))
  var move: Int?
  @Option(help: .init("With --move: the number that it gets.", valueName: "number"))
  var to: Int?
  @OptionGroup var common: CommonOptions
  var change: LibraryChange? {
    if let rename, let name {
      return .init(rename) { .edit(playlist: $0, edit: .rename(name: name)) }
    }
    if let show, let drop {
      return .init(show) { .edit(playlist: $0, edit: .drop(number: drop)) }
    }
    if let show, let move, let to {
      return .init(show) { .edit(playlist: $0, edit: .move(number: move, to: to)) }
    }
    return remove.map { .init($0) { .forget(thing: $0) } }
  }
  var request: LibraryRequest { .playlists }
  var nothing: String { "no playlist yet; make one of the queue with: tutti save NAME" }

  func validate() throws {
    guard (rename == nil) == (name == nil) else {
      throw ValidationError("--rename and --name go together.")
    }
    guard (move == nil) == (to == nil) else {
      throw ValidationError("--move and --to go together.")
    }
    guard show != nil || drop == nil && move == nil else {
      throw ValidationError("--drop and --move need --show, with the number of a playlist.")
    }
    guard [remove != nil, rename != nil, drop != nil, move != nil].count(where: \.self) < 2 else {
      throw ValidationError("One thing at a time, please.")
    }
  }

  func run() throws {
    guard let show, drop == nil, move == nil else { return try showOrChange() }
    try reporting {
      guard choice.number == nil, remove == nil, rename == nil else {
        throw Failure(.usage, "one thing at a time, please")
      }
      let list = try thing(show, of: try ask(.playlists).things)
      try self.show(try ask(.contents(playlist: list)).things, or: "nothing is in it")
    }
  }
}

struct LibraryChoice: ParsableArguments {
  @Option(help: .init("Play this number of the list in place of the queue.", valueName: "number"))
  var play: Int?
  @Option(
    help: .init(
      "With --play: the rooms, separated by commas (default: where it played last, else all).",
      valueName: "rooms"),
    completion: RoomCompletion.kind)
  var on: String?
  @Flag(help: "With --play: take over rooms in which another machine plays.")
  var take = false
  @Option(help: .init("Add this number of the list to the queue.", valueName: "number"))
  var add: Int?
  @Option(help: .init("With --add: to this playlist, and not to the queue.", valueName: "playlist"))
  var into: String?

  var number: Int? { play ?? add }

  func validate() throws {
    guard into == nil || add != nil else { throw ValidationError("--into goes with --add.") }
    guard play != nil || (on == nil && !take) else {
      throw ValidationError("--on and --take go with --play.")
    }
  }

  /// The order for the thing that was chosen.
  func request(_ thing: LibraryThing) -> LibraryRequest {
    if let into { return .keep(thing: thing, playlist: into) }
    guard add == nil else { return .add(thing: thing) }
    return .play(thing: thing, rooms: RoomWish.names(on), takes: take)
  }
}

/// A change of one thing of a list.
struct LibraryChange {
  /// From 1.
  let number: Int
  let request: (LibraryThing) -> LibraryRequest

  init(_ number: Int, _ request: @escaping (LibraryThing) -> LibraryRequest) {
    (self.number, self.request) = (number, request)
  }
}

/// A command that lists things of the library, or does something with one of them.
protocol LibraryCommand: ParsableCommand {
  var choice: LibraryChoice { get }
  var common: CommonOptions { get }
  /// Nil unless something is to be changed.
  var change: LibraryChange? { get }
  var request: LibraryRequest { get }
  /// A line for an empty list.
  var nothing: String { get }
}

extension LibraryCommand {
  func run() throws { try showOrChange() }

  func showOrChange() throws { try showOrChange(request, or: nothing) }

  /// - Parameter nothing: a line for an empty list.
  func showOrChange(_ request: LibraryRequest, or nothing: String) throws {
    let added = choice.add != nil
    let choices = [change, choice.number.map { .init($0, choice.request) }].compactMap(\.self)
    try reporting {
      guard choices.count + (choice.play != nil && added ? 1 : 0) < 2 else {
        throw Failure(.usage, "one thing at a time, please")
      }
      let things = try ask(request).things
      guard let wanted = choices.first else { return try show(things, or: nothing) }
      try tell(wanted.request(try thing(wanted.number, of: things)))
    }
  }

  func thing(_ number: Int, of things: [LibraryThing]) throws -> LibraryThing {
    guard number > 0, number <= things.count else {
      throw Failure(.usage, "the list has \(things.count) items; there is no number \(number)")
    }
    return things[number - 1]
  }

  /// Asks a daemon about its library.
  func ask(_ request: LibraryRequest) throws -> LibraryAnswer {
    guard let answer = try common.client(try common.state()).askLibrary(request) else {
      throw Failure(.unavailable, "no daemon runs; start one with: tutti serve")
    }
    return answer
  }

  /// Lets the daemon do something, and prints what it says of it.
  func tell(_ request: LibraryRequest) throws {
    try reporting {
      if let done = try ask(request).done { try printLine(done.shownPlainly) }
    }
  }

  fileprivate func show(_ things: [LibraryThing], or nothing: String) throws {
    if common.json {
      for thing in things { try printJSON(thing) }
      return
    }
    if things.isEmpty { return try printLine(nothing) }
    let width = TerminalText.columns(of: STDOUT_FILENO)
    for (number, thing) in things.enumerated() {
      let detail = thing.detail.map { ", \($0)" } ?? ""
      let line = StyledText(
        "\(number + 1)  \(thing.title)\(detail) (\(thing.kind.rawValue))".shownPlainly)
      try printLine(width.map { line.cut(to: $0) } ?? line)
    }
  }
}
