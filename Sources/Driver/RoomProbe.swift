import Clock
package import Diagnosis
package import LinuxIO
package import OpenSSLSecurity
package import Sender
import WireProtocol

/// Examines one receiver as a sender would, without music. Each call takes seconds, on the caller's thread.
package struct RoomProbe {
  /// Timeout of a connection to all addresses.
  static let connectTimeout = Nanoseconds.milliseconds(2500)
  /// Longest time of a session, including its beginning.
  static let visitTimeout = Nanoseconds.seconds(4)
  /// This many time requests come in half a second, and show a loss of one in a hundred.
  static let enoughRequests = 100
  /// Largest number of addresses, which are tried all at once.
  static let addressLimit = 8

  private let addresses: [SocketAddress]

  package init(_ addresses: [SocketAddress]) {
    self.addresses = Array(addresses.prefix(Self.addressLimit))
  }

  package init(_ record: RoomRecord) { self.init(record.socketAddresses) }

  /// Tries to connect. Returns the result, and the first address that answered.
  package func connect() throws(IOError) -> (RoomFacts.Connection, answered: SocketAddress?) {
    guard !addresses.isEmpty else { return (.unknown, nil) }
    let reactor = try Reactor()
    let attempts = addresses.map { (address: $0, id: reactor.connect(to: $0)) }
    let deadline = HostClock.now + Self.connectTimeout
    var failures: [String] = []
    while failures.count < attempts.count, HostClock.now < deadline {
      for event in try reactor.wait(until: deadline) {
        switch event {
        case .connected(let id):
          guard let address = attempts.first(where: { $0.id == id })?.address else { continue }
          for attempt in attempts { reactor.close(attempt.id) }
          return (.connected(to: "\(address)"), address)
        case .connectFailed(_, let error): failures.append("\(error)")
        default: break
        }
      }
    }
    return (.failed(failures.first ?? "\(addresses[0]) does not answer"), nil)
  }

  /// Holds a short session with the receiver at this address. A receiver that plays for another sender stays with it,
  /// or is given back.
  package static func visit(
    _ address: SocketAddress, security: TLSContext, senderName: String
  ) throws -> RoomFacts.Visit {
    let host = try GroupHost(reactor: try Reactor(), security: security)
    let sources = try PlaybackSources(EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20))
    let driver = try GroupDriver(
      host: host,
      settings: .init(
        senderName: senderName, endsWithPlaylist: false,
        claim: .init(givesBack: true, priority: 0)),
      playlist: Playlist(), reads: sources.reads, makeSerializer: sources.makeSerializer)
    let visit = Visit()
    host.onTimeRequest = { visit.requested($0) }
    driver.onEvent = { visit.happened($0.change) }
    driver.addRoom(host: address.host, port: address.port)
    let loop = EventLoop(host.reactor, [host])
    let deadline = HostClock.now + visitTimeout
    while !visit.isOver(driver), HostClock.now < deadline { try loop.turn(until: deadline) }
    let outcome = visit.outcome(driver)
    driver.carryOut(.stop)
    let end = HostClock.now + .milliseconds(500)
    while !driver.session.isFinished, HostClock.now < end { try loop.turn(until: end) }
    try driver.end()
    return outcome
  }
}

/// The events of a visit so far.
private final class Visit {
  private var isConnected = false
  private var ending: RoomFacts.Visit?
  /// Numbers of the received requests; duplicates count once.
  private var sequences: Set<UInt32> = []

  func requested(_ sequence: UInt32) { sequences.insert(sequence) }

  func happened(_ change: GroupEvent.Change) {
    guard case .group(.room(_, let change)) = change, ending == nil else { return }
    switch change {
    case .connected: isConnected = true
    case .notPaired: ending = .notPaired
    case .refused(let reason): ending = .refused(reason)
    case .unreachable(let reason), .gone(let reason), .replaced(let reason):
      ending = .broken(reason)
    case .namedTwice, .state, .flushed, .recoded, .weak, .recovered, .choseLatency: break
    }
  }

  func isOver(_ driver: GroupDriver) -> Bool {
    ending != nil
      || isConnected && sequences.count >= RoomProbe.enoughRequests && roundTrip(driver) != nil
  }

  func outcome(_ driver: GroupDriver) -> RoomFacts.Visit {
    if let ending { return ending }
    guard isConnected else { return .silent }
    let span = (sequences.max() ?? 0) &- (sequences.min() ?? 0) &+ 1
    let lost = sequences.isEmpty ? 0 : max(0, Int(span) - sequences.count)
    return .held(.init(requests: sequences.count, lost: lost, roundTrip: roundTrip(driver)))
  }

  private func roundTrip(_ driver: GroupDriver) -> Nanoseconds? {
    guard case .connected(let status)? = driver.status().rooms.first?.connection,
      status.roundTrip > .zero
    else { return nil }
    return status.roundTrip
  }
}
