import ArgumentParser
import House
import ProgramJSON
import Service
import WireProtocol

struct SearchCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Finds music in the daemon's library, and plays it.",
    discussion: """
      Each word may be the beginning of a word of a title or a name.

      Examples:
        tutti search nina blues
        tutti search nina blues --play 2    number 2 of that list
        tutti search sinnerman --add 1      to the end of the queue
      """)
  @Argument(help: "What to look for.")
  var words: [String]
  @OptionGroup var choice: LibraryChoice
  @OptionGroup var common: CommonOptions
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
      """)
  @OptionGroup var choice: LibraryChoice
  @OptionGroup var common: CommonOptions
  var request: LibraryRequest { .favourites }
  var nothing: String { "no favourite yet; a heart on the page adds one" }
}

struct LibraryChoice: ParsableArguments {
  @Option(help: .init("Play this number of the list in place of the queue.", valueName: "number"))
  var play: Int?
  @Option(help: .init("Add this number of the list to the queue.", valueName: "number"))
  var add: Int?
}

/// A command that lists things of the library, or plays one of them.
protocol LibraryCommand: ParsableCommand {
  var choice: LibraryChoice { get }
  var common: CommonOptions { get }
  var request: LibraryRequest { get }
  /// A line for an empty list.
  var nothing: String { get }
}

extension LibraryCommand {
  func run() throws {
    try reporting {
      if choice.play != nil, choice.add != nil {
        throw Failure(.usage, "either --play or --add, not both")
      }
      let client = common.client(try common.state())
      let things = try client.ask(request).things
      if let number = choice.play ?? choice.add {
        guard things.indices.contains(number - 1) else {
          throw Failure(.usage, "the list has \(things.count) items; there is no number \(number)")
        }
        let thing = things[number - 1]
        let answer = try client.ask(.play(thing: thing, isAdded: choice.add != nil))
        if let done = answer.done { try printLine(done.shownPlainly) }
        return
      }
      if common.json {
        for thing in things { try printJSON(thing) }
        return
      }
      if things.isEmpty { return try printLine(nothing) }
      for (number, thing) in things.enumerated() {
        let detail = thing.detail.map { ", \($0)" } ?? ""
        try printLine(
          "\(number + 1)  \(thing.title)\(detail) (\(thing.kind.rawValue))".shownPlainly)
      }
    }
  }
}

extension ControlClient {
  /// Asks a daemon about its library.
  fileprivate func ask(_ request: LibraryRequest) throws -> LibraryAnswer {
    guard let answer = try askLibrary(request) else {
      throw Failure(.unavailable, "no daemon runs; start one with: tutti serve")
    }
    return answer
  }
}
