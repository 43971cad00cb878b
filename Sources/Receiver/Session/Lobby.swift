import Clock
import WireProtocol

/// Connections that have not yet said what they are: few, for a short time, with little memory. Their handshakes are part
/// of that, and cost this machine some work, so no host may begin many.
struct Lobby {
  static let limit = 16
  static let patience = ProtocolLimits.silence
  /// A handshake takes a small board some milliseconds. A sender needs two for a session.
  static let connectionsPerSecond: Int64 = 20
  static let connectionBurst: Int64 = 100
  static let hostLimit = 64

  struct Guest {
    let id: ConnectionID
    /// For people.
    let peer: String
    /// What its connections are counted by: a host, or the network of one that has many addresses.
    let network: String
    let leavesAt: LocalTime
    /// Nil until its handshake is complete.
    fileprivate(set) var secured: SecuredPeer?
    /// Whether it has proved that it is of this machine's own user; nil where it has not tried.
    var isOwn: Bool?
    /// What has arrived behind the first message.
    fileprivate(set) var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
    fileprivate(set) var byteCount = 0
    /// What it sent is a media connection's, and nobody waits for an answer there.
    fileprivate(set) var isMedia = false
  }

  /// In order of arrival.
  private var guests: [Guest] = []
  private var hosts = HostLimits<String>(
    perSecond: connectionsPerSecond, burst: connectionBurst, hosts: hostLimit)

  var nextDeadline: LocalTime? { guests.first?.leavesAt }

  /// Returns the guest who has to leave: the newcomer if its host comes too often. To make room, the first of the host that
  /// has the most, so that a host that connects over and over displaces itself and nobody else.
  mutating func admit(
    _ id: ConnectionID, peer: String, network: String? = nil, at now: LocalTime
  ) -> ConnectionID? {
    let network = network ?? peer
    guard hosts.admits(network, at: now) else { return id }
    guests.append(Guest(id: id, peer: peer, network: network, leavesAt: now + Self.patience))
    guard guests.count > Self.limit else { return nil }
    return guests.remove(at: Self.firstOfMost(guests.map(\.network))).id
  }

  /// The place of the first of the network that occurs most often.
  static func firstOfMost(_ networks: [String]) -> Int {
    let crowds = networks.map { network in networks.count { $0 == network } }
    return crowds.firstIndex { $0 == crowds.max() } ?? 0
  }

  subscript(id: ConnectionID) -> Guest? { guests.first { $0.id == id } }

  mutating func secured(_ id: ConnectionID, _ peer: SecuredPeer) {
    with(id) { $0.secured = peer }
  }

  /// Whether its proof was right; false where it had given one before.
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

  /// The next message of a guest, once it is complete. It says which kind of connection this is.
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
      case .proof, .pairing: ProtocolLimits.openingMessage
      }
    return message
  }

  private mutating func with(_ id: ConnectionID, _ body: (inout Guest) -> Void) {
    guard let index = guests.firstIndex(where: { $0.id == id }) else { return }
    body(&guests[index])
  }
}
