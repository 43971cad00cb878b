package import Clock
package import WireProtocol

/// Decides which facts of a playing room are worth a line in the log: figures at intervals, and each beginning and end
/// of a trouble. It looks at the room once a second while music plays.
struct RoomDiary {
  /// That of the status, which has all that is looked at.
  private static let lookInterval = Nanoseconds.seconds(1)
  /// Below this error nobody hears that two rooms are apart.
  private static let syncLimit = Nanoseconds.milliseconds(2)
  /// A trouble is over after this time without a sign of it: an intermittent one is one trouble, with two lines.
  private static let calmTime = Nanoseconds.seconds(30)
  /// Shorter music gets no figures of its own when it ends.
  private static let shortestPeriod = Nanoseconds.seconds(60)

  private let interval: Nanoseconds
  private(set) var nextDeadline: LocalTime?
  private var period: Period?
  private var trouble: (began: LocalTime, lastSeen: LocalTime, faults: RoomFaults)?
  private var before: RoomStatus?
  private var lateness = Nanoseconds.zero
  /// The counts since the receiver began, and as of the last line of figures.
  var ignored = IgnoredCounts()
  private var ignoredTold = IgnoredCounts()

  private struct Period {
    let began: LocalTime
    var errors = SyncHistogram()
    var leastBuffered: MediaDuration
    var faults = RoomFaults()
  }

  init(interval: Nanoseconds) { self.interval = interval }

  /// Notes a packet that arrived `lateness` after its time.
  mutating func late(by lateness: Nanoseconds) { self.lateness = max(self.lateness, lateness) }

  func isDue(at now: LocalTime) -> Bool { nextDeadline.map { $0 <= now } ?? true }

  /// - Parameter status: of now. Looked at while the room plays or should.
  mutating func look(at status: RoomStatus, now: LocalTime) -> [ReceiverEvent] {
    guard status.state == .playing || status.state == .starved else { return end(at: now) }
    nextDeadline = now + Self.lookInterval
    var faults = RoomFaults(of: status, after: before ?? status)
    (faults.worstLateness, lateness, before) = (lateness, .zero, status)
    let isApart = status.syncError.now.magnitude > Self.syncLimit
    let isBad = !faults.isNone || isApart || status.state == .starved
    return note(faults, isBad: isBad, status, at: now) + tellFigures(faults, status, at: now)
  }

  private mutating func note(
    _ faults: RoomFaults, isBad: Bool, _ status: RoomStatus, at now: LocalTime
  ) -> [ReceiverEvent] {
    guard var known = trouble else {
      guard isBad else { return [] }
      trouble = (now, now, faults)
      return [.worse(faults, status)]
    }
    if isBad { known.lastSeen = now }
    known.faults.add(faults)
    trouble = known
    return now - known.lastSeen >= Self.calmTime ? endTrouble() : []
  }

  private mutating func endTrouble() -> [ReceiverEvent] {
    guard let known = trouble.take() else { return [] }
    return [.wellAgain(after: known.lastSeen - known.began, known.faults)]
  }

  private mutating func tellFigures(
    _ faults: RoomFaults, _ status: RoomStatus, at now: LocalTime
  ) -> [ReceiverEvent] {
    let buffered = max(.zero, status.bufferedUntil - status.playhead)
    var current = period ?? Period(began: now, leastBuffered: buffered)
    current.errors.record(status.syncError.now)
    current.leastBuffered = min(current.leastBuffered, buffered)
    current.faults.add(faults)
    period = current
    return now - current.began >= interval ? endPeriod(at: now) : []
  }

  private mutating func endPeriod(at now: LocalTime) -> [ReceiverEvent] {
    guard let ended = period.take(), let status = before else { return [] }
    defer { ignoredTold = ignored }
    return [
      .figures(
        RoomFigures(
          time: now - ended.began, syncError: ended.errors.statistics,
          leastBuffered: ended.leastBuffered, roundTrip: status.roundTrip,
          clockDrift: status.clockDrift, deviceDrift: status.deviceDrift, faults: ended.faults,
          ignored: ignored.since(ignoredTold)))
    ]
  }

  private mutating func end(at now: LocalTime) -> [ReceiverEvent] {
    nextDeadline = nil
    let isWorthIt = period.map { now - $0.began >= Self.shortestPeriod } ?? false
    let told = endTrouble() + (isWorthIt ? endPeriod(at: now) : [])
    (period, before, lateness) = (nil, nil, .zero)
    return told
  }
}

/// The faults of some span of time.
package struct RoomFaults: Hashable, Sendable {
  /// Counts of packets.
  package private(set) var late: UInt32 = 0
  package private(set) var lost: UInt32 = 0
  package private(set) var corrupt: UInt32 = 0
  /// Number of times that the sound device ran dry.
  package private(set) var underruns: UInt32 = 0
  /// Longest time by which a packet arrived late.
  package internal(set) var worstLateness = Nanoseconds.zero

  init() {}

  /// Counts the faults between two statuses. A smaller count means that a new session began counting at zero.
  init(of status: RoomStatus, after before: RoomStatus) {
    func more(_ count: KeyPath<RoomStatus, UInt32>) -> UInt32 {
      let (now, then) = (status[keyPath: count], before[keyPath: count])
      return now >= then ? now - then : now
    }
    (late, lost) = (more(\.latePackets), more(\.lostPackets))
    (corrupt, underruns) = (more(\.corruptPackets), more(\.underruns))
  }

  /// The likeliest cause of a room's trouble: the one that explains the other faults, too.
  package enum Cause: Hashable, Sendable {
    /// The machine did not feed its sound device in time.
    case busyMachine
    case undecodable
    /// Packets come too late: the network is too slow, or the sender.
    case slowDelivery
    /// The sender left packets out, because they would have come too late.
    case leftOut
    /// The room has packets that the machine is too busy to decode.
    case slowDecoding
    case noDelivery
    /// Nothing is missing: the room is out of step.
    case outOfStep
  }

  /// A room that starves with more than this is not short of packets: it decodes 1.5 s ahead.
  static let plenty = MediaDuration.seconds(5)

  /// - Parameter status: of the room with these faults.
  package func cause(in status: RoomStatus) -> Cause {
    if underruns > 0 { return .busyMachine }
    if corrupt > 0 { return .undecodable }
    if late > 0 { return .slowDelivery }
    if lost > 0 { return .leftOut }
    guard status.state == .starved else { return .outOfStep }
    return status.bufferedUntil - status.playhead > Self.plenty ? .slowDecoding : .noDelivery
  }

  var isNone: Bool { late == 0 && lost == 0 && corrupt == 0 && underruns == 0 }

  mutating func add(_ other: RoomFaults) {
    late &+= other.late
    lost &+= other.lost
    corrupt &+= other.corrupt
    underruns &+= other.underruns
    worstLateness = max(worstLateness, other.worstLateness)
  }
}

/// Figures of a room over some time.
package struct RoomFigures: Hashable, Sendable {
  package var time: Nanoseconds
  /// Statistics of one value per second.
  package var syncError: SyncErrorStatistics
  package var leastBuffered: MediaDuration
  /// The value at the end.
  package var roundTrip: Nanoseconds
  /// In ppb: this machine's clock against the sender's, and the card's against this machine's.
  package var clockDrift: Int32
  package var deviceDrift: Int32
  package var faults: RoomFaults
  /// Counts since the previous figures.
  package var ignored: IgnoredCounts
}

/// Counts of received messages that had no effect.
package struct IgnoredCounts: Hashable, Sendable {
  /// Datagrams for the clock without the key of the session, forged or of an earlier session.
  package var forged = 0
  /// Messages of a type that this version does not know or that belong elsewhere, and those about another stream.
  package var skipped = 0

  func since(_ before: Self) -> Self {
    Self(forged: forged - before.forged, skipped: skipped - before.skipped)
  }
}
