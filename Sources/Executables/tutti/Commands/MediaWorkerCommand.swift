import ArgumentParser
import Driver

/// What demuxes and decodes, in a process of its own; of no use to people.
struct MediaWorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "media-worker", abstract: "Decodes an item for a player.", shouldDisplay: false)

  /// From now on this process has others decode what it plays.
  static func start() throws {
    try MediaWorkers.shared.start(["/proc/self/exe", configuration.commandName ?? ""])
  }

  func run() { MediaWorker.run() }
}
