package import Clock
package import WireProtocol

/// What of an evening is worth a line in the log: figures at intervals, and each time that the room gets worse or is well
/// again. It looks at the room once a second while music plays.
struct RoomDiary {
  private static let lookInterval = Nanoseconds.seconds(1)
  /// Below it nobody hears that two rooms are apart.
  private static let syncLimit = Nanoseconds.milliseconds(2)
  /// A trouble that has not shown itself for so long is over: what comes and goes is one trouble, and two lines.
  private static let calmTime = Nanoseconds.seconds(30)
  /// Music that lasted less is not worth figures of its own when it ends.
  private static let shortestPeriod = Nanoseconds.seconds(60)

  private let interval: Nanoseconds
  private(set) var nextDeadline: LocalTime?
  private var period: Period?
  private var trouble: (began: LocalTime, lastSeen: LocalTime, faults: RoomFaults)?
  private var before: RoomStatus?
  private var lateness = Nanoseconds.zero
  /// What was ignored so far, and of it what a line of figures has told.
  private var ignored = IgnoredCounts()
  private var ignoredTold = IgnoredCounts()

  private struct Period {
    let began: LocalTime
    var errors = SyncHistogram()
    var leastBuffered: MediaDuration
    var faults = RoomFaults()
  }

  init(interval: Nanoseconds) { self.interval = interval }

  /// A packet came so long after it should have sounded.
  mutating func late(by lateness: Nanoseconds) { self.lateness = max(self.lateness, lateness) }

  func isDue(at now: LocalTime) -> Bool { nextDeadline.map { $0 <= now } ?? true }

  /// - Parameters:
  ///   - status: of now. Looked at while the room plays or should.
  ///   - ignored: since the receiver began.
  mutating func look(
    at status: RoomStatus, ignored: IgnoredCounts, now: LocalTime
  ) -> [ReceiverEvent] {
    guard status.state == .playing || status.state == .starved else { return end(at: now) }
    nextDeadline = now + Self.lookInterval
    var faults = RoomFaults(of: status, after: before ?? status)
    (faults.worstLateness, lateness, before) = (lateness, .zero, status)
    let isApart = status.syncError.now.magnitude > Self.syncLimit
    let isBad = !faults.isNone || isApart || status.state == .starved
    self.ignored = ignored
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

/// What went wrong in some span.
package struct RoomFaults: Hashable, Sendable {
  /// In packets.
  package private(set) var late: UInt32 = 0
  package private(set) var lost: UInt32 = 0
  package private(set) var corrupt: UInt32 = 0
  /// How often the sound device ran dry.
  package private(set) var underruns: UInt32 = 0
  /// How long after it should have sounded a packet came.
  package internal(set) var worstLateness = Nanoseconds.zero

  init() {}

  /// Counts begin anew with each session.
  init(of status: RoomStatus, after before: RoomStatus) {
    func more(_ count: KeyPath<RoomStatus, UInt32>) -> UInt32 {
      let (now, then) = (status[keyPath: count], before[keyPath: count])
      return now >= then ? now - then : now
    }
    (late, lost) = (more(\.latePackets), more(\.lostPackets))
    (corrupt, underruns) = (more(\.corruptPackets), more(\.underruns))
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

/// How a room has been for some time.
package struct RoomFigures: Hashable, Sendable {
  package var time: Nanoseconds
  /// Of its looks at itself, one a second.
  package var syncError: SyncErrorStatistics
  package var leastBuffered: MediaDuration
  /// As at its end.
  package var roundTrip: Nanoseconds
  /// In parts per thousand million: this machine's clock against the sender's, the card's against this machine's.
  package var clockDrift: Int32
  package var deviceDrift: Int32
  package var faults: RoomFaults
  /// Since the figures before.
  package var ignored: IgnoredCounts
}

/// What came and had no effect.
package struct IgnoredCounts: Hashable, Sendable {
  /// Datagrams for the clock that somebody without the session's key has sent, or that came after their session.
  package var forged = 0
  /// Messages of a type that this version does not know or that belong elsewhere, and those about another stream.
  package var skipped = 0

  func since(_ before: Self) -> Self {
    Self(forged: forged - before.forged, skipped: skipped - before.skipped)
  }
}
