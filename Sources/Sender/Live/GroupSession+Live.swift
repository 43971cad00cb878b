import Audio
import Clock
import WireProtocol

/// Plays sources that are heard as they happen. The first frame decides when all others are heard, and the packets go
/// to the rooms as datagrams.
/// A source that is heard as it happens, in a group: its item, the stream that the rooms were told of, and its datagrams.
struct LiveOutput {
  struct Item {
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

  /// The item that is produced; nil if it is not heard as it happens.
  var item: Item?
  /// The stream that the rooms were told of; nil if there is none.
  var stream: LiveStream?
  /// Nil if the packets go over the media connections.
  var sender: LiveSender?

  init(_ configuration: GroupSession.Configuration) {
    sender = configuration.live.map { LiveSender($0, clockID: configuration.clockID) }
  }
}

extension GroupSession {
  /// True if live packets go to rooms as datagrams.
  package var sendsDatagrams: Bool { live.stream != nil }

  /// An item was opened. If it is live, it starts without waiting for anybody.
  mutating func begin(_ opened: OpenedItem, at place: MediaTime, now: LocalTime) {
    guard let timing = opened.live else { return endLive(at: now) }
    live.item = .init(
      start: place, firstHeard: clock.group(timing.firstHeard), latency: timing.latency,
      choice: timing.adapts ? LatencyChoice(startingAt: timing.latency, at: now) : nil)
    if let choice = live.item?.choice { emit(.hold(choice.latency)) }
    if let sampleRate = production.format?.meaning.audio.sampleRate {
      tellLive(live.sender?.stream(latency: timing.latency, sampleRate: sampleRate), at: now)
    }
    switch timeline.state {
    case .paused: break
    case .starting, .holding, .playing:
      let isStart = if case .starting = timeline.state { true } else { false }
      play(from: place, at: now, notBefore: start.earliest)
      start = .open()
      standstill.told()
      if isStart { emit(.event(.started)) }
    }
  }

  /// A source that is this late never makes up for it: it gives silence for a few seconds that nobody took, and no more.
  static let hopeless = Nanoseconds.seconds(1)

  /// Frames that come after their time are never heard. They come so from a source that nobody has read during a long
  /// pause, or while this machine has slept: it begins anew then, with what it gives now.
  mutating func catchUp(ifBehindBy span: Nanoseconds, at now: LocalTime) {
    guard let item = live.item, restart.target == nil else { return }
    let (place, _) = item.place(notBefore: GroupTime(ofSender: now))
    guard place - (store.end ?? item.start) > MediaDuration(span),
      let opened = timeline.segments.last(where: { $0.start <= item.start })?.opened,
      opened.supply == .input
    else { return }
    goTo(opened.item, at: .zero, now: now)
  }

  /// An item follows that rooms buffer ahead of its time.
  private mutating func endLive(at now: LocalTime) {
    live.item = nil
    tellLive(nil, at: now)
  }

  /// An input has gone on while the group was paused. It begins anew, with what it gives now: rooms that went on where
  /// they were would be later than it by each pause.
  mutating func leaveOutPause(at now: LocalTime) {
    guard case .paused = timeline.state, restart.target == nil,
      let opened = soundingItem(at: now), opened.supply == .input, opened.live == nil
    else { return }
    goTo(opened.item, at: .zero, now: now)
  }

  private mutating func tellLive(_ stream: LiveStream?, at now: LocalTime) {
    guard stream != live.stream else { return }
    live.stream = stream
    tellAll(.live(stream), at: now)
    if stream != nil { rooms.noteLive(at: now) }
  }

  /// Reports from a session's first 5 s are ignored.
  private static let settlingTime = Nanoseconds.seconds(5)

  /// A room reports how its packets arrived.
  mutating func reported(_ report: LiveReport, by id: RoomID, at now: LocalTime) {
    guard let item = live.item, let began = rooms[id]?.connected?.began,
      now - began >= Self.settlingTime,
      let decision = live.item?.choice?.reported(report, by: id, at: item.latency, now: now)
    else { return }
    live.item?.decider = decision.room
    emit(.hold(decision.latency))
    rooms.tellOf(decision.room, .choseLatency(decision.latency))
  }

  /// Sends a live packet to the rooms. While they stand still, nobody needs it.
  mutating func sendLive(_ entry: PacketStore.Entry, at now: LocalTime) {
    guard sendsDatagrams, !isPaused, let datagram = live.sender?.seal(entry) else { return }
    rooms.sendLive(datagram, number: entry.sequence, at: now)
  }

  private var isPaused: Bool { if case .paused = timeline.state { true } else { false } }

  /// A room asks for missing packets, or says that it is there.
  mutating func asked(_ room: RoomID, _ ask: LiveAsk, at now: LocalTime) {
    guard let sender = live.sender else { return }
    rooms.answer(ask, of: room, from: sender, at: now)
  }

  /// Returns the room whose session has this key id, and the key of its datagrams.
  func room(ofKey id: UInt32) -> (room: RoomID, key: ClockKey)? {
    rooms.links.lazy.compactMap { link in link.clockKey(id).map { (link.id, $0) } }.first
  }
}
