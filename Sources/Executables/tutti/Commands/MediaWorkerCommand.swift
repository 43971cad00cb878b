import ArgumentParser
import Driver

/// Demuxes and decodes in a process of its own. Started by players, not by people.
struct MediaWorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "media-worker", abstract: "Decodes an item for a player.", shouldDisplay: false)

  /// From now on, items that this process plays are decoded by worker processes.
  static func start() throws {
    try MediaWorkers.shared.start(["/proc/self/exe", configuration.commandName ?? ""])
  }

  func run() { MediaWorker.run() }
}
