import Clock

/// A connection to a room, or an attempt at one. The core assigns the numbers, and uses none twice.
package struct RoomConnectionID: Hashable, Sendable {
  package let number: Int
}

/// The host name of a machine, to be looked up, and the port of its receiver.
package struct RoomHost: Hashable, Sendable {
  package var name: String
  package var port: UInt16

  package init(name: String, port: UInt16) {
    self.name = name
    self.port = port
  }
}

/// Tries the addresses of one room: the next one when the one before refuses, or does not answer for a moment. The
/// first that answers wins.
package enum RoomDial {
  /// Time before the next address is tried. A host on the same network answers well within it.
  static let headStart = Nanoseconds.milliseconds(300)
  /// Addresses of a room that are tried: more than the machine of any room has.
  package static let addressLimit = 8

  struct Attempts<Address> {
    private var candidates: [Address]
    private(set) var underWay: [(id: RoomConnectionID, address: Address)] = []
    private var nextAttempt: LocalTime
    private(set) var lastError = "no address is known"

    init(_ candidates: [Address], at now: LocalTime) {
      self.candidates = candidates
      nextAttempt = now
    }

    /// True if every address has failed.
    var isExhausted: Bool { candidates.isEmpty && underWay.isEmpty }
    var deadline: LocalTime? { candidates.isEmpty ? nil : nextAttempt }

    func isDue(at now: LocalTime) -> Bool { deadline.map { $0 <= now } ?? false }

    /// Returns the address to try now, as attempt `id`. Call it only if one is due.
    mutating func begin(_ id: RoomConnectionID, at now: LocalTime) -> Address {
      let address = candidates.removeFirst()
      underWay.append((id, address))
      nextAttempt = now + RoomDial.headStart
      return address
    }

    mutating func failed(_ id: RoomConnectionID, _ reason: String, at now: LocalTime) {
      underWay.removeAll { $0.id == id }
      lastError = reason
      nextAttempt = now
    }
  }
}
