/// The memory that the packet stores of all groups of a process share: the more groups hold packets, the less each may
/// hold.
package enum StoreBudget {
  /// Bytes of all stores together. A room's buffer holds 32 MiB unless its user sets another size; a daemon whose
  /// groups hold this much takes less than 120 MiB.
  package static let bytes = 48 << 20
  /// Bytes that a group may hold whatever the others do: half a minute of FLAC.
  package static let least = 4 << 20

  /// Returns how many bytes each group may hold. Groups that hold nothing do not count, but get a share as if they did,
  /// because they may begin at any time. While the others still hold more than their shares, a group gets what is left.
  ///
  /// - Parameter held: bytes that each group holds.
  package static func shares(held: [Int]) -> [Int] {
    let total = held.reduce(0, +)
    let holders = held.count { $0 > 0 }
    return held.map { own in
      let share = bytes / (own > 0 ? holders : holders + 1)
      return max(least, min(share, bytes - (total - own)))
    }
  }
}
