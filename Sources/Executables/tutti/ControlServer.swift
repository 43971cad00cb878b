import Glibc
import LinuxIO

/// Answers commands from other terminals: one JSON object a line each way over a Unix-domain socket that only
/// its owner can open.
final class ControlServer {
  /// Bytes of a request; the longest is a list of files.
  static let requestLimit = 1 << 20
  private static let clientLimit = 32

  private let listener: ListenerID
  private var clients: [(connection: LinuxIO.ConnectionID, line: [UInt8])] = []

  init(path: String, reactor: Reactor) throws {
    do {
      listener = try reactor.listen(onPath: path)
    } catch  where error.code == EADDRINUSE {
      throw Failure(
        .unavailable,
        "another player is running with this state directory; stop it with: tutti stop")
    } catch {
      throw Failure(
        .unavailable,
        "cannot take commands of other terminals: \(error); choose another place with --state-dir")
    }
  }

  /// True if the event was for this server.
  func handle(_ event: ReactorEvent, _ player: PlayerService) -> Bool {
    switch event {
    case .accepted(let connection, by: listener, _):
      clients.append((connection, []))
      if clients.count > Self.clientLimit { player.reactor.close(clients.removeFirst().connection) }
      return true
    case .received(let connection, let bytes):
      guard let index = clients.firstIndex(where: { $0.connection == connection }) else {
        return false
      }
      received(bytes, from: index, player)
      return true
    case .closed(let connection, _):
      let count = clients.count
      clients.removeAll { $0.connection == connection }
      return clients.count != count
    default:
      return false
    }
  }

  private func received(_ bytes: [UInt8], from index: Int, _ player: PlayerService) {
    let connection = clients[index].connection
    clients[index].line += bytes
    while let end = clients[index].line.firstIndex(of: UInt8(ascii: "\n")) {
      let line = Array(clients[index].line[..<end])
      clients[index].line.removeFirst(end + 1)
      player.reactor.send(reply(to: line, player), on: connection)
    }
    guard clients[index].line.count <= Self.requestLimit else {
      clients.remove(at: index)
      return player.reactor.close(connection)
    }
  }

  private func reply(to line: [UInt8], _ player: PlayerService) -> [UInt8] {
    var reply = ControlReply()
    do {
      reply = try player.answer(try JSONLine.decode(ControlRequest.self, from: line))
    } catch let failure as Failure {
      (reply.error, reply.code) = (failure.description, failure.kind.rawValue)
    } catch {
      reply.error = "not understood: is the player of another version?"
    }
    return JSONLine.encode(reply)
  }
}
