import Clock
import LinuxIO

/// Asks a running player for something and waits for its answer.
struct ControlClient {
  static let patience = Nanoseconds.seconds(5)
  /// After so long it says what it waits for.
  static let silence = Nanoseconds.seconds(1)

  let path: String

  /// Nil where no player runs.
  func askIfRunning(_ request: ControlRequest) throws -> ControlReply? {
    let reactor = try Reactor()
    let connection = reactor.connect(toPath: path)
    var line: [UInt8] = []
    let began = HostClock.now
    var speaksAt: LocalTime? = began + Self.silence
    while HostClock.now < began + Self.patience {
      if let time = speaksAt, time <= HostClock.now {
        printError("tutti: waiting for the player's answer")
        speaksAt = nil
      }
      for event in try reactor.wait(until: speaksAt ?? began + Self.patience) {
        switch event {
        case .connected:
          reactor.send(JSONLine.encode(request), on: connection)
        case .connectFailed:
          return nil
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

  func ask(_ request: ControlRequest) throws -> ControlReply {
    guard let reply = try askIfRunning(request) else {
      throw Failure(.unavailable, "nothing is playing; begin with: tutti play FILE")
    }
    return reply
  }

  private func understood(_ line: [UInt8]) throws -> ControlReply {
    let reply = try JSONLine.decode(ControlReply.self, from: line)
    if let error = reply.error {
      throw Failure(reply.code.flatMap(Failure.Kind.init(rawValue:)) ?? .usage, error)
    }
    return reply
  }
}
