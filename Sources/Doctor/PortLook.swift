import Clock
package import Diagnosis
import LinuxIO

extension ReceiverFacts.Port {
  /// A program of this machine that listens takes a connection within microseconds.
  private static let timeout = Nanoseconds.seconds(1)

  /// Connects to a port of this machine, and closes the connection.
  package static func look(at port: UInt16) -> Self {
    do {
      let reactor = try Reactor()
      _ = reactor.connect(to: .loopback(port: port))
      let deadline = HostClock.now + timeout
      while HostClock.now < deadline {
        for event in try reactor.wait(until: deadline) {
          if case .connected = event { return .answers(port) }
          if case .connectFailed(_, let error) = event {
            return .failed(port, reason: "\(error)")
          }
        }
      }
      return .failed(port, reason: "nobody answers")
    } catch {
      return .failed(port, reason: "\(error)")
    }
  }
}
