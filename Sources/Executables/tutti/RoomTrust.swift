import Driver
import House
import LinuxIO
import Pairing
import Sender
import Service
import WireProtocol

/// Who pairs rooms for a command: this user's own files and key, or the daemon that commands go to, whose rooms they are.
enum RoomTrust {
  case own(StateDirectory)
  case daemon(ControlClient, StateDirectory)
  /// There is a daemon, and this user may not command it.
  case barred(advice: String, StateDirectory)

  /// Where no daemon answers, or none may be asked, those of this user.
  func paired() throws -> Pairings {
    switch self {
    case .daemon(let client, let own):
      if let answer = try client.ask(.list) { return answer.pairings }
      return try own.paired()
    case .own(let own), .barred(_, let own): return try own.paired()
    }
  }

  /// Pairs with a room and remembers it, or asks it to forget this machine.
  func visit(_ purpose: PairingVisit.Purpose, _ room: PairingRoom) throws -> PairingReport {
    switch self {
    case .own(let state):
      let means = HousePairing.Means.own(state, senderName: HostName.current)
      let report = try visit(purpose, room.place, means)
      if case .paired(let id, let name) = report {
        _ = try means.change(.add(.init(id: id, name: name)))
      }
      return report
    case .daemon(let client, _): return try ask(client, request(purpose, room)).report ?? .unpaired
    case .barred(let advice, _): throw Failure(.unavailable, advice)
    }
  }

  func forget(_ pairings: [Pairings.Pairing]) throws {
    guard !pairings.isEmpty else { return }
    switch self {
    case .own(let state):
      try state.changePaired { kept in for pairing in pairings { kept.remove(pairing.id) } }
    case .daemon(let client, _):
      _ = try ask(client, .forget(receivers: pairings.map(\.id.hex)))
    case .barred(let advice, _): throw Failure(.unavailable, advice)
    }
  }

  private func visit(
    _ purpose: PairingVisit.Purpose, _ place: PairingRoom.Place, _ means: HousePairing.Means
  ) throws -> PairingReport {
    do {
      return try means.visit(purpose, place)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.unavailable, "\(error)")
    }
  }

  private func request(
    _ purpose: PairingVisit.Purpose, _ room: PairingRoom
  ) -> PairingRequest {
    switch purpose {
    case .pair(let pin): .pair(name: room.name, place: room.place, pin: pin.written)
    case .unpair: .unpair(name: room.name, place: room.place)
    case .sayPIN: .sayPIN(name: room.name, place: room.place)
    }
  }

  private func ask(
    _ client: ControlClient, _ request: PairingRequest
  ) throws -> PairingAnswer {
    guard let answer = try client.ask(request) else {
      throw Failure(.unavailable, "the daemon does not answer; see: systemctl status tutti")
    }
    return answer
  }
}
