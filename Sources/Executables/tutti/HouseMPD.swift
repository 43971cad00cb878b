import AvahiDiscovery
import Driver
import Glibc
import LinuxIO
import MPD
import Service

/// A daemon's answers to clients of MPD, and the announcements of its ports.
final class HouseMPD {
  private let service: MPDService
  private let ports: NewestValueThread<[PublishedPort]>?

  /// Nil where the configuration does not ask for it.
  init?(
    _ configuration: HouseConfiguration, numbers: KeptNumbers, house: HouseClient,
    library: any LibraryControl, access: HouseAccess, isOnNetwork: Bool,
    report: @escaping @Sendable (String) -> Void
  ) throws {
    guard let port = configuration.mpd else { return nil }
    let ports =
      isOnNetwork
      ? try NewestValueThread<[PublishedPort]>(name: "mpd ports") {
        let announcements = PortAnnouncements(report)
        return { announcements.follow($0) }
      } : nil
    self.ports = ports
    service = MPDService(
      port: Int(port), addresses: configuration.listen, house: house, library: library,
      access: access, numbers: numbers.text,
      means: .init(
        now: { Int64(time(nil)) }, keep: { numbers.keep($0) }, announce: { ports?.post($0) },
        report: report))
  }
}

/// The announcements of ports in the network. On one thread.
private final class PortAnnouncements {
  private let report: @Sendable (String) -> Void
  private var publishers: [PublishedPort: ServicePublisher] = [:]
  private var hasFailed = false

  init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

  func follow(_ ports: [PublishedPort]) {
    for port in Array(publishers.keys) where !ports.contains(port) { publishers[port] = nil }
    for port in ports where publishers[port] == nil { publish(port) }
  }

  private func publish(_ port: PublishedPort) {
    do throws(DiscoveryError) {
      publishers[port] = try ServicePublisher(
        PublishedService(
          name: Self.shortened(port.name), type: "_mpd._tcp", port: UInt16(clamping: port.port),
          text: port.groupID.map { [TextPair("id", $0)] } ?? []), onEvent: { _ in })
    } catch {
      if !hasFailed { report("MPD: clients cannot find the household by themselves: \(error)") }
      hasFailed = true
    }
  }

  /// An announced name has at most 63 bytes.
  private static func shortened(_ name: String) -> String {
    var short = name
    while short.utf8.count > 63 { short.removeLast() }
    return short
  }
}
