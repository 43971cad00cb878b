package import Clock
import LinuxIO
import OpenSSLSecurity
package import Service
import Synchronization

/// A household's access with a clock that stands still until it is moved, and with a text as disk.
package final class FakeAccess: Sendable {
  private struct State {
    var now = LocalTime(nanoseconds: 0)
    var day = 20_000
    var kept: String?
    var isDiskFull = false
  }

  private struct DiskIsFull: Error {}

  private let state: Mutex<State>

  package init(kept: String? = nil) {
    var start = State()
    start.kept = kept
    state = Mutex(start)
  }

  package static func make(token: String? = nil, isOpen: Bool? = nil) throws -> HouseAccess {
    try FakeAccess().open(token: token, isOpen: isOpen)
  }

  /// Opens the access from the stored text, like at a start of the daemon.
  package func open(token: String? = nil, isOpen: Bool? = nil) throws -> HouseAccess {
    try HouseAccess(
      kept, isOpen: isOpen, token: token,
      means: .init(
        now: { self.state.withLock { $0.now } }, today: { self.state.withLock { $0.day } },
        random: { try SystemRandom.bytes($0) }, sha256: { Digest.sha256($0) },
        keep: { try self.keep($0) }, address: { "http://192.168.1.20:8770" }))
  }

  private func keep(_ text: String) throws {
    try state.withLock { state in
      if state.isDiskFull { throw DiskIsFull() }
      state.kept = text
    }
  }

  package var kept: String? { state.withLock { $0.kept } }

  package func pass(_ time: Nanoseconds) { state.withLock { $0.now = $0.now + time } }

  package func pass(days: Int) { state.withLock { $0.day += days } }

  package func fillDisk(_ isFull: Bool = true) { state.withLock { $0.isDiskFull = isFull } }
}
