import LinuxIO

/// Where a room may be found: where it was, and where discovery or a name server says that it is.
struct RoomAddresses {
  /// More than any machine has that a group can play to.
  static let limit = 8

  private var known: [SocketAddress]
  /// A session began there, with the right receiver.
  private var confirmed: SocketAddress?
  /// Since the last session.
  private var attempts = 0

  init(_ addresses: [SocketAddress] = []) { known = Array(addresses.prefix(Self.limit)) }

  var isEmpty: Bool { known.isEmpty && confirmed == nil }

  /// Says where the room is now. The address that worked stays: anybody can announce anything.
  mutating func learned(_ addresses: [SocketAddress]) {
    known = Array(addresses.prefix(Self.limit))
  }

  mutating func reached(_ address: SocketAddress?) {
    confirmed = address ?? confirmed
    attempts = 0
  }

  /// In the order in which to try them this time. It changes from attempt to attempt, as another machine may answer
  /// quicker at one of them.
  mutating func nextCandidates() -> [SocketAddress] {
    let all = [confirmed].compactMap { $0 } + known.filter { $0 != confirmed }
    defer { attempts += 1 }
    guard !all.isEmpty else { return [] }
    let first = attempts % all.count
    return Array(all[first...] + all[..<first])
  }
}
