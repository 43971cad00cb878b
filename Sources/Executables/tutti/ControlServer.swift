import Clock
import Driver
import Glibc
import House
import LinuxIO
import ProgramJSON
import Service

/// Answers commands from other terminals over a Unix-domain socket that only its owner, or a group, can open. Requests
/// and answers are one JSON object a line. Both ends are this program: other programs use `--json`, not the socket.
final class ControlServer: LoopMember {
  /// Longest request, in bytes; the longest ones are lists of files.
  static let requestLimit = 1 << 20
  private static let clientLimit = 32

  /// Takes a request and the function that sends the reply, at once or later, on the loop's thread.
  typealias Answer = (ControlCall, @escaping (ControlReply) -> Void) -> Void

  /// Set this before the loop starts.
  var answer: Answer = { _, _ in }
  private let reactor: Reactor
  private let listener: ListenerID
  private var clients: [(connection: LinuxIO.ConnectionID, line: [UInt8])] = []

  /// - Parameter isShared: true to let members of the directory's group command as well.
  init(path: String, isShared: Bool = false, reactor: Reactor) throws {
    self.reactor = reactor
    do {
      listener = try reactor.listen(onPath: path, isShared: isShared)
    } catch  where error.code == EADDRINUSE {
      throw Failure(
        .unavailable,
        "another player is running with this state directory; stop it with: tutti stop")
    } catch {
      throw Failure(
        .unavailable,
        "cannot take commands from other terminals: \(error); choose another place with "
          + (isShared ? "--socket" : "--state-dir"))
    }
  }

  var nextDeadline: LocalTime? { nil }

  func turn() {}

  func handle(_ event: ReactorEvent) -> Bool {
    switch event {
    case .accepted(let connection, by: listener, _):
      clients.append((connection, []))
      if clients.count > Self.clientLimit { reactor.close(clients.removeFirst().connection) }
      return true
    case .received(let connection, let bytes):
      guard let index = clients.firstIndex(where: { $0.connection == connection }) else {
        return false
      }
      received(bytes, from: index)
      return true
    case .closed(let connection, _):
      let count = clients.count
      clients.removeAll { $0.connection == connection }
      return clients.count != count
    default:
      return false
    }
  }

  private func received(_ bytes: [UInt8], from index: Int) {
    let connection = clients[index].connection
    clients[index].line += bytes
    while let end = clients[index].line.firstIndex(of: UInt8(ascii: "\n")) {
      let line = Array(clients[index].line[..<end])
      clients[index].line.removeFirst(end + 1)
      reply(to: line, on: connection)
    }
    guard clients[index].line.count <= Self.requestLimit else {
      clients.remove(at: index)
      return reactor.close(connection)
    }
  }

  private func reply(to line: [UInt8], on connection: LinuxIO.ConnectionID) {
    guard let call = try? JSON.decode(ControlCall.self, from: line) else {
      let error = Refusal.invalid("not understood: is the player of another version?")
      return send(ControlReply(id: 0, .refused(error: error)), on: connection)
    }
    answer(call) { [weak self] in self?.send($0, on: connection) }
  }

  /// Does nothing if the client has gone in the meantime.
  private func send(_ reply: ControlReply, on connection: LinuxIO.ConnectionID) {
    guard clients.contains(where: { $0.connection == connection }) else { return }
    reactor.send(JSON.line(reply), on: connection)
  }
}
