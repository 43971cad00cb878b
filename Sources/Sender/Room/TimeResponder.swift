package import Clock
package import WireProtocol

/// Answers the time requests of all rooms with the group's clock. It keeps only the
/// transmit stamp of the last answer to each peer, and a limit of answers for each host.
package struct TimeResponder<Address: Hashable & Sendable> {
  /// Largest number of peers. Beyond it, the stamp of the oldest is forgotten, and its samples become a little worse.
  static var limit: Int { 256 }
  /// Requests of one host that are answered: enough for twenty-five receivers there, which all begin at once.
  static var requestsPerSecond: Int64 { 400 }
  static var requestBurst: Int64 { 2000 }

  private struct Peer {
    let name: Address
    var sequence: UInt32
    var stamp: TimeAnswer.TransmitStamp?
  }

  package let clockID: UInt64
  /// Sorted by their last request, oldest first.
  private var peers: [Peer] = []
  private var hosts = HostLimits<Address>(
    perSecond: requestsPerSecond, burst: requestBurst, hosts: limit)

  package init(clockID: UInt64) {
    self.clockID = clockID
  }

  /// The machine slept: stamps from before do not belong to answers after it.
  package mutating func resumedFromSuspend() {
    for index in peers.indices { peers[index].stamp = nil }
  }

  /// Returns the answer to a request. Returns nil if the packet is no request, is meant for another clock, has a key id
  /// for which `key` finds no session's key, or exceeds the limit of `host`, which is the peer's address without its
  /// port. Times are continuous: see `GroupClock`.
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
      receivedAt: GroupTime(ofSender: receivedAt),
      sentAt: GroupTime(ofSender: now),
      previous: previous)
    return (TimePacket.answer(answer).encoded(key: found), request.sequence)
  }

  /// Records the kernel's transmit stamp of an answer.
  package mutating func transmitted(to peer: Address, sequence: UInt32, at time: LocalTime) {
    // A request that came twice is answered twice, and the first answer counts.
    guard
      let index = peers.lastIndex(where: {
        $0.name == peer && $0.sequence == sequence && $0.stamp == nil
      })
    else { return }
    peers[index].stamp = .init(sequence: sequence, sentAt: GroupTime(ofSender: time))
  }

  /// A request may be at most this far behind the newest: as many as a peer may have under way.
  private static var disorder: UInt32 { 64 }

  /// Returns the stamp of the answer before. A repeated request, or one that a later one has overtaken, changes
  /// nothing, and the stamp of its answer is not told.
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
