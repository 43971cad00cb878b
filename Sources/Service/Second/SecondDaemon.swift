import Clock
import Dispatch
package import Driver
package import LinuxIO
package import OpenSSLSecurity
package import Sender
import Synchronization
package import WireProtocol

/// One of a household's two daemons, as the other one and the rooms know it: on a thread of its own, it hears and speaks, keeps
/// what the other needs, and says when this machine leads. See docs/protocol/second-sender.md.
package final class SecondDaemon: Sendable {
  /// Time without the other daemon that is worth a word: longer than one that begins anew takes.
  static let patience = Nanoseconds.seconds(10)

  package enum News: Sendable {
    /// Play in the rooms, with this term; all that is needed for it stands in the state directory.
    case leads(Term)
    /// Leave them without a word.
    case follows
  }

  package struct Settings: Sendable {
    /// The state directory.
    package var directory: String
    package var place: DaemonLink.Place
    package var record: SecondRecord
    /// The port of the page.
    package var port: UInt16
    /// As it shall be called; nil to be called as the other one says.
    package var name: String?

    package init(
      directory: String, place: DaemonLink.Place, record: SecondRecord, port: UInt16, name: String?
    ) {
      (self.directory, self.place, self.record) = (directory, place, record)
      (self.port, self.name) = (port, name)
    }
  }

  /// The other daemon, as far as it is known.
  package struct Other: Hashable, Sendable {
    /// True while it is connected.
    package var isUp = false
    /// Why one of the two could not go on with the music, as this one knows it.
    package var problem: String?
    /// Its address, and the port of its page; nil before it is known.
    package var host: String?
    package var port: UInt16?
    /// The household's name, as it has said it.
    package var name: String?

    /// For people who want something of this one, while it follows.
    package var leading: String {
      "the household's other daemon leads\(host.map { " at \($0)" } ?? ""): give commands there, or on its page"
    }
  }

  private let mailbox: Mailbox<SecondLoop>
  private let shared: Shared

  /// - Parameters:
  ///   - security: has the household's key; nobody else may use it.
  ///   - rooms: reads those that are remembered; called on the new thread.
  ///   - report: takes a line for people, there too.
  package init(
    _ settings: Settings, security: sending TLSContext,
    rooms: @escaping @Sendable () -> [RoomRecord], report: @escaping @Sendable (String) -> Void
  ) throws(IOError) {
    let shared = Shared(
      Other(host: settings.record.address?.host, name: settings.record.name))
    let loop = try SecondLoop(
      settings, security, .init(shared: shared, rooms: rooms, report: report))
    (mailbox, self.shared) = (loop.mailbox, shared)
    let handed = Mutex<SecondLoop?>(loop)
    try RealtimeThread.start(name: "second", priority: nil) {
      let loop = handed.withLock { loop in
        defer { loop = nil }
        return loop
      }
      loop?.run()
    }.detach()
  }

  package var other: Other { shared.state.withLock { $0.other } }

  /// Wakes this thread with each news and each change of `other` from now on, and with those that nobody has taken.
  package func wakes(_ waker: Waker) {
    shared.state.withLock { $0.waker = waker }
    waker.wake()
  }

  package func takeNews() -> [News] {
    shared.state.withLock { state in
      defer { state.news = [] }
      return state.news
    }
  }

  /// A room obeys a daemon of this higher term.
  package func isOutdated(by term: Term) { mailbox.post { $0.isOutdated(by: term) } }

  /// Tells the other daemon that this one begins anew, and need not be stood in for. Waits until that was said, for 300 ms at most.
  package func returns() {
    let said = DispatchSemaphore(value: 0)
    guard mailbox.post({ $0.returns { said.signal() } }) else { return }
    _ = said.wait(timeout: .now() + .milliseconds(300))
  }

  /// No program of this machine uses the files: those of the leader may be written.
  package func stands() { mailbox.post { $0.hasLed = false } }

  /// Machines that know the PIN may join.
  package func welcomes(_ access: HouseAccess) { mailbox.post { $0.joining.access = access } }

  /// The port of the page, once it is known.
  package func isReached(at port: UInt16) { mailbox.post { $0.port = port } }
}

extension SecondDaemon {
  /// The values that the two threads share.
  final class Shared: Sendable {
    struct State {
      var other: Other
      var news: [News] = []
      var waker: Waker?
    }

    let state: Mutex<State>

    init(_ other: Other) { state = Mutex(State(other: other)) }

    func change(_ body: (inout Other) -> Void) {
      tell { state in
        let before = state.other
        body(&state.other)
        return state.other != before
      }
    }

    func tell(_ news: News) {
      tell { state in
        state.news.append(news)
        return true
      }
    }

    private func tell(_ body: (inout State) -> Bool) {
      let waker = state.withLock { state in body(&state) ? state.waker : nil }
      waker?.wake()
    }
  }
}
