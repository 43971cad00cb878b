import Clock
import Diagnosis
import Doctor
import Driver
import HostFacts
import House
import LinuxIO
import Pairing
import Sender
import Service
import Synchronization
import WireProtocol

import enum House.Refusal

/// Checks for a player or a daemon on this machine.
final class PlayerLook: Sendable {
  private let playing = Mutex<[StatusReport.Room]>([])

  /// - Parameter hasService: true if this machine is to have a daemon, which systemd starts.
  func check(_ client: ControlClient, hasService: Bool) -> Checkup.Check {
    let silence = Finding.wrong(
      "player", "one runs with \(client.place.path), and does not answer",
      cure: "find it with pgrep -a tutti, and end it")
    return Checkup.Check("player", ifSilent: silence) { [self] in
      do {
        guard let answer = try client.askIfRunning(.status) else {
          return [hasService ? Self.deadService : .well("player", "none runs here")]
        }
        let rooms = answer.status?.rooms ?? []
        playing.withLock { $0 = rooms }
        let state =
          answer.household?.follows == true
          ? "follows the household's other daemon"
          : "\(answer.status?.state ?? .stopped), rooms: \(rooms.count)"
        return [.well("player", state)] + Self.findings(answer)
      } catch let error as Refusal {
        // Without a group it has no status.
        let answer = try? client.askIfRunning(.groups)
        return [.well("player", "runs: \(error.description)")] + Self.findings(answer)
      } catch let failure as Failure where client.place.advice != nil {
        return [
          .notice("player", "this user may not command the daemon", cure: failure.description)
        ]
      } catch {
        return [silence]
      }
    }
  }

  private static func findings(_ answer: ControlAnswer?) -> [Finding] {
    guard let household = answer?.household else { return [] }
    return HouseholdFacts(
      diskProblem: household.diskProblem, second: household.second,
      secondProblem: household.secondProblem, follows: household.follows == true
    ).findings
  }

  /// Without it, commands use what this user alone has, such as pairings.
  private static let deadService = Finding.wrong(
    "player", "the household's daemon is installed, and does not run",
    cure: "sudo systemctl start tutti, and if it ends again: journalctl -u tutti -n 5")

  /// Returns the player's room of this name, or nil if the player is not connected to it.
  func room(_ name: String) -> StatusReport.Room? {
    playing.withLock { $0.first { $0.name == name && ![.away, .connecting].contains($0.state) } }
  }
}

/// Checks rooms: whether they answer over TCP and UDP, and whether they know this machine.
struct RoomLooks: Sendable {
  /// Maximum number of rooms that are checked.
  static let limit = 64
  private static let timeout = Nanoseconds.seconds(8)

  let state: StateDirectory
  let search: NetworkSearch
  let player: PlayerLook
  let paired: Pairings
  let trust: RoomTrust
  let left: LeftRooms

  func check(_ record: RoomRecord) -> Checkup.Check {
    check(record.name) {
      var facts = RoomFacts(
        name: record.name, isAnnounced: search.works ? record.state != .away : nil,
        isOurs: isOurs(record.id), version: version(of: record.id), connection: .unknown)
      let found = try RoomProbe(record).connect()
      facts.connection = found.0
      if let address = found.answered { facts.visit = try visit(record, at: address) }
      return facts
    }
  }

  func check(address text: String, _ place: (host: String, port: UInt16)) -> Checkup.Check {
    check(text) {
      var facts = RoomFacts(name: text, isAnnounced: nil, isOurs: true, connection: .unknown)
      let addresses: [SocketAddress]
      do throws(HostResolver.Failure) {
        addresses = try HostResolver.resolve(host: place.host, port: place.port)
      } catch {
        facts.connection = .failed("\(error)")
        return facts
      }
      let found = try RoomProbe(addresses).connect()
      facts.connection = found.0
      if let address = found.answered { facts.visit = try visit(address) }
      return facts
    }
  }

  private func check(
    _ name: String, _ look: @escaping @Sendable () throws -> RoomFacts
  ) -> Checkup.Check {
    let silence = Finding.wrong(
      name, "does not answer in time", cure: "is the network overloaded? try again")
    return Checkup.Check(name, timeout: Self.timeout, ifSilent: silence) {
      do {
        var facts = try look()
        facts.firewall = SystemFiles().firewallAdvice()
        return [facts.finding]
      } catch {
        return [.wrong(name, "could not be checked: \(error)", cure: "try again")]
      }
    }
  }

  /// Visits a room that is free. Leaves a room alone if it plays or may play.
  private func visit(_ record: RoomRecord, at address: SocketAddress) throws -> RoomFacts.Visit? {
    if let room = player.room(record.name) {
      return .ours(roundTrip: (room.sync?.roundTripUs).map { Nanoseconds(Int64($0 * 1000)) })
    }
    if left.names.contains(record.name) { return .leftAlone }
    switch record.state {
    case .busy: return .busy
    case .away: return .spared
    case .free: break
    }
    // The daemon has the key, and its own session if it plays there.
    if case .daemon = trust {
      return paired.all.contains { $0.id.hex == record.id } ? .spared : .notPaired
    }
    return try visit(address)
  }

  private func visit(_ address: SocketAddress) throws -> RoomFacts.Visit? {
    if case .daemon = trust { return .spared }
    guard let security = try? state.security() else { return .spared }
    return try RoomProbe.visit(address, security: security, senderName: HostName.current)
  }

  /// True if the room is paired with this machine, or if no room is. Otherwise it is taken for a
  /// neighbour's.
  private func isOurs(_ id: String) -> Bool {
    paired.all.isEmpty || paired.all.contains { $0.id.hex == id }
  }

  private func version(of id: String) -> UInt16? {
    search.services.lazy.compactMap(\.advertisement).first { $0.id.hex == id }?.version
  }
}
