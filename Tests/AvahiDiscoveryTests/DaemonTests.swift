import TestSupport
import Testing

@testable import AvahiDiscovery

/// Tests run one after the other, because the address of the system bus belongs to the process.
@Suite(.serialized) struct DaemonTests {
  typealias Published = EventBox<ServicePublisher.Event>
  typealias Browsed = EventBox<ServiceBrowser.Event>

  let bed: AvahiBed
  let type = "_tutti-test._tcp"

  init() throws { bed = try AvahiBed() }

  private func startAll() throws {
    try bed.startBus()
    try bed.startDaemon()
  }

  @Test func `a published service is found with all that it says`() throws {
    try startAll()
    let (publisher, published) = try publish(
      "Küche = 1", text: [TextPair("id", "a=b"), TextPair("v", "")])
    try published.next(.published(name: "Küche = 1"))
    let (browser, browsed) = try browse()
    let service = try found(browsed)
    #expect(service.name == "Küche = 1")
    #expect(service.port == 7771)
    #expect(service.hostName == "tutti-test.local")
    #expect(service.interfaces == ["lo"])
    #expect(service.addresses.first == "127.0.0.1")
    #expect(Set(service.text) == [TextPair("id", "a=b"), TextPair("v", "")])
    #expect(service["ID"] == "a=b")
    withExtendedLifetime((publisher, browser)) {}
  }

  @Test func `changed text reaches who looks already`() throws {
    try startAll()
    let (publisher, published) = try publish(
      "Bad", text: [TextPair("id", "1"), TextPair("busy", "0")])
    try published.next(.published(name: "Bad"))
    let (browser, browsed) = try browse()
    #expect(try found(browsed)["busy"] == "0")
    publisher.update(text: [TextPair("id", "1"), TextPair("busy", "1")])
    let service = try browsed.next("updated text") { event -> DiscoveredService? in
      if case .updated(let service) = event, service["busy"] == "1" { service } else { nil }
    }
    #expect(service.name == "Bad")
    withExtendedLifetime(browser) {}
  }

  @Test func `a second service of one name gets another, and both are found`() throws {
    try startAll()
    let (first, firstEvents) = try publish("Salon", text: [TextPair("id", "1")])
    try firstEvents.next(.published(name: "Salon"))
    let (second, secondEvents) = try publish("Salon", text: [TextPair("id", "2")])
    try secondEvents.next(.renamed(from: "Salon", to: "Salon #2"))
    try secondEvents.next(.published(name: "Salon #2"))
    let (browser, browsed) = try browse()
    let services = [try found(browsed), try found(browsed)]
    #expect(Set(services.map(\.name)) == ["Salon", "Salon #2"])
    withExtendedLifetime((first, second, browser)) {}
  }

  @Test func `a service that is started again and again keeps its name`() throws {
    try startAll()
    for _ in 1...5 {
      let (publisher, events) = try publish("Salon", text: [TextPair("id", "1")])
      let name = try events.next("name") { event -> String? in
        switch event {
        case .published(let name), .renamed(_, let name): name
        default: nil
        }
      }
      #expect(name == "Salon")
      withExtendedLifetime(publisher) {}
    }
  }

  @Test func `a service that lost its name gets it back once nobody else has it`() throws {
    try startAll()
    let (second, secondEvents): (ServicePublisher, Published)
    do {
      let (first, firstEvents) = try publish("Salon", text: [TextPair("id", "1")])
      try firstEvents.next(.published(name: "Salon"))
      (second, secondEvents) = try publish("Salon", text: [TextPair("id", "2")])
      try secondEvents.next(.published(name: "Salon #2"))
      withExtendedLifetime(first) {}
    }
    try secondEvents.next(.published(name: "Salon"))
    let (browser, browsed) = try browse()
    #expect(try found(browsed).name == "Salon")
    withExtendedLifetime((second, browser)) {}
  }

  @Test func `a dropped publisher takes its service away`() throws {
    try startAll()
    let (browser, browsed) = try browse()
    do {
      let (publisher, _) = try publish("Flur", text: [])
      #expect(try found(browsed).name == "Flur")
      withExtendedLifetime(publisher) {}
    }
    let lost = try browsed.next("lost") { if case .lost(let service) = $0 { service } else { nil } }
    #expect(lost.name == "Flur")
    withExtendedLifetime(browser) {}
  }

  @Test func `both may begin before the daemon, and outlive its death`() throws {
    try bed.startBus()
    let (publisher, published) = try publish("Hof", text: [TextPair("id", "7")])
    let (browser, browsed) = try browse()
    try published.next(.daemonVanished("the Avahi daemon is not running"))
    try browsed.next(.daemonVanished("the Avahi daemon is not running"))

    try bed.startDaemon()
    try published.next(.daemonAppeared)
    try published.next(.published(name: "Hof"))
    try browsed.next(.daemonAppeared)
    #expect(try found(browsed).name == "Hof")

    try bed.kill(.daemon)
    try published.next(.daemonVanished("the Avahi daemon is not running"))
    _ = try browsed.next("lost") { if case .lost = $0 { true } else { nil } }
    try browsed.next(.daemonVanished("the Avahi daemon is not running"))
    publisher.update(text: [TextPair("id", "8")])

    try bed.startDaemon()
    try published.next(.published(name: "Hof"))
    let service = try found(browsed)
    #expect(service.name == "Hof" && service["id"] == "8")
    withExtendedLifetime(browser) {}
  }

  @Test func `both may begin before the system bus, and outlive its death`() throws {
    let (publisher, published) = try publish("Keller", text: [])
    let (browser, browsed) = try browse()
    let reason = try browsed.next("daemonVanished") { event -> String? in
      if case .daemonVanished(let reason) = event { reason } else { nil }
    }
    #expect(reason.hasPrefix("service discovery needs the system bus (D-Bus)"))
    try startAll()
    try published.next(.published(name: "Keller"))
    #expect(try found(browsed).name == "Keller")

    try bed.kill(.bus)
    _ = try browsed.next("lost") { if case .lost = $0 { true } else { nil } }
    // The daemon ends when the bus ends.
    try bed.kill(.daemon)
    try startAll()
    try published.next(.published(name: "Keller"))
    #expect(try found(browsed).name == "Keller")
    withExtendedLifetime((publisher, browser)) {}
  }

  @Test func `nobody waits for a daemon that hangs, and what it missed it hears later`() throws {
    try startAll()
    let (publisher, published) = try publish("Diele", text: [TextPair("busy", "0")])
    try published.next(.published(name: "Diele"))
    let (browser, browsed) = try browse()
    #expect(try found(browsed)["busy"] == "0")

    try bed.freeze(.daemon)
    let begun = ContinuousClock.now
    for turn in 1...3 {
      publisher.update(text: [TextPair("busy", "\(turn)")])
      _ = try (publish("Gast", text: []), browse())
    }
    #expect(ContinuousClock.now - begun < aCallThatGivesUp)
    try bed.thaw(.daemon)

    let service = try browsed.next("last text") { event -> DiscoveredService? in
      if case .updated(let service) = event, service["busy"] == "3" { service } else { nil }
    }
    #expect(service.name == "Diele")
    withExtendedLifetime((publisher, browser)) {}
  }

  @Test func `what a daemon hung too long to take is told to it again`() throws {
    try startAll()
    try bed.freeze(.daemon)
    let (publisher, published) = try publish("Empore", text: [])
    _ = try published.next("trouble") { event -> Bool? in
      switch event {
      case .failed, .daemonVanished: true
      default: nil
      }
    }
    try bed.thaw(.daemon)
    try published.next(.published(name: "Empore"))
    withExtendedLifetime(publisher) {}
  }

  @Test func `what the daemon may not be told is told to it again, until it may`() throws {
    try startAll()
    try bed.refuseServices()
    let (publisher, published) = try publish("Loggia", text: [])
    _ = try published.next("failure") { if case .failed = $0 { true } else { nil } }
    try bed.allowServices()
    try published.next(.published(name: "Loggia"))
    withExtendedLifetime(publisher) {}
  }

  @Test func `nobody waits for a bus that hangs`() throws {
    try startAll()
    try bed.freeze(.bus)
    let begun = ContinuousClock.now
    let (publisher, published) = try publish("Galerie", text: [])
    let (browser, browsed) = try browse()
    publisher.update(text: [TextPair("busy", "1")])
    #expect(ContinuousClock.now - begun < aCallThatGivesUp)
    try bed.thaw(.bus)
    try published.next(.published(name: "Galerie"))
    let service = try browsed.next("last text") { event -> DiscoveredService? in
      switch event {
      case .found(let service), .updated(let service): service["busy"] == "1" ? service : nil
      default: nil
      }
    }
    #expect(service.name == "Galerie")
    withExtendedLifetime((publisher, browser)) {}
  }

  /// A D-Bus call gives up after 25 s; this is shorter.
  private let aCallThatGivesUp = Duration.seconds(20)

  @Test func `a name that cannot be announced is refused at once`() {
    let name = String(repeating: "x", count: 64)
    #expect(throws: DiscoveryError.self) { try publish(name, text: []) }
  }

  private func publish(_ name: String, text: [TextPair]) throws -> (ServicePublisher, Published) {
    let events = Published()
    let service = PublishedService(name: name, type: type, port: 7771, text: text)
    return (try ServicePublisher(service) { events.put($0) }, events)
  }

  private func browse() throws -> (ServiceBrowser, Browsed) {
    let events = Browsed()
    return (try ServiceBrowser(type: type, identifierKey: "id") { events.put($0) }, events)
  }

  private func found(_ events: Browsed) throws -> DiscoveredService {
    try events.next("found") { if case .found(let service) = $0 { service } else { nil } }
  }
}
