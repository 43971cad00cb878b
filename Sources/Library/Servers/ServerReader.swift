import Dispatch
import House
import LinuxIO
import PlaylistFormats
import Synchronization

/// Lists the songs of one server, page by page, on a thread of its own: a server that hangs holds up nobody else. The next page
/// is asked for once the last one was taken.
final class ServerReader: Sendable {
  enum News {
    case page([ServedSong])
    /// All of them were told; their number.
    case end(Int)
    case failed(String)
  }

  /// Songs of one server; further ones are left out.
  static let songLimit = 100_000
  /// The time after which songs are listed again, in seconds. A scan that somebody asks for lists them at once.
  private static let period = 3_600
  /// Pauses before a server that does not answer is asked again, in seconds; each is twice the one before.
  static let firstPause = 10
  static let longestPause = 900
  /// A program that is asked to end does so at once, in seconds.
  private static let endTimeout = 5.0

  private struct State {
    var news: News?
    var isClosed = false
  }

  let server: MediaServer
  private let worker: SingleUseWorker
  private let state = Mutex(State())
  /// Signalled when news were taken, when a listing is asked for, and at the end.
  private let taken = DispatchSemaphore(value: 0)
  private let asked = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private let hasNews: @Sendable () -> Void

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - command: a program that calls `LibraryWorker.run`.
  ///   - hasNews: called on its thread when there is something to take.
  init(
    _ server: MediaServer, command: [String], hasNews: @escaping @Sendable () -> Void
  ) throws(IOError) {
    (self.server, self.hasNews) = (server, hasNews)
    worker = SingleUseWorker(command)
    let thread = try RealtimeThread.start(name: "server", priority: nil) { [self] in
      run()
      ended.signal()
    }
    thread.detach()
  }

  /// Requests a listing. From any thread.
  func ask() { asked.signal() }

  /// Returns the news, once.
  func take() -> News? {
    let news = state.withLock { state in
      defer { state.news = nil }
      return state.news
    }
    if news != nil { taken.signal() }
    return news
  }

  func close() {
    state.withLock { $0.isClosed = true }
    worker.close()
    taken.signal()
    asked.signal()
    _ = ended.wait(timeout: .now() + Self.endTimeout)
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  private func run() {
    var failures = 0
    while !isClosed {
      let hasFailed = Self.list(Self.pages(of: server, worker), tell)
      failures = hasFailed ? failures + 1 : 0
      _ = asked.wait(timeout: .now() + .seconds(Self.pause(after: failures)))
      // Several requests are one.
      while asked.wait(timeout: .now()) == .success {}
    }
  }

  /// Returns what asks for songs from a number on; a media server of UPnP tells those that come next.
  static func pages(of server: MediaServer, _ worker: SingleUseWorker) -> (Int) -> WorkerAnswer? {
    guard server.kind == .upnp else { return { worker.ask(.songs(server, from: $0)) } }
    let walk = ShelfWalk { worker.ask(.shelf(server, $0)) }
    return { _ in walk.next() }
  }

  /// - Parameter failures: in a row.
  static func pause(after failures: Int) -> Int {
    failures == 0 ? period : min(longestPause, firstPause << min(failures - 1, 10))
  }

  /// - Parameters:
  ///   - ask: asks for songs from a number on.
  ///   - tell: returns false once nobody takes them any more.
  /// - Returns: true if the server has not told all.
  static func list(_ ask: (Int) -> WorkerAnswer?, _ tell: (News) -> Bool) -> Bool {
    var offset = 0
    var first: String?
    while offset < songLimit {
      switch ask(offset) {
      case .songs(let songs, let count):
        // A server that does not know offsets begins anew for ever.
        guard count > 0, first == nil || songs.first?.id != first else {
          _ = tell(.end(offset))
          return false
        }
        first = first ?? songs.first?.id
        offset += count
        guard tell(.page(songs)) else { return true }
      case .broken(let reason), .useless(let reason):
        _ = tell(.failed(reason))
        return true
      default:
        _ = tell(.failed("the program that asks it has ended, or took too long"))
        return true
      }
    }
    _ = tell(.end(offset))
    return false
  }

  /// Waits until somebody has taken it. Returns false at the end.
  private func tell(_ news: News) -> Bool {
    let isClosed = state.withLock { state in
      state.news = news
      return state.isClosed
    }
    guard !isClosed else { return false }
    hasNews()
    taken.wait()
    return !self.isClosed
  }
}
