import Clock
import LinuxIO

/// Connects to one of a room's addresses: the next one is tried when the one before refuses or does not answer
/// for a moment, and the first that answers wins.
struct RoomDialer {
  /// A host on the same network answers well within this.
  static let headStart = Nanoseconds.milliseconds(300)

  private var candidates: [SocketAddress]
  private(set) var attempts: [(connection: LinuxIO.ConnectionID, address: SocketAddress)] = []
  private(set) var nextAttempt: LocalTime
  private(set) var lastError = "no address is known"

  init(_ candidates: [SocketAddress], at now: LocalTime) {
    self.candidates = candidates
    nextAttempt = now
  }

  /// Whether everything has failed.
  var isExhausted: Bool { candidates.isEmpty && attempts.isEmpty }
  var deadline: LocalTime? { candidates.isEmpty ? nil : nextAttempt }

  mutating func advance(to now: LocalTime, connect: (SocketAddress) -> LinuxIO.ConnectionID) {
    guard !candidates.isEmpty, nextAttempt <= now else { return }
    let address = candidates.removeFirst()
    attempts.append((connect(address), address))
    nextAttempt = now + Self.headStart
  }

  mutating func failed(_ connection: LinuxIO.ConnectionID, _ reason: String, at now: LocalTime) {
    attempts.removeAll { $0.connection == connection }
    lastError = reason
    nextAttempt = now
  }

  /// The address of the one that connected, and the attempts that lost.
  func won(
    _ connection: LinuxIO.ConnectionID
  ) -> (address: SocketAddress, losers: [LinuxIO.ConnectionID])? {
    guard let winner = attempts.first(where: { $0.connection == connection }) else { return nil }
    let losers = attempts.map(\.connection).filter { $0 != connection }
    return (winner.address, losers)
  }
}
