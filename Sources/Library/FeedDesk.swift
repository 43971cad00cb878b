import Dispatch
import ExpatFeeds
import Sender
import Synchronization

/// Reads feeds, one after the other, each by a program of its own that ends with it: it reaches the feed's server, and
/// what the feed's bytes make of it dies with it.
final class FeedDesk: Sendable {
  /// Feeds that wait to be read, unless less is asked for. More are refused.
  static let waitingLimit = 8

  /// A part of a sentence that says why a feed is not read.
  struct Problem: Error {
    let text: String
    /// True if nobody has tried to read it, so that nothing is known of the feed.
    var isUntried = false
  }

  private enum Round: Hashable {
    case none
    /// Somebody reads the feeds that are due. True if more have become due since.
    case running(isAskedAgain: Bool)
  }

  private struct State {
    var waiting = 0
    var round = Round.none
  }

  private let worker: SingleUseWorker
  private let limit: Int
  private let queue = DispatchQueue(label: "tutti feeds")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - command: a program that calls `LibraryWorker.run`.
  ///   - limit: of feeds that wait, with the one that is being read.
  init(command: [String], limit: Int = waitingLimit) {
    worker = SingleUseWorker(command)
    self.limit = limit
  }

  /// Feeds that wait, with the one that is being read.
  var waitingCount: Int { state.withLock { $0.waiting } }

  func read(_ uri: String, _ reach: SourceReach) async throws(Problem) -> Podcasts.Reading {
    let isFree = state.withLock { state in
      guard state.waiting < limit else { return false }
      state.waiting += 1
      return true
    }
    guard isFree else {
      throw Problem(text: "too many others are being read; try again soon", isUntried: true)
    }
    let answer = await withCheckedContinuation { continuation in
      queue.async { [self] in
        let answer = worker.ask(.feed(uri, reach))
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
    default:
      guard !worker.isClosed else {
        throw Problem(text: "the library is being closed", isUntried: true)
      }
      throw Problem(text: "the program that read it has ended, or took too long")
    }
  }

  // MARK: - Rounds

  /// Begins to read the feeds that are due. Returns false if somebody does already: they look once more before they end.
  func beginRound() -> Bool {
    state.withLock { state in
      let isFree = state.round == .none
      state.round = .running(isAskedAgain: !isFree)
      return isFree
    }
  }

  /// Returns false once the round is over; true if feeds may have become due that it has not looked at.
  func endRound() -> Bool {
    state.withLock { state in
      let goesOn = state.round == .running(isAskedAgain: true)
      state.round = goesOn ? .running(isAskedAgain: false) : .none
      return goesOn
    }
  }

  /// Ends the program that reads, and takes no more feeds.
  func close() { worker.close() }
}
