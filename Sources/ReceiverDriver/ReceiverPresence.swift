import AvahiDiscovery
import Clock
import LinuxIO
import Receiver
import WireProtocol

/// Announces a receiver with Avahi. Used on the session's thread.
final class ReceiverPresence {
  /// Minimum time between two announcements, because others could make the state change many times a second.
  private static let restInterval = Nanoseconds.seconds(1)

  private let publisher: ServicePublisher
  private let browser: ServiceBrowser?
  private var advertisement: ReceiverAdvertisement
  private var announced: ReceiverAdvertisement
  private var nextAnnouncement = HostClock.now

  init(
    _ advertisement: ReceiverAdvertisement, port: UInt16, _ journal: any ReceiverJournal
  ) throws {
    (self.advertisement, announced) = (advertisement, advertisement)
    do {
      publisher = try ServicePublisher(
        PublishedService(
          name: advertisement.name, type: ReceiverAdvertisement.serviceType, port: port,
          text: Self.text(advertisement))
      ) { journal.write($0) }
    } catch {
      throw StartFailure.unavailable("cannot be announced: \(error)")
    }
    browser = Self.watchForTwins(of: advertisement.id.hex, port: port, journal)
  }

  /// Looks for another receiver with this one's identity, such as one with a copied disk. Senders see only one of
  /// the two.
  private static func watchForTwins(
    of id: String, port: UInt16, _ journal: any ReceiverJournal
  ) -> ServiceBrowser? {
    try? ServiceBrowser(type: ReceiverAdvertisement.serviceType, identifierKey: "id") { event in
      guard case .found(let service) = event, service["id"]?.lowercased() == id,
        !service.isLocal || service.port != port
      else { return }
      journal.twin(service)
    }
  }

  private static func text(_ advertisement: ReceiverAdvertisement) -> [TextPair] {
    advertisement.textRecord.map { TextPair($0.key, $0.value) }
  }

  func perform(_ output: ReceiverSession.Output) {
    switch output {
    case .advertise(let isBusy): advertisement.state = isBusy ? .busy : .free
    case .advertiseCodecs(let codecs): advertisement.codecs = codecs
    default: break
    }
  }

  /// Time at which `catchUp` must be called; nil if nothing has changed.
  var deadline: LocalTime? { advertisement == announced ? nil : nextAnnouncement }

  func catchUp(at now: LocalTime) {
    guard advertisement != announced, nextAnnouncement <= now else { return }
    nextAnnouncement = now + Self.restInterval
    announced = advertisement
    publisher.update(text: Self.text(advertisement))
  }
}
