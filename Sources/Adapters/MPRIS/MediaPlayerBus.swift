internal import CMPRIS
internal import Glibc
package import House
package import MPRISProtocol
internal import Synchronization

/// Somebody on the session bus asks a player for something.
package struct PlayerRequest: Hashable, Sendable {
  package enum Wish: Hashable, Sendable {
    case order(Order)
    /// An address, which nobody has checked yet.
    case open(String)
  }

  /// Whoever asks waits for `MediaPlayerBus.answer` with this number; nil if nobody waits.
  package let number: UInt64?
  package let group: String
  package let wish: Wish
}

/// Players on the session bus, by which keys of keyboards, desktops and other programs show and steer them (MPRIS 2.2). Each has a
/// connection of its own, because its path there is fixed. They belong to a thread that nobody waits for: the bus may hang, or begin
/// anew.
package final class MediaPlayerBus: Sendable {
  /// More groups than these are not shown.
  package static let playerLimit = 16

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Called on the bus's thread. None of them may block.
  package struct Means: Sendable {
    /// The clock of the groups' positions, in milliseconds.
    package var nowMs: @Sendable () -> Double
    /// Takes a request; false if too many wait.
    package var ask: @Sendable (PlayerRequest) -> Bool
    /// Takes lines for people.
    package var report: @Sendable (String) -> Void

    package init(
      nowMs: @escaping @Sendable () -> Double, ask: @escaping @Sendable (PlayerRequest) -> Bool,
      report: @escaping @Sendable (String) -> Void
    ) {
      (self.nowMs, self.ask, self.report) = (nowMs, ask, report)
    }
  }

  private let mail: BusMail

  /// - Parameter address: of the bus; nil is that of this user.
  package init(_ means: Means, address: String? = nil) throws(Failure) {
    guard let mail = BusMail() else {
      throw Failure(description: "no descriptors can be had for the session bus")
    }
    self.mail = mail
    let body = Unmanaged.passRetained(BusBody { BusLoop(mail, means, address: address).run() })
    var thread = pthread_t()
    guard pthread_create(&thread, nil, runBody, body.toOpaque()) == 0 else {
      body.release()
      throw Failure(description: "no thread can be had for the session bus")
    }
    pthread_detach(thread)
  }

  /// Shows these players, and no others, from now on. If the bus's thread is slow, only the newest are shown. From any thread.
  package func show(_ players: [MediaPlayer.Shown]) {
    mail.post { $0.players = Array(players.prefix(Self.playerLimit)) }
  }

  /// Answers a request that somebody waits for: nil is that it was done. From any thread.
  package func answer(_ number: UInt64, refusal: String?) {
    mail.post { $0.answers.append(.init(number: number, refusal: refusal)) }
  }

  /// Sends the answers so far and ends the connections, for which it waits so long at most.
  package func finish(withinMs limit: Int32) {
    mail.post { $0.isEnding = true }
    var end = pollfd(fd: mail.ended, events: Int16(POLLIN), revents: 0)
    poll(&end, 1, limit)
  }

  deinit { mail.post { $0.isEnding = true } }
}

/// Whatever other threads have for the bus's.
final class BusMail: Sendable {
  struct Answer {
    let number: UInt64
    let refusal: String?
  }

  struct Contents {
    var players: [MediaPlayer.Shown]?
    /// One for each request at most.
    var answers: [Answer] = []
    var isEnding = false
  }

  /// Readable while there is something.
  let waker: Int32
  /// Readable once the thread has ended its connections.
  let ended: Int32
  private let contents = Mutex(Contents())

  init?() {
    (waker, ended) = (cmpris_waker(), cmpris_waker())
    if waker < 0 || ended < 0 { return nil }
  }

  deinit {
    if waker >= 0 { close(waker) }
    if ended >= 0 { close(ended) }
  }

  func post(_ change: (inout Contents) -> Void) {
    contents.withLock { change(&$0) }
    cmpris_wake(waker)
  }

  func take() -> Contents {
    cmpris_clear(waker)
    return contents.withLock { contents in
      defer { (contents.players, contents.answers) = (nil, []) }
      return contents
    }
  }
}

private final class BusBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runBody(_ body: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let body else { return nil }
  var all = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_BLOCK, &all, nil)
  Unmanaged<BusBody>.fromOpaque(body).takeRetainedValue().run()
  return nil
}
