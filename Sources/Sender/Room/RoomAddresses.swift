/// Where a room may be found: where it was, and where discovery or a name server says that it is.
struct RoomAddresses<Address: Hashable & Sendable> {
  private var known: [Address]
  /// A session began there, with the right receiver.
  private var confirmed: Address?
  /// Since the last session.
  private var attempts = 0

  init(_ addresses: [Address] = []) { known = Self.few(addresses) }

  private static func few(_ addresses: [Address]) -> [Address] {
    Array(addresses.prefix(RoomDial.addressLimit))
  }

  var isEmpty: Bool { known.isEmpty && confirmed == nil }

  /// Says where the room is now. The address that worked stays: anybody can announce anything.
  mutating func learned(_ addresses: [Address]) { known = Self.few(addresses) }

  mutating func reached(_ address: Address?) {
    confirmed = address ?? confirmed
    attempts = 0
  }

  /// In the order in which to try them this time. It changes from attempt to attempt, as another machine may answer
  /// quicker at one of them.
  mutating func nextCandidates() -> [Address] {
    let all = [confirmed].compactMap { $0 } + known.filter { $0 != confirmed }
    defer { attempts += 1 }
    guard !all.isEmpty else { return [] }
    let first = attempts % all.count
    return Array(all[first...] + all[..<first])
  }
}
