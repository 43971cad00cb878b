import AvahiDiscovery
import Clock
import Driver
import LinuxIO
import Pairing
import Sender
import Service
import WireProtocol

/// Searches for receivers on this network, and adds them to the remembered ones.
struct ReceiverSearch {
  /// Search time for shell completion, where a person waits.
  private static let glance = Nanoseconds.milliseconds(400)
  /// Search time for a room that was named.
  private static let timeout = Nanoseconds.seconds(5)
  /// If a search takes longer than this, it prints what it looks for.
  private static let silence = Nanoseconds.seconds(1)

  let state: StateDirectory
  /// Pairings of the daemon that commands go to; nil stands for this user's own.
  var paired: Pairings? = nil

  /// The rooms known after a search, and whether Avahi was running.
  struct Result {
    var directory: RoomDirectory
    var daemonIsThere: Bool
  }

  func names() throws -> [String] {
    try search(for: Self.glance, endsWhenSettled: true).directory.records.map(\.name)
  }

  /// Returns one record for each name. Throws if a name has no receiver, or more than one.
  func records(named names: [String]) throws -> [RoomRecord] {
    if names.isEmpty { return [] }
    let remembered = try directory()
    if names.allSatisfy({ remembered.matches($0).count == 1 }) {
      return try names.map { try remembered.only($0) }
    }
    let found = try search(for: Self.timeout, says: "looking for " + names.joined(separator: ", "))
    { directory in
      names.allSatisfy { directory.matches($0).count == 1 }
    }
    return try names.map { try found.directory.only($0) }
  }

  private func directory() throws -> RoomDirectory {
    RoomDirectory(
      remembered: state.rememberedRooms(), paired: try paired ?? state.paired())
  }

  func search(
    for time: Nanoseconds, says reason: String? = nil, endsWhenSettled: Bool = false,
    isDone: (RoomDirectory) -> Bool = { _ in false }
  ) throws -> Result {
    var directory = try directory()
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
        printError("tutti: \(reason)")
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
    state.remember(directory.toRemember)
    for line in directory.takeWarnings() { printError("tutti: \(line)") }
    return Result(directory: directory, daemonIsThere: daemonIsThere)
  }
}
