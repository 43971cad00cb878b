/// The addresses of a room: where it was, and where discovery or a name server says that it is.
struct RoomAddresses<Address: Hashable & Sendable> {
  private var known: [Address]
  /// The address at which a session with the right receiver began last.
  private var confirmed: Address?
  /// Attempts since the last session.
  private var attempts = 0

  init(_ addresses: [Address] = []) { known = Self.few(addresses) }

  private static func few(_ addresses: [Address]) -> [Address] {
    Array(addresses.prefix(RoomDial.addressLimit))
  }

  var isEmpty: Bool { known.isEmpty && confirmed == nil }

  /// Replaces the announced addresses. The address that worked stays, because anybody can announce anything.
  mutating func learned(_ addresses: [Address]) { known = Self.few(addresses) }

  mutating func reached(_ address: Address?) {
    confirmed = address ?? confirmed
    attempts = 0
  }

  /// Returns the addresses in the order in which to try them this time. Each attempt begins with another one,
  /// because another machine may answer faster at one of them.
  mutating func nextCandidates() -> [Address] {
    let all = [confirmed].compactMap { $0 } + known.filter { $0 != confirmed }
    defer { attempts += 1 }
    guard !all.isEmpty else { return [] }
    let first = attempts % all.count
    return Array(all[first...] + all[..<first])
  }
}
