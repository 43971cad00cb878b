import ArgumentParser
import AvahiDiscovery
import Clock
import Driver
import LinuxIO
import WireProtocol

struct ReceiversCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receivers", abstract: "Lists the receivers on this network.",
    discussion: "Examples:\n  tutti receivers\n  tutti receivers --wait 5\n  tutti receivers --json"
  )
  @Option(help: .init("How long to look for them.", valueName: "seconds"))
  var wait = 1.5
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      guard (0...600).contains(wait) else { throw Failure(.usage, "--wait is 0 to 600 seconds") }
      let state = try StateDirectory(common.stateDir)
      var directory = RoomDirectory(remembered: state.rememberedRooms())
      let daemonIsThere = try search(&directory)
      state.remember(directory.toRemember)
      for line in directory.takeWarnings() { printError("tutti: \(line)") }
      if common.json {
        for record in directory.records { printJSON(record) }
      } else {
        show(directory, daemonIsThere: daemonIsThere)
      }
    }
  }

  private func search(_ directory: inout RoomDirectory) throws -> Bool {
    let reactor = try Reactor()
    let waker = reactor.waker
    let news = ServiceNews(identifierKey: "id") { waker.wake() }
    let browser = try? ServiceBrowser(
      type: ReceiverAdvertisement.serviceType, identifierKey: "id"
    ) { news.post($0) }
    defer { withExtendedLifetime(browser) {} }
    var daemonIsThere = browser != nil
    let until = HostClock.now + Nanoseconds(Int64(wait * 1e9))
    while HostClock.now < until {
      _ = try reactor.wait(until: until)
      for event in news.take() {
        switch event {
        case .found(let service), .updated(let service): _ = directory.found(service)
        case .lost(let service): directory.gone(serviceNamed: service.name)
        case .daemonAppeared: daemonIsThere = true
        case .daemonVanished, .failed: daemonIsThere = false
        case .settled: break
        }
      }
    }
    return daemonIsThere
  }

  private func show(_ directory: RoomDirectory, daemonIsThere: Bool) {
    if !daemonIsThere {
      printError(
        "tutti: Avahi is not running, so only rooms seen before are known; start it with: systemctl start avahi-daemon"
      )
    }
    if directory.isEmpty {
      printLine("no receiver was found; start tutti-receiver in a room")
    }
    for record in directory.records {
      let twins = directory.records.filter { $0.name == record.name }.count > 1
      let name = twins ? "\(record.name)#\(record.id.prefix(4))" : record.name
      let address = record.addresses.first ?? "?"
      printLine("\(name)\t\(address):\(record.port)\t\(record.model)\t\(record.state)")
    }
  }
}
