package import House

/// Asks a server of a library once, for a person who wants to know what is wrong.
package enum ServerLook {
  /// Returns nil if it lists its songs; else a sentence's part that says why not. Blocks.
  ///
  /// - Parameter command: a program that calls `LibraryWorker.run`.
  package static func problem(of server: MediaServer, command: [String]) -> String? {
    let worker = SingleUseWorker(command + [LibraryWorker.awaited])
    return switch ServerReader.pages(of: server, worker)(0) {
    case .songs: nil
    case .broken(let reason), .useless(let reason): reason
    default: "it takes too long to answer"
    }
  }
}
