import ArgumentParser
import Library

/// What the library reads files by, in a process of its own; of no use to people.
struct LibraryWorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "library-worker", abstract: "Reads media files for the library.",
    shouldDisplay: false)

  @Flag(help: "A person waits for what it makes.")
  var awaited = false

  func run() { LibraryWorker.run(isAwaited: awaited) }
}
