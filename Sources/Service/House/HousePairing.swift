import Dispatch
import Driver
package import House
import LinuxIO
package import Pairing
package import Sender
import Synchronization
import WireProtocol

package import enum House.Refusal

/// A room as those know it who pair with it.
package struct PairingRoom: Hashable, Sendable {
  package enum Place: Codable, Hashable, Sendable {
    case record(RoomRecord)
    /// A host's name or address.
    case address(host: String, port: UInt16)
  }

  package var name: String
  package var place: Place
  /// The identity of its receiver; nil for one that is known by its address and was not reached yet.
  package var receiver: String?

  package init(name: String, place: Place, receiver: String? = nil) {
    (self.name, self.place) = (name, place)
    if case .record(let record) = place {
      self.receiver = record.id
    } else {
      self.receiver = receiver
    }
  }
}

/// The household as far as pairing needs it, from any thread.
package protocol PairingHousehold: Sendable {
  func pairingRoom(_ id: String) async throws(Refusal) -> PairingRoom
  /// These are all that are paired now.
  func paired(_ pairings: Pairings)
}

/// Pairs rooms with the household, and takes that back. A receiver may take seconds to answer, so each visit has a thread
/// of its own, and the household goes on meanwhile.
package final class HousePairing: PairingControl {
  package enum Change: Hashable, Sendable {
    case add(Pairings.Pairing)
    /// The receiver of these 32 hex digits.
    case remove(String)
  }

  /// Blocks while it is done.
  package struct Means: Sendable {
    /// Goes to a receiver.
    package var visit: @Sendable (PairingVisit.Purpose, PairingRoom.Place) throws -> PairingReport
    /// Changes what is remembered, and returns all of it once it is on the disk.
    package var change: @Sendable (Change) throws -> Pairings
    /// All that is remembered.
    package var paired: @Sendable () throws -> Pairings

    package init(
      visit: @escaping @Sendable (PairingVisit.Purpose, PairingRoom.Place) throws -> PairingReport,
      change: @escaping @Sendable (Change) throws -> Pairings,
      paired: @escaping @Sendable () throws -> Pairings
    ) {
      (self.visit, self.change, self.paired) = (visit, change, paired)
    }
  }

  /// Visits at a time: more than there are people in a household who type PINs.
  static let visitLimit = 4

  private let house: any PairingHousehold
  private let means: Means
  /// How rooms know this machine.
  private let senderName: String
  /// Rooms that are being visited.
  private let visited = Mutex<Set<String>>([])

  package init(house: any PairingHousehold, senderName: String, means: Means) {
    (self.house, self.senderName, self.means) = (house, senderName, means)
  }

  package func pair(room id: String, pin text: String) async throws(Refusal) {
    let pin = try Self.pin(text)
    let room = try await house.pairingRoom(id)
    let report = try await visit(.pair(pin), room, as: id)
    guard case .paired = report else { throw Self.problem(report, room.name) }
  }

  /// A room that takes the PIN is remembered.
  private func visit(
    _ purpose: PairingVisit.Purpose, _ room: PairingRoom, as id: String
  ) async throws(Refusal) -> PairingReport {
    let means = means
    let (report, pairings) = try await onThread(id, room.name) {
      () throws(Refusal) -> (PairingReport, Pairings?) in
      let report = Self.report(of: purpose, room, means)
      guard case .paired(let receiver, let name) = report else { return (report, nil) }
      return (report, try Self.changed(.add(.init(id: receiver, name: name)), room.name, means))
    }
    if let pairings { house.paired(pairings) }
    return report
  }

  /// The room is forgotten here in any case.
  package func unpair(room id: String) async throws(Refusal) {
    let room = try await house.pairingRoom(id)
    guard let receiver = room.receiver else {
      throw .unavailable(
        "\(room.name) was not reached yet, so that it is not known which room it is; try again when it is there"
      )
    }
    let means = means
    let (pairings, obstacle) = try await onThread(id, room.name) { () throws(Refusal) in
      let report = Self.report(of: .unpair, room, means)
      let obstacle = if case .unreachable = report { "it does not answer" } else { report.obstacle }
      return (try Self.changed(.remove(receiver), room.name, means), obstacle)
    }
    house.paired(pairings)
    if let obstacle {
      throw .unavailable(
        "\(room.name) is forgotten here, but it could not be told (\(obstacle)); there, run: "
          + "tutti-receiver unpair \(senderName.asShellWord)")
    }
  }

  package func sayPIN(room id: String) async throws(Refusal) {
    let room = try await house.pairingRoom(id)
    let report = try await visit(.sayPIN, room, as: id)
    guard case .sayingPIN = report else { throw Self.problem(report, room.name) }
  }

  // MARK: - Terminals

  /// The word of a terminal is enough for where the room is.
  package func answer(_ request: PairingRequest) async throws(Refusal) -> PairingAnswer {
    let means = means
    switch request {
    case .list:
      return PairingAnswer(
        try await Self.onThread { () throws(Refusal) in
          do { return try means.paired() } catch { throw .unavailable("\(error)") }
        })
    case .pair(let name, let place, let pin):
      let pin = try Self.pin(pin)
      return PairingAnswer(try await visit(.pair(pin), at: place, name))
    case .unpair(let name, let place):
      return PairingAnswer(try await visit(.unpair, at: place, name))
    case .sayPIN(let name, let place):
      return PairingAnswer(try await visit(.sayPIN, at: place, name))
    case .forget(let receivers): return PairingAnswer(try await forget(receivers))
    }
  }

  private func visit(
    _ purpose: PairingVisit.Purpose, at place: PairingRoom.Place, _ name: String
  ) async throws(Refusal) -> PairingReport {
    try await visit(purpose, PairingRoom(name: name, place: place), as: place.key)
  }

  private func forget(_ receivers: [String]) async throws(Refusal) -> Pairings {
    let means = means
    let pairings = try await onThread(receivers.joined(), "a room") { () throws(Refusal) in
      var left = Pairings()
      for receiver in receivers { left = try Self.changed(.remove(receiver), receiver, means) }
      return left
    }
    house.paired(pairings)
    return pairings
  }

  // MARK: - Steps

  private static func pin(_ text: String) throws(Refusal) -> PIN {
    do throws(PIN.Mistake) {
      return try PIN(text)
    } catch {
      switch error {
      case .malformed: throw .invalid("A PIN has eight digits, such as 1234 5671.")
      case .typo:
        throw .invalid(
          "One of the digits is wrong: the last one checks the others. Nothing was sent.")
      }
    }
  }

  private static func report(
    of purpose: PairingVisit.Purpose, _ room: PairingRoom, _ means: Means
  ) -> PairingReport {
    do {
      return try means.visit(purpose, room.place)
    } catch {
      return .unreachable("\(error)")
    }
  }

  private static func changed(
    _ change: Change, _ name: String, _ means: Means
  ) throws(Refusal) -> Pairings {
    do {
      return try means.change(change)
    } catch {
      throw .unavailable("\(name): the pairing cannot be kept: \(error)")
    }
  }

  private static func problem(_ report: PairingReport, _ name: String) -> Refusal {
    switch report {
    case .wrongPIN:
      .invalid("That is not the PIN of \(name). It is shown there by: tutti-receiver pin")
    case .refused(let refusal) where refusal.reason == .wait:
      .tooMany(
        "There were too many wrong PINs. \(name) takes the next one in a while.",
        retryAfterS: refusal.waitInSeconds)
    case .keptSilent(let refusal) where refusal.reason == .wait:
      .tooMany("\(name): \(report.obstacle ?? "")", retryAfterS: refusal.waitInSeconds)
    // The reason of the network, with addresses, is nothing for a page.
    case .unreachable:
      .unavailable("\(name) does not answer; see whether it is switched on, then try again.")
    case .refused, .broken, .paired, .joined, .unpaired, .sayingPIN, .keptSilent:
      .unavailable("\(name): \(report.obstacle ?? "it did not pair")")
    }
  }

  private func onThread<Value: Sendable>(
    _ id: String, _ name: String, _ body: @escaping @Sendable () throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try begin(id, name)
    defer { _ = visited.withLock { $0.remove(id) } }
    return try await Self.onThread(body)
  }

  private static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    let result = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: Result(catching: body)) }
    }
    return try result.get()
  }

  private func begin(_ id: String, _ name: String) throws(Refusal) {
    let isFree = visited.withLock { visited in
      visited.count < Self.visitLimit && visited.insert(id).inserted
    }
    guard isFree else {
      throw .unavailable("Somebody else is pairing \(name) now; try again in a moment.")
    }
  }
}

extension PairingRefusal {
  fileprivate var waitInSeconds: Int { max(1, Int((UInt64(wait) + 999) / 1000)) }
}

extension PairingRoom.Place {
  /// Names the room, which one visitor at a time may visit.
  fileprivate var key: String {
    switch self {
    case .record(let record): record.id
    case .address(let host, let port): RoomWish.text(host: host, port: port)
    }
  }
}

extension House {
  func pairingRoom(_ room: String) throws(Refusal) -> PairingRoom {
    let name = session.name(ofRoom: room)
    if let record = host.directory.records.first(where: { $0.id == room }) {
      return PairingRoom(name: name, place: .record(record))
    }
    guard session.roomIDs.contains(room), let (host, port) = try? RoomWish.address(room) else {
      throw .noSuch("there is no such room; it may have been renewed: look at the list of rooms")
    }
    return PairingRoom(
      name: name, place: .address(host: host, port: port), receiver: session.receiver(of: room))
  }
}
