import Dispatch
import ExpatFeeds
import LinuxIO
import Sender
import Synchronization

/// Reads feeds, one after the other, each by a program of its own that ends with it: it reaches the feed's server, and
/// what the feed's bytes make of it dies with it.
final class FeedDesk: Sendable {
  /// Feeds that wait to be read. More are refused.
  static let waitingLimit = 8
  private static let timeout = Int32(LibraryWorker.timeout + 5) * 1_000

  /// A part of a sentence that says why a feed is not read.
  struct Problem: Error {
    let text: String
  }

  private struct State {
    var program: BackgroundProgram?
    var waiting = 0
    var isClosed = false
  }

  private let command: [String]
  private let queue = DispatchQueue(label: "tutti feeds")
  private let state = Mutex(State())

  /// - Parameter command: a program that calls `LibraryWorker.run`.
  init(command: [String]) { self.command = command }

  /// Feeds that wait, with the one that is being read.
  var waitingCount: Int { state.withLock { $0.waiting } }

  func read(_ uri: String, _ reach: SourceReach) async throws(Problem) -> Podcasts.Reading {
    let isFree = state.withLock { state in
      guard state.waiting < Self.waitingLimit else { return false }
      state.waiting += 1
      return true
    }
    guard isFree else { throw Problem(text: "too many others are being read; try again soon") }
    let answer = await withCheckedContinuation { continuation in
      queue.async { [self] in
        let answer = ask(.feed(uri, reach))
        // Before whoever asked goes on, and asks again.
        state.withLock { $0.waiting -= 1 }
        continuation.resume(returning: answer)
      }
    }
    switch answer {
    case .feed(let feed, let isOwn):
      // A feed on this machine may name what is on it; no other may.
      return .init(feed: feed, reach: isOwn || reach != .all ? reach : .network)
    case .broken(let reason), .useless(let reason):
      throw Problem(text: ItemMetadata.shown(reason))
    default: throw Problem(text: "the program that read it has ended, or took too long")
    }
  }

  private func ask(_ request: WorkerRequest) -> WorkerAnswer? {
    let program = state.withLock { state in
      state.program = state.isClosed ? nil : try? BackgroundProgram(command)
      return state.program
    }
    defer { state.withLock { $0.program = nil } }
    guard let program, (try? program.ask(request.bytes)) != nil else { return nil }
    return (try? program.answer(within: Self.timeout)).flatMap { WorkerAnswer($0) }
  }

  /// Ends the program that reads, and takes no more feeds.
  func close() {
    let program = state.withLock { state in
      state.isClosed = true
      return state.program
    }
    program?.end()
  }
}
