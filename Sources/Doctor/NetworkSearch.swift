package import AvahiDiscovery
import Clock
import Diagnosis
import LinuxIO
import Synchronization
package import WireProtocol

/// Asks discovery which receivers it knows.
package final class NetworkSearch: Sendable {
  /// Time within which receivers that are there have answered.
  private static let searchTime = Nanoseconds.milliseconds(1500)
  /// Time after which an Avahi that has said nothing hangs.
  private static let timeout = Nanoseconds.milliseconds(2500)
  /// Largest number of services that are looked at.
  static let limit = 256

  private let found = Mutex<(services: [DiscoveredService], works: Bool)>(([], false))

  package init() {}

  /// The services that were found, once the check has come back.
  package var services: [DiscoveredService] { found.withLock { $0.services } }
  /// True if Avahi has answered.
  package var works: Bool { found.withLock { $0.works } }

  package func check(
    paired: [String: String]
  ) -> Checkup.Check {
    let silent = NetworkFacts(daemon: .silent)
    return Checkup.Check("Avahi", timeout: .seconds(5), ifSilent: silent.findings[0]) { [self] in
      guard let (daemon, services) = try? search() else { return silent.findings }
      found.withLock { $0 = (services, daemon == .answers) }
      let facts = NetworkFacts(
        daemon: daemon, announcements: services.compactMap(\.announcement), paired: paired)
      return facts.findings
    }
  }

  private func search() throws -> (NetworkFacts.Daemon, [DiscoveredService]) {
    let reactor = try Reactor()
    let waker = reactor.waker
    let news = ServiceNews(identifierKey: "id") { waker.wake() }
    let browser = try ServiceBrowser(
      type: ReceiverAdvertisement.serviceType, identifierKey: "id"
    ) { news.post($0) }
    defer { withExtendedLifetime(browser) {} }
    var daemon = NetworkFacts.Daemon.silent
    var services: [DiscoveredService] = []
    let begun = HostClock.now
    while HostClock.now < begun + (daemon == .silent ? Self.timeout : Self.searchTime) {
      _ = try reactor.wait(until: begun + (daemon == .silent ? Self.timeout : Self.searchTime))
      for event in news.take() {
        switch event {
        case .found(let service), .updated(let service):
          services.removeAll { $0.isSame(as: service) }
          if services.count < Self.limit { services.append(service) }
        case .lost(let service): services.removeAll { $0.isSame(as: service) }
        case .settled: daemon = .answers
        case .daemonVanished(let reason): daemon = .absent(reason: reason)
        case .failed(let error): daemon = .absent(reason: "\(error)")
        case .daemonAppeared: break
        }
      }
    }
    return (daemon, services.sorted { ($0.name, $0.hostName) < ($1.name, $1.hostName) })
  }
}

extension DiscoveredService {
  /// Nil if the service is not a receiver.
  fileprivate var announcement: NetworkFacts.Announcement? {
    guard let advertisement else { return nil }
    return .init(
      id: advertisement.id.hex, name: advertisement.name,
      addresses: addresses.map { $0.contains(":") ? "[\($0)]:\(port)" : "\($0):\(port)" })
  }

  fileprivate func isSame(as other: DiscoveredService) -> Bool {
    (name, hostName) == (other.name, other.hostName)
  }

  package var advertisement: ReceiverAdvertisement? {
    try? ReceiverAdvertisement(
      textRecord: Dictionary(text.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 }))
  }
}
