import Dispatch
package import House
import Sender
import Synchronization

/// Asks servers of libraries before they are added, and finds some, on threads that may wait for them.
package final class ServerVisits: Sendable {
  /// Returns nil if the server lists its songs; else a sentence's part that says why not. Blocks.
  package typealias Look = @Sendable (MediaServer) -> String?
  /// Finds media servers in the network. Blocks.
  package typealias Search = @Sendable () -> [FoundServer]

  /// Servers that are asked at a time: `tutti doctor` asks all at once.
  static let limit = 8

  private let look: Look
  private let search: Search
  private let visits = Mutex(0)
  private let queue = DispatchQueue(label: "tutti servers", attributes: .concurrent)

  init(look: @escaping Look, search: @escaping Search = { [] }) {
    (self.look, self.search) = (look, search)
  }

  func found(_ server: MediaServer) async -> Result<Void, Refusal> {
    do throws(Refusal) {
      guard let problem = try await visit({ [look] in look(server) }) else { return .success(()) }
      return .failure(
        .unavailable("\(server.address.host) gives no library: \(problem)"))
    } catch {
      return .failure(error)
    }
  }

  func servers() async throws(Refusal) -> [FoundServer] { try await visit(search) }

  private func visit<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async throws(Refusal) -> Value {
    let isFree = visits.withLock { visits in
      guard visits < Self.limit else { return false }
      visits += 1
      return true
    }
    guard isFree else {
      throw .unavailable("too many servers do not answer; try again in a moment")
    }
    let value: Value = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
    visits.withLock { $0 -= 1 }
    return value
  }
}

/// The servers whose songs may be played, for any thread.
package final class HeldServers: Sendable {
  private let servers: Mutex<[MediaServer]>

  package init(_ servers: [MediaServer] = []) { self.servers = Mutex(servers) }

  package func set(_ servers: [MediaServer]) { self.servers.withLock { $0 = servers } }

  package func server(_ name: String) -> MediaServer? {
    servers.withLock { $0.first { $0.name == name } }
  }
}
