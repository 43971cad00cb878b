import Audio
import Clock
import WireProtocol

/// Plays sources that are heard as they happen. The first frame decides when all others are heard, and the packets go
/// to the rooms as datagrams.
extension GroupSession {
  struct Live {
    /// The media time at which the item begins, and the group time at which that is heard.
    let start: MediaTime
    let firstHeard: GroupTime
    /// The latency that the source holds now.
    var latency: Nanoseconds
    /// The room for which the latency was chosen last.
    var decider: RoomID?
    /// Nil if the latency is fixed.
    var choice: LatencyChoice?

    /// Returns the place that is heard at `time`, or the first place if that is heard later.
    func place(notBefore time: GroupTime) -> (MediaTime, GroupTime) {
      time <= firstHeard
        ? (start, firstHeard) : (start + MediaDuration(time - firstHeard), time)
    }
  }

  /// True if live packets go to rooms as datagrams.
  package var sendsDatagrams: Bool { liveStream != nil }

  /// An item was opened. If it is live, it starts without waiting for anybody.
  mutating func begin(_ opened: OpenedItem, at start: MediaTime, now: LocalTime) {
    guard let timing = opened.live else { return endLive(at: now) }
    let first = GroupTime(ofSender: timing.firstHeard + asleep)
    live = Live(
      start: start, firstHeard: first, latency: timing.latency,
      choice: timing.adapts ? LatencyChoice(startingAt: timing.latency, at: now) : nil)
    if let choice = live?.choice { emit(.hold(choice.latency)) }
    if let sampleRate = production.format?.meaning.audio.sampleRate {
      tellLive(
        liveSender?.stream(latency: timing.latency, sampleRate: sampleRate), at: now)
    }
    switch timeline.state {
    case .paused: break
    case .starting, .holding, .playing:
      let isStart = if case .starting = timeline.state { true } else { false }
      (isHeld, startDeadline, bufferingTime) = (false, nil, nil)
      play(from: start, at: now, notBefore: startTime)
      if isStart { emit(.event(.started)) }
    }
  }

  /// An item follows that rooms buffer ahead of its time.
  private mutating func endLive(at now: LocalTime) {
    live = nil
    tellLive(nil, at: now)
  }

  private mutating func tellLive(_ stream: LiveStream?, at now: LocalTime) {
    guard stream != liveStream else { return }
    liveStream = stream
    tellAll(.live(stream), at: now)
    if stream != nil { rooms.noteLive(at: now) }
  }

  /// Reports from a session's first 5 s are ignored.
  private static let settlingTime = Nanoseconds.seconds(5)

  /// A room reports how its packets arrived.
  mutating func reported(_ report: LiveReport, by id: RoomID, at now: LocalTime) {
    guard let live, let began = rooms[id]?.live?.began, now - began >= Self.settlingTime,
      let decision = self.live?.choice?.reported(report, by: id, at: live.latency, now: now)
    else { return }
    self.live?.decider = decision.room
    emit(.hold(decision.latency))
    emit(.event(.latencyChosen(decision.latency, decision.room)))
  }

  /// Sends a live packet to the rooms. While they stand still, nobody needs it.
  mutating func sendLive(_ entry: PacketStore.Entry, at now: LocalTime) {
    guard sendsDatagrams, !isPaused, let datagram = liveSender?.seal(entry) else { return }
    rooms.sendLive(datagram, number: entry.sequence, at: now)
  }

  private var isPaused: Bool { if case .paused = timeline.state { true } else { false } }

  /// A room asks for missing packets, or says that it is there.
  mutating func asked(_ room: RoomID, _ ask: LiveAsk, at now: LocalTime) {
    guard let liveSender else { return }
    rooms.answer(ask, of: room, from: liveSender, at: now)
  }

  /// Returns the room whose session has this key id, and the key of its datagrams.
  func room(ofKey id: UInt32) -> (room: RoomID, key: ClockKey)? {
    rooms.links.lazy.compactMap { link in link.clockKey(id).map { (link.id, $0) } }.first
  }
}
