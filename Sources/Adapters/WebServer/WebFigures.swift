internal import Glibc
internal import Synchronization

/// Counts a server's requests and connections. From any thread.
package final class WebFigures: Sendable {
  package struct Request: Hashable, Sendable {
    package let route: String
    package let code: Int
  }

  private struct Counts {
    var requests: [Request: Int] = [:]
    /// In order of arrival.
    var places: [Place] = []
    var lastPlace = 0
    var eventStreamCount = 0
    var refusedCount = 0
  }

  /// One connection.
  private struct Place {
    let number: Int
    /// The key by which connections are counted.
    let network: String
    let close: @Sendable () -> Void
    /// True while no complete request is being answered.
    var canGiveWay = true
  }

  private let counts = Mutex(Counts())

  package init() {}

  package var requests: [Request: Int] { counts.withLock { $0.requests } }
  package var connectionCount: Int { counts.withLock { $0.places.count } }
  package var eventStreamCount: Int { counts.withLock { $0.eventStreamCount } }
  /// Number of connections refused because of the limits.
  package var refusedCount: Int { counts.withLock { $0.refusedCount } }

  func count(_ route: String, _ code: Int) {
    counts.withLock { $0.requests[Request(route: route, code: code), default: 0] += 1 }
  }

  /// Adds a connection and returns its number; nil if there is no space. If there are too many, closes the oldest one
  /// that waits for a request, of the network with most of those, so that half a request keeps nobody out.
  func open(from address: String, close: @escaping @Sendable () -> Void) -> Int? {
    let (number, closeLeaver) = counts.withLock { counts -> (Int?, (@Sendable () -> Void)?) in
      let network = Self.network(of: address)
      var closeLeaver: (@Sendable () -> Void)?
      if let crowd = Self.crowd(counts.places, network) {
        guard let index = Self.idle(in: crowd, of: counts.places) else {
          counts.refusedCount += 1
          return (nil, nil)
        }
        closeLeaver = counts.places.remove(at: index).close
      }
      counts.lastPlace += 1
      counts.places.append(Place(number: counts.lastPlace, network: network, close: close))
      return (counts.lastPlace, closeLeaver)
    }
    closeLeaver?()
    return number
  }

  /// Returns the connections of which one must give way: those of the same network, or all; nil if there is space.
  private static func crowd(_ places: [Place], _ network: String) -> [Place]? {
    let own = places.filter { $0.network == network }
    if own.count >= WebServerConfiguration.Limits.connectionsOfOneAddress { return own }
    return places.count >= WebServerConfiguration.Limits.connections ? places : nil
  }

  private static func idle(in crowd: [Place], of places: [Place]) -> Int? {
    let idle = crowd.filter(\.canGiveWay)
    let counts = Dictionary(grouping: idle, by: \.network).mapValues(\.count)
    let busiest = counts.values.max()
    let leaver = idle.first { counts[$0.network] == busiest }
    return leaver.flatMap { leaver in places.firstIndex { $0.number == leaver.number } }
  }

  func note(_ number: Int, canGiveWay: Bool) {
    counts.withLock { counts in
      guard let index = counts.places.firstIndex(where: { $0.number == number }) else { return }
      counts.places[index].canGiveWay = canGiveWay
    }
  }

  func close(_ number: Int) {
    counts.withLock { counts in counts.places.removeAll { $0.number == number } }
  }

  /// Returns the key by which connections are counted: for IPv6 its network of 64 bits, all of whose addresses a host
  /// has.
  static func network(of address: String) -> String {
    var all = [UInt8](repeating: 0, count: 16)
    guard inet_pton(AF_INET6, address, &all) == 1 else { return address }
    let isMapped = all[0..<10].allSatisfy { $0 == 0 } && all[10] == 255 && all[11] == 255
    return (isMapped ? all[12...] : all[..<8]).map(String.init).joined(separator: ".")
  }

  func openEventStream() -> Bool {
    counts.withLock {
      guard $0.eventStreamCount < WebServerConfiguration.Limits.eventStreams else { return false }
      $0.eventStreamCount += 1
      return true
    }
  }

  func closeEventStream() { counts.withLock { $0.eventStreamCount -= 1 } }
}
