import Clock
import Foundation
import LinuxIO

/// Asks a running player for something and waits for its answer.
struct ControlClient {
  static let patience = Nanoseconds.seconds(5)

  let path: String

  func ask(_ request: ControlRequest) throws -> ControlReply {
    let reactor = try Reactor()
    let connection = reactor.connect(toPath: path)
    var line: [UInt8] = []
    let until = HostClock.now + Self.patience
    while HostClock.now < until {
      for event in try reactor.wait(until: until) {
        switch event {
        case .connected:
          reactor.send(JSONLine.encode(request), on: connection)
        case .connectFailed:
          throw Failure(.unavailable, "nothing is playing; begin with: tutti play FILE")
        case .received(_, let bytes):
          line += bytes
          if line.last == UInt8(ascii: "\n") { return try understood(line) }
        case .closed:
          throw Failure(.unavailable, "the player ended before it answered")
        default: break
        }
      }
    }
    throw Failure(.unavailable, "the player did not answer within 5 s")
  }

  private func understood(_ line: [UInt8]) throws -> ControlReply {
    let reply = try JSONLine.decode(ControlReply.self, from: line)
    if let error = reply.error { throw Failure(.usage, error) }
    return reply
  }
}
