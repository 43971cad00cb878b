package import Audio
package import Clock
package import WireProtocol

/// The sender's whole behaviour, without I/O: feed it inputs, drain its outputs, wake it at its deadline.
/// `PlaybackTimeline` says when what sounds, `PacketStore` holds what was produced, each room has a `RoomLink`.
package struct GroupSession {
  package struct Configuration: Sendable {
    package var senderID: Identifier
    package var senderName: String
    package var clockID: UInt64
    package var clockPort: UInt16
    /// Sessions are numbered from here; random, so that a restarted sender's differ.
    package var firstSession: UInt64
    /// True if it gives rooms that it takes from other senders back after a while.
    package var givesBack: Bool
    /// The sender with the higher priority has the room, if the receiver goes by it.
    package var priority: UInt8
    /// True if the group ends with its list. Otherwise it keeps the rooms, and items that are appended later play on.
    package var endsWithPlaylist: Bool
    /// True if the rooms are filled and then wait for `resume`.
    package var startsHeld: Bool
    /// True if the rooms stand still at a cut until there is audio behind it, and wherever the source is late. Otherwise
    /// media time runs on in silence, as it must if several groups keep the same time, and late audio is not heard.
    package var holdsAtCuts: Bool
    package var profile: LatencyProfile
    /// Nil where live streams go over the media connections, as others do.
    package var live: LiveSecret?
    /// True if the session tells what a successor must know (`.keep`).
    package var isKept: Bool
    /// The term in which this daemon leads its household; 0 if it has no second one.
    package var term: Term
    /// The codec of a small encoding for rooms with weak links; nil where all rooms get the same.
    package var smallCodec: Codec?

    package init(
      senderID: Identifier, senderName: String, clockID: UInt64, clockPort: UInt16,
      firstSession: UInt64, endsWithPlaylist: Bool = true, startsHeld: Bool = false,
      holdsAtCuts: Bool = true, profile: LatencyProfile = .deep, givesBack: Bool = false,
      priority: UInt8 = Hello.usualPriority, live: LiveSecret? = nil, isKept: Bool = false,
      smallCodec: Codec? = nil, term: Term = 0
    ) {
      self.term = term
      (self.isKept, self.smallCodec) = (isKept, smallCodec)
      self.live = live
      self.givesBack = givesBack
      self.priority = priority
      self.profile = profile
      self.senderID = senderID
      self.senderName = senderName
      self.clockID = clockID
      self.clockPort = clockPort
      self.firstSession = firstSession
      self.endsWithPlaylist = endsWithPlaylist
      self.startsHeld = startsHeld
      self.holdsAtCuts = holdsAtCuts
    }
  }

  /// "Previous" goes to the beginning of an item that has played longer than this.
  static let restartThreshold = MediaDuration.seconds(3)

  /// How far what is there must reach beyond what sounds for the group to count as supplied.
  private static let supply = MediaDuration.milliseconds(200)

  let configuration: Configuration
  package internal(set) var playlist: Playlist
  var timeline = PlaybackTimeline()
  var production = Production()
  var store = PacketStore()
  var small = SmallEncoding()
  var announcer = Announcer()
  /// Effects for items that are opened from now on.
  package internal(set) var effects = Effects()
  /// Volume of the stream, which multiplies that of each room.
  var volume = StreamVolume.full
  var rooms: RoomSet
  var start: Start
  private(set) var ending = Ending.none
  package internal(set) var clock = GroupClock()
  var restart = Restart()
  var live: LiveOutput
  var observers = Observers()
  var standstill = Standstill()
  var keeper = StreamKeeper()
  /// The kept part of the station that plays, and its address.
  var kept: (location: String, stretch: KeptStretch)?

  enum Ending {
    case none
    /// The rooms are told to let go at this time.
    case due(LocalTime)
    case past
  }

  /// - Parameter succession: takes over the stream of a process that has ended; its clock identity is used instead of the
  ///   configuration's.
  package init(
    _ configuration: Configuration, playing playlist: Playlist,
    succession: StreamSuccession? = nil
  ) {
    var configuration = configuration
    if let succession { configuration.clockID = succession.record.clockID }
    self.configuration = configuration
    self.playlist = playlist
    rooms = RoomSet(configuration)
    start = configuration.startsHeld ? .held(isPause: false) : .open()
    live = LiveOutput(configuration)
    if let succession { takeOver(succession) }
    store.leavesSpace = configuration.smallCodec != nil
  }

  /// Takes one input into account. `now` never decreases.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    if case .resumedFromSuspend(let span) = input { clock.slept(for: span) }
    let now = clock.continuous(now)
    switch input {
    case .roomAdded(let id, let name, let receiverID):
      rooms.links.append(RoomLink(id: id, name: name, receiverID: receiverID, at: now))
    case .roomRemoved(let id):
      rooms.remove(id)
      live.item?.choice?.removed(id)
    case .roomSeen(let id): rooms.with(id) { $0.seen(at: now) }
    case .roomTaken(let id): rooms.with(id) { $0.take(at: now) }
    case .roomFreed(let id): rooms.with(id) { $0.freed(at: now) }
    case .resumedFromSuspend: if timeline.isPlaying { catchUp(ifBehindBy: .zero, at: now) }
    case .connected(let id, .control, let peer, let proof):
      rooms.controlConnected(id, peer, proof, at: now)
    case .connected(let id, .media, let peer, _):
      rooms.mediaConnected(id, peer, from: firstSequence(for: id, at: now), at: now)
    case .received(let id, .control, let bytes): received(bytes, from: id, at: now)
    case .received(let id, .media, _):
      rooms.violated(id, "it spoke on the media connection", at: now)
    case .closed(let id, _, let reason): rooms.closed(id, reason, at: now)
    case .drained(let id): rooms.with(id) { $0.connected?.media?.drained() }
    case .measured(let id, let waiting): measured(id, waiting: waiting, at: now)
    case .produced(let batch): produced(batch, at: now)
    case .madeSmall(let batch): small.take(batch, into: &store)
    case .kept(let location, let stretch): kept = stretch.map { (location, $0) }
    case .asked(let id, let ask): asked(id, ask, at: now)
    case .command(let id, let command): perform(id, command, at: now)
    case .timeout: break
    }
    moveSeamIfDue(at: now)
    advance(to: now)
    keep(at: now)
  }

  /// The key of a room's time requests, by the key id that they carry.
  package func clockKey(_ id: UInt32) -> ClockKey? {
    // In their places: a link is large, and copied slowly.
    for index in rooms.links.indices {
      if let key = rooms.links[index].clockKey(id) { return key }
    }
    return nil
  }

  /// Returns what the driver must do next; nil if there is nothing left to do.
  package mutating func nextOutput() -> Output? { rooms.outputs.next() }

  /// When to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? {
    if isFinished { return nil }
    let first = LocalTime?.earliest([
      start.deadline, finishTime, nextBoundary, production.nextDeadline, restart.deadline,
      restart.reconcileTime, holdTime, nextBufferingTime, rooms.nextDeadline,
    ])
    return first.map(clock.machine)
  }

  /// True if nothing is played until somebody chooses an item.
  package var isHalted: Bool { restart.isHalted }

  /// Bytes of packets that it may hold, whatever the rooms say.
  package var storeLimit: Int {
    get { store.byteLimit }
    set { store.byteLimit = newValue }
  }

  /// Bytes that a second of the music in store takes; 0 while there is none.
  package var mediaByteRate: Double { store.byteRate }

  /// How far the room has been sent what plays, beyond what sounds; nil while it is sent nothing.
  package func lead(of id: RoomID, at now: LocalTime) -> MediaDuration? {
    rooms.position(of: id, in: store).map { $0 - mediaTime(at: clock.continuous(now)) }
  }

  /// True if the room is sent the small encoding.
  func getsSmall(_ id: RoomID) -> Bool {
    rooms.index(of: id).map { rooms.links[$0].sentForm == .small } ?? false
  }

  /// True if the room lacks something before it can begin.
  func isPriming(_ id: RoomID) -> Bool {
    rooms.index(of: id).map { rooms.links[$0].connected?.status?.state == .priming } ?? false
  }

  /// Rooms that are sent no more until `drained`.
  package var roomsAwaitingDrain: [RoomID] { rooms.awaitingDrain }

  /// The codecs that all rooms decode.
  var codecs: CodecSet { rooms.codecs }

  mutating func emit(_ output: Output) { rooms.outputs.append(output) }

  mutating func tellAll(_ message: ControlMessage, at now: LocalTime) {
    rooms.tellAll(message, at: now)
  }

  /// Returns the media time that sounds.
  func mediaTime(at now: LocalTime) -> MediaTime {
    timeline.playhead(at: GroupTime(ofSender: now))
  }

  // MARK: - What rooms say

  private mutating func received(_ bytes: [UInt8], from id: RoomID, at now: LocalTime) {
    rooms.received(bytes, from: id, at: now)
    while let news = rooms.nextNews(from: id, at: now) {
      switch news {
      case .welcomed(let id, let welcome):
        let seam = lateSeam(for: welcome.held, at: now)
        rooms.with(id) { $0.connected?.seam = seam?.sequence }
        rooms.admit(id, telling: missed(by: welcome, seam: seam?.from, at: now), at: now)
        if sendsDatagrams { rooms.with(id) { $0.connected?.livePath.told(at: now) } }
      case .flushed(let id, let time):
        let sequence = store.sequence(at: time)
        rooms.with(id) { $0.connected?.media?.goBack(to: sequence, from: time) }
        rooms.tellOf(id, .flushed)
      case .reported(let id, let report): reported(report, by: id, at: now)
      }
    }
  }

  /// Returns the messages for a room that has just come, or come back. `seam` is its late seam, if it has one.
  private func missed(
    by welcome: Welcome, seam: MediaTime?, at now: LocalTime
  ) -> [ControlMessage] {
    let held = welcome.held?.generation ?? 0
    let playhead = mediaTime(at: now)
    let cuts = timeline.cuts.filter {
      $0.generation > held && (welcome.held != nil || $0.from > playhead)
    }
    var messages = cuts.map { cut in
      let from = cut.generation == keeper.seam?.generation ? seam ?? cut.from : cut.from
      return ControlMessage.flush(
        Flush(
          from: from, generation: cut.generation, isRamped: cut.isRamped, isCrossed: cut.isCrossed))
    }
    if let stream = live.stream { messages.append(.live(stream)) }
    messages += timeline.anchors(from: GroupTime(ofSender: now)).map { .anchor($0) }
    // A room that holds something of the stream may have missed that it is full again.
    if volume != .full || welcome.held != nil { messages.append(.streamVolume(volume)) }
    return messages
  }

  /// Where a room goes on: after what it holds, else with what sounds now. What it says that it holds is believed as far
  /// as it was sent that. A room that has missed a pause has played on, and what sounds now is gone there.
  private func firstSequence(for id: RoomID, at now: LocalTime) -> UInt64 {
    let playhead = mediaTime(at: now)
    let sounding = store.sequence(at: playhead - configuration.profile.preroll)
    if let seam = rooms[id]?.connected?.seam { return seam }
    guard let link = rooms[id], let held = link.connected?.welcome.held,
      held.generation <= timeline.generation,
      store.sequence(at: playhead) >= store.sequence(at: held.from)
    else { return sounding }
    return max(sounding, min(held.nextSequence, link.sentUpTo))
  }

  // MARK: - Time

  /// The order is that of cause and effect, so that one turn does all that an input brings about: who is there decides
  /// whether playing starts; what sounds decides where a cut may lie; a cut decides what is produced; and what is there
  /// then decides where the rooms must stand still, what they are told, and what they are sent.
  private mutating func advance(to now: LocalTime) {
    guard !isFinished else { return }
    // Rooms that are gone hold nobody up.
    rooms.keepAlive(at: now)
    rooms.connectWaiting(at: now)
    // An anchor first: what follows asks where the playhead is.
    startIfReady(at: now)
    goOnIfEnough(at: now)
    announce(at: now)
    store.release(before: releaseTime(at: now))
    // A listener's choice comes before an edit of the list, and both before a codec: each takes back those after it.
    restartIfDue(at: now)
    reconcile(at: now)
    recodeForNewcomer(at: now)
    serveWeakLinks(at: now)
    // Only now is it certain what is wanted next.
    produceMore(at: now)
    production.noteWaiting(since: now)
    // The source is late only for what was ordered above.
    holdIfDue(at: now)
    tellOfBuffering(at: now)
    rooms.tellOfStarvation(isSupplied: isSupplied(at: now), at: now)
    // Announcements go ahead of the packets that they are about.
    rooms.announce(announcer.announcements(of: timeline), at: now)
    rooms.send(
      from: store, small: small.unsettled, by: timeline, awaiting: awaitedStart,
      with: announcer, at: now)
    if let finishTime, finishTime <= now { finish() }
  }

  /// Nobody comes back to what is live: not even after a pause.
  private func releaseTime(at now: LocalTime) -> MediaTime {
    let heard = live.item.map { $0.place(notBefore: GroupTime(ofSender: now)).0 } ?? .zero
    return max(mediaTime(at: now), heard) - configuration.profile.keepAfter
  }

  /// True if the group has enough to send, so that a room without music has itself to blame.
  private func isSupplied(at now: LocalTime) -> Bool {
    let time = GroupTime(ofSender: now)
    guard case .playing(let anchor) = timeline.state, anchor.groupTime <= time,
      production.cut == nil
    else { return false }
    // Near the end of the list, too, a room may have played all that there is.
    return store.end.map { $0 - timeline.playhead(at: time) >= Self.supply } ?? false
  }

  /// Everything has sounded, or playing was stopped.
  package var isFinished: Bool { if case .past = ending { true } else { false } }

  var finishTime: LocalTime? { if case .due(let time) = ending { time } else { nil } }

  /// Ends playing after `time`: rooms are told to let go once the last of it has sounded.
  mutating func finish(at time: LocalTime) { ending = .due(min(finishTime ?? time, time)) }

  private mutating func finish() {
    ending = .past
    rooms.release()
    emit(.event(.finished))
  }
}
