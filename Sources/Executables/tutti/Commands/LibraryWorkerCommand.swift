import ArgumentParser
import Library

/// Reads media files for the library in a process of its own, so that a broken file can end nothing
/// else. Started by the daemon, not by people.
struct LibraryWorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "library-worker", abstract: "Reads media files for the library.",
    shouldDisplay: false)

  @Flag(help: "A person waits for what it makes.")
  var awaited = false

  @Flag(help: "It decodes files to their ends.")
  var decoding = false

  func run() { LibraryWorker.run(isAwaited: awaited, isDecoding: decoding) }
}
