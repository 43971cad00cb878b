package import Clock

/// A `RateLimit` for each host. Hosts that were silent longest are forgotten, so that their number is bounded.
package struct HostLimits<Host: Hashable & Sendable>: Sendable {
  private let unused: RateLimit
  private let hostLimit: Int
  /// Sorted by their last attempt, oldest first.
  private var hosts: [(name: Host, limit: RateLimit)] = []

  /// All must be at least 1.
  package init(perSecond rate: Int64, burst: Int64, hosts: Int) {
    unused = RateLimit(perSecond: rate, burst: burst)
    hostLimit = hosts
  }

  /// Counts one more attempt of the host and returns true, or returns false if that is too many.
  package mutating func admits(_ host: Host, at now: LocalTime) -> Bool {
    var limit = unused
    if let index = hosts.lastIndex(where: { $0.name == host }) {
      limit = hosts.remove(at: index).limit
    } else if hosts.count >= hostLimit {
      hosts.removeFirst()
    }
    let isAdmitted = limit.admits(at: now)
    hosts.append((host, limit))
    return isAdmitted
  }
}
