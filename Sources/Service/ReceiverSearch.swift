import AvahiDiscovery
package import Clock
package import Driver
package import LinuxIO
package import Sender
import WireProtocol

/// Searches for receivers on this network, for a command that ends soon.
package struct ReceiverSearch {
  /// Search time for shell completion, where a person waits.
  private static let glance = Nanoseconds.milliseconds(400)
  /// Search time for a room that was named.
  private static let timeout = Nanoseconds.seconds(5)
  /// If a search takes longer than this, it says what it looks for.
  private static let silence = Nanoseconds.seconds(1)

  /// The rooms that are known before the search.
  private let directory: RoomDirectory
  /// Called with the rooms to remember, after a search.
  private let remember: ([RoomRecord]) -> Void
  /// Called with a line for people.
  private let say: (String) -> Void

  /// The rooms known after a search, and whether Avahi was running.
  package struct Result {
    package var directory: RoomDirectory
    package var daemonIsThere: Bool
  }

  package init(
    in directory: RoomDirectory, remember: @escaping ([RoomRecord]) -> Void,
    say: @escaping (String) -> Void
  ) {
    (self.directory, self.remember, self.say) = (directory, remember, say)
  }

  package func names() throws(IOError) -> [String] {
    try search(for: Self.glance, endsWhenSettled: true).directory.records.map(\.name)
  }

  /// Returns one record for each name. Throws if a name has no receiver, or more than one.
  package func records(named names: [String]) throws -> [RoomRecord] {
    if names.isEmpty { return [] }
    if names.allSatisfy({ directory.matches($0).count == 1 }) {
      return try names.map { try directory.only($0) }
    }
    let found = try search(for: Self.timeout, says: "looking for " + names.joined(separator: ", "))
    { directory in
      names.allSatisfy { directory.matches($0).count == 1 }
    }
    return try names.map { try found.directory.only($0) }
  }

  package func search(
    for time: Nanoseconds, says reason: String? = nil, endsWhenSettled: Bool = false,
    isDone: (RoomDirectory) -> Bool = { _ in false }
  ) throws(IOError) -> Result {
    var directory = directory
    let reactor = try Reactor()
    let waker = reactor.waker
    let news = ServiceNews(identifierKey: "id") { waker.wake() }
    let browser = try? ServiceBrowser(
      type: ReceiverAdvertisement.serviceType, identifierKey: "id"
    ) { news.post($0) }
    defer { withExtendedLifetime(browser) {} }
    var daemonIsThere = browser != nil
    let began = HostClock.now
    var speaksAt = reason.map { _ in began + Self.silence }
    var isSettled = false
    while HostClock.now < began + time, !isDone(directory), !(endsWhenSettled && isSettled) {
      if let at = speaksAt, at <= HostClock.now, let reason {
        say(reason)
        speaksAt = nil
      }
      _ = try reactor.wait(until: min(speaksAt ?? began + time, began + time))
      for event in news.take() {
        switch event {
        case .found(let service), .updated(let service): _ = directory.found(service)
        case .lost(let service): directory.gone(serviceNamed: service.name)
        case .daemonAppeared: daemonIsThere = true
        case .daemonVanished, .failed: daemonIsThere = false
        case .settled: isSettled = true
        }
      }
    }
    remember(directory.toRemember)
    for line in directory.takeWarnings() { say(line) }
    return Result(directory: directory, daemonIsThere: daemonIsThere)
  }
}
