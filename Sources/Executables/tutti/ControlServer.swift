import Clock
import Foundation
import Glibc
import LinuxIO
import Sender
import WireProtocol

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
      let request = try JSONLine.decode(ControlRequest.self, from: line)
      for command in try request.commands(player) { try player.carryOut(command) }
      if request.verb.isAboutTheList { reply.queue = player.queue }
      reply.status = player.statusReport
    } catch let failure as Failure {
      reply.error = failure.description
    } catch {
      reply.error = "not understood: a request is one JSON object with a verb"
    }
    return JSONLine.encode(reply)
  }
}

extension ControlRequest {
  fileprivate func commands(_ player: PlayerService) throws -> [PlayerCommand] {
    switch verb {
    case .status: return []
    case .pause: return [.pause]
    case .resume: return [.resume]
    case .stop: return [.stop]
    case .next: return [.next]
    case .previous: return [.previous]
    case .seek:
      guard let seconds else { throw Failure(.usage, "seek needs seconds") }
      let span = MediaDuration(seconds: seconds)
      return [isRelative == true ? .seekBy(span) : .seek(to: span)]
    case .effects: return [.effects(try newEffects())]
    case .volume: return try roomCommands(try player.selection(room))
    case .queue, .add, .remove, .move, .clear, .jump, .shuffle, .repeat:
      return try listCommands(player.items)
    }
  }

  private func roomCommands(_ rooms: RoomSelection) throws -> [PlayerCommand] {
    var commands: [PlayerCommand] = []
    if let volume {
      guard volume.isFinite, abs(volume) <= 100 else {
        throw Failure(.usage, "volume is 0 to 100, or a step with + or -")
      }
      let tenths = Int((volume * 10).rounded())
      commands.append(
        isRelative == true
          ? .volumeBy(rooms, tenths) : .volume(rooms, UInt16(max(0, tenths))))
    }
    if let isMuted { commands.append(.mute(rooms, isMuted)) }
    if let delayMilliseconds {
      guard abs(delayMilliseconds) <= 2000 else {
        throw Failure(.usage, "delay is -2000 to 2000 milliseconds")
      }
      commands.append(.delay(rooms, Nanoseconds(Int64(delayMilliseconds * 1e6))))
    }
    if let channels {
      guard let map = RoomSettings.ChannelMap.allCases.first(where: { "\($0)" == channels }) else {
        throw Failure(.usage, "channels are stereo, left, right or mono")
      }
      commands.append(.channelMap(rooms, map))
    }
    return commands
  }
}
