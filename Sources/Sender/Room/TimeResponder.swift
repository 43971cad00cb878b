package import Clock
package import WireProtocol

/// Answers the time requests of all rooms by this host's clock, which is the group's. Stateless but for the
/// transmit stamp of the last answer to each peer, and to how many requests each host may have answers.
package struct TimeResponder<Address: Hashable & Sendable> {
  /// More peers than this, and the oldest one's stamp is forgotten; its samples are merely a little worse.
  static var limit: Int { 256 }
  /// Requests of one host that are answered: twenty-five receivers there, which all begin at once.
  static var requestsPerSecond: Int64 { 400 }
  static var requestBurst: Int64 { 2000 }

  private struct Peer {
    let name: Address
    var sequence: UInt32
    var stamp: TimeAnswer.TransmitStamp?
  }

  package let clockID: UInt64
  /// In order of their last request, oldest first.
  private var peers: [Peer] = []
  private var hosts = HostLimits<Address>(
    perSecond: requestsPerSecond, burst: requestBurst, hosts: limit)
  /// How long the machine has slept since the start, see `GroupSession`.
  private var asleep = Nanoseconds.zero

  package init(clockID: UInt64) {
    self.clockID = clockID
  }

  /// The machine slept: its clock stood still, and the group's went on.
  package mutating func resumedFromSuspend(after span: Nanoseconds) {
    asleep = asleep + max(.zero, span)
    // Stamps of before and answers of after do not belong together.
    for index in peers.indices { peers[index].stamp = nil }
  }

  /// The answer to a request; nil if it is none, is meant for another clock, is of no session whose key `key` finds by its
  /// key id, or is one too many of `host`, which is the peer's address without its port. Times are this host's.
  package mutating func answer(
    _ bytes: [UInt8], from peer: Address, of host: Address, receivedAt: LocalTime, now: LocalTime,
    key: (UInt32) -> ClockKey?
  ) -> (bytes: [UInt8], sequence: UInt32)? {
    var found: ClockKey?
    let packet = try? TimePacket.decode(bytes[...]) { packet in
      guard case .request(let request) = packet, request.clockID == clockID else { return nil }
      found = key(request.keyID)
      return found
    }
    guard case .request(let request)? = packet, let found, hosts.admits(host, at: now) else {
      return nil
    }
    let previous = remember(peer, sequence: request.sequence)
    let answer = TimeAnswer(
      clockID: clockID, sequence: request.sequence, requestSentAt: request.sentAt,
      receivedAt: GroupTime(ofSender: receivedAt + asleep),
      sentAt: GroupTime(ofSender: now + asleep),
      previous: previous)
    return (TimePacket.answer(answer).encoded(key: found), request.sequence)
  }

  /// The kernel's stamp of an answer.
  package mutating func transmitted(to peer: Address, sequence: UInt32, at time: LocalTime) {
    // An answer to a request that came twice is sent twice, and the first one counts.
    guard
      let index = peers.lastIndex(where: {
        $0.name == peer && $0.sequence == sequence && $0.stamp == nil
      })
    else { return }
    peers[index].stamp = .init(
      sequence: sequence, sentAt: GroupTime(ofSender: time + asleep))
  }

  /// Requests by which one may be older than the newest: those that a peer has under way.
  private static var disorder: UInt32 { 64 }

  /// A request that came before, or after a later one, changes nothing: the stamp of its answer is not told.
  private mutating func remember(
    _ name: Address, sequence: UInt32
  ) -> TimeAnswer.TransmitStamp? {
    var previous: TimeAnswer.TransmitStamp?
    if let index = peers.lastIndex(where: { $0.name == name }) {
      guard peers[index].sequence &- sequence >= Self.disorder else { return nil }
      previous = peers.remove(at: index).stamp
    } else if peers.count >= Self.limit {
      peers.removeFirst()
    }
    peers.append(Peer(name: name, sequence: sequence, stamp: nil))
    return previous
  }
}

extension GroupTime {
  /// The sender's clock is the group's clock: the one place where local time becomes group time unmeasured.
  package init(ofSender time: LocalTime) {
    self.init(nanoseconds: time.nanoseconds)
  }
}

extension LocalTime {
  package init(onSender time: GroupTime) {
    self.init(nanoseconds: time.nanoseconds)
  }
}
