import Clock
import WireProtocol

/// Connections that have not sent their first message: few, for a short time, with little memory. Each may complete a
/// handshake, which costs this machine some work, so the number per host is limited too.
struct Lobby {
  /// Guests at a time: eight senders that begin a session at once have two each.
  static let limit = 16
  static let timeout = ProtocolLimits.silence
  /// A handshake takes a small board some milliseconds. A sender needs two for a session.
  static let connectionsPerSecond: Int64 = 20
  /// Connections that a host may make at once.
  static let connectionBurst: Int64 = 100
  /// Hosts whose connections are counted.
  static let hostLimit = 64

  struct Guest {
    let id: ConnectionID
    /// Its name for people.
    let peer: String
    /// The key by which its connections are counted: a host, or the network of a host with many addresses.
    let network: String
    let leavesAt: LocalTime
    /// Nil until the handshake is complete.
    fileprivate(set) var secured: SecuredPeer?
    /// True if it has proved to be of this machine's own user; nil while it has not tried.
    var isOwn: Bool?
    /// Received bytes that are not read yet.
    fileprivate(set) var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
    fileprivate(set) var byteCount = 0
    /// True if it sent a media connection's message: such a connection expects no answer.
    fileprivate(set) var isMedia = false
  }

  /// In order of arrival.
  private var guests: [Guest] = []
  private var hosts = HostLimits<String>(
    perSecond: connectionsPerSecond, burst: connectionBurst, hosts: hostLimit)

  var nextDeadline: LocalTime? { guests.first?.leavesAt }

  /// Admits a connection. Returns the one that must leave: the newcomer if its host connects too often; if the lobby is
  /// full, the first of the host with the most connections, so that a host that connects over and over displaces only
  /// itself.
  mutating func admit(
    _ id: ConnectionID, peer: String, network: String? = nil, at now: LocalTime
  ) -> ConnectionID? {
    let network = network ?? peer
    guard hosts.admits(network, at: now) else { return id }
    guests.append(Guest(id: id, peer: peer, network: network, leavesAt: now + Self.timeout))
    guard guests.count > Self.limit else { return nil }
    return guests.remove(at: Self.firstOfMost(guests.map(\.network))).id
  }

  /// Returns the index of the first entry of the network that occurs most often.
  static func firstOfMost(_ networks: [String]) -> Int {
    let crowds = networks.map { network in networks.count { $0 == network } }
    return crowds.firstIndex { $0 == crowds.max() } ?? 0
  }

  subscript(id: ConnectionID) -> Guest? { guests.first { $0.id == id } }

  mutating func secured(_ id: ConnectionID, _ peer: SecuredPeer) {
    with(id) { $0.secured = peer }
  }

  /// Notes if a guest's proof was right. Returns false if it had given one before.
  mutating func proved(_ id: ConnectionID, _ isOwn: Bool) -> Bool {
    guard self[id]?.isOwn == nil else { return false }
    with(id) { $0.isOwn = isOwn }
    return true
  }

  mutating func remove(_ id: ConnectionID) { guests.removeAll { $0.id == id } }

  mutating func overdue(at now: LocalTime) -> [ConnectionID] {
    let late = guests.filter { $0.leavesAt <= now }.map(\.id)
    guests.removeAll { $0.leavesAt <= now }
    return late
  }

  mutating func received(_ bytes: [UInt8], on id: ConnectionID) {
    with(id) { guest in
      guest.framer.append(bytes)
      guest.byteCount += bytes.count
    }
  }

  /// Returns a guest's next message once it is complete, or nil. The message tells the kind of the connection.
  mutating func nextMessage(of id: ConnectionID) throws(DecodeError) -> OpeningMessage? {
    guard let index = guests.firstIndex(where: { $0.id == id }), guests[index].secured != nil,
      let raw = try guests[index].framer.next()
    else { return nil }
    guests[index].isMedia = OpeningMessage.isMedia(raw)
    let message = try OpeningMessage.decode(raw)
    guests[index].framer.limit =
      switch message {
      case .control: ProtocolLimits.controlMessage
      case .media: ProtocolLimits.mediaMessage
      case .proof, .pairing, .term: ProtocolLimits.openingMessage
      }
    return message
  }

  private mutating func with(_ id: ConnectionID, _ body: (inout Guest) -> Void) {
    guard let index = guests.firstIndex(where: { $0.id == id }) else { return }
    body(&guests[index])
  }
}
