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
    /// Whether the group ends with its list. Otherwise the rooms stay, and what is appended later plays on.
    package var endsWithPlaylist: Bool
    /// Whether the rooms are filled and then wait for `resume`.
    package var startsHeld: Bool
    /// Whether the rooms stand still at a cut until there is something behind it, and wherever the source is late.
    /// Otherwise media time runs on, as it must where several groups keep the same time: in silence, and what comes
    /// after its time is not heard.
    package var holdsAtCuts: Bool
    package var profile: LatencyProfile

    package init(
      senderID: Identifier, senderName: String, clockID: UInt64, clockPort: UInt16,
      firstSession: UInt64, endsWithPlaylist: Bool = true, startsHeld: Bool = false,
      holdsAtCuts: Bool = true, profile: LatencyProfile = .deep
    ) {
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

  let configuration: Configuration
  package internal(set) var playlist: Playlist
  var timeline = PlaybackTimeline()
  var production = Production()
  var store = PacketStore()
  var artworks = ArtworkStore()
  var lastCutTime: LocalTime?
  /// Of what is opened from now on.
  package internal(set) var effects = Effects()
  /// Of what plays, besides what the rooms are set to.
  var volume = StreamVolume.full
  var links: [RoomLink] = []
  private var sessionCount: UInt64 = 0
  private var sessions: [RoomID: UInt64] = [:]
  /// When the start no longer waits for rooms that are not ready.
  var startDeadline: LocalTime?
  /// Nothing starts until `resume`.
  var isHeld: Bool
  /// Not before this, though all are ready.
  var startTime: GroupTime?
  private(set) var finishTime: LocalTime?
  /// How long the machine has slept since the start. The group's time went on: here all times are as if the machine's
  /// clock had, and only what comes from the driver or goes there is by that clock.
  private(set) var asleep = Nanoseconds.zero
  /// Where to go on, asked for while the last restart is not carried out, or has just been.
  var pendingRestart: Restart?
  var restartedAt: LocalTime?
  var restartDeadline: LocalTime?
  /// When the list is compared with what is enqueued, after an edit.
  var reconcileTime: LocalTime?
  /// What sounds, as it was announced.
  var startedItem: PlayItem?
  var observation: Observation?
  var reserve = Reserve()
  /// While the rooms stand still, and people have not been told: when they are.
  var bufferingTime: LocalTime?
  /// The rooms cannot take another anchor before this.
  var holdNotBefore: LocalTime?
  /// The room whose welcome has changed what all rooms decode, until what is enqueued has been looked at.
  var newcomer: RoomID?
  package private(set) var isFinished = false
  private var outputs = OutputQueue<Output>()

  package init(_ configuration: Configuration, playing playlist: Playlist) {
    self.configuration = configuration
    self.playlist = playlist
    isHeld = configuration.startsHeld
  }

  /// Takes one input into account. `now` never decreases.
  package mutating func handle(_ input: Input, at now: LocalTime) {
    if case .resumedFromSuspend(let span) = input { asleep = asleep + max(.zero, span) }
    let now = now + asleep
    switch input {
    case .roomAdded(let id, let name, let receiverID, let comesIn):
      links.append(
        RoomLink(id: id, name: name, receiverID: receiverID, comesIn: comesIn, at: now))
    case .roomRemoved(let id): remove(id)
    case .roomSeen(let id): withLink(id) { $0.seen(at: now) }
    case .roomTaken(let id): withLink(id) { $0.take(at: now) }
    case .resumedFromSuspend: break
    case .connected(let id, let channel): connected(id, channel, at: now)
    case .received(let id, .control, let bytes): received(bytes, from: id, at: now)
    case .received(let id, .media, _): broke(id, "it spoke on the media connection", at: now)
    case .closed(let id, let channel, let reason): closed(id, channel, reason, at: now)
    case .drained(let id): withLink(id) { $0.live?.media?.drained() }
    case .produced(let batch): produced(batch, at: now)
    case .command(let id, let command): carryOut(id, command, at: now)
    case .timeout: break
    }
    advance(to: now)
  }

  /// What the driver must do next; `nil` when there is nothing left to do.
  package mutating func nextOutput() -> Output? { outputs.next() }

  /// When to send `.timeout` if nothing else happens first.
  package var nextDeadline: LocalTime? {
    if isFinished { return nil }
    let timers = [
      startDeadline, finishTime, nextBoundary, production.nextDeadline, restartDeadline,
      reconcileTime, holdTime, nextBufferingTime,
    ]
    // A room that waits for its turn has it when another one is through.
    let isCrowded = links.count(where: \.isConnecting) >= RoomLink.mostAtOnce
    let awaited = links.filter { link in
      switch link.state {
      case .waiting: !isCrowded && !link.dialling.comesIn
      case .connecting, .greeting, .live: true
      case .replaced: false
      }
    }
    let starvations = links.compactMap(\.starvationTime)
    return (timers.compactMap { $0 } + starvations + awaited.map(\.nextDeadline)).min()
      .map { $0 - asleep }
  }

  /// Bytes that a second of the music in store takes; 0 while there is none.
  package var mediaByteRate: Double { store.byteRate }

  /// How far the room has been sent what plays, beyond what sounds; nil while it is sent nothing.
  package func lead(of id: RoomID, at now: LocalTime) -> MediaDuration? {
    guard let media = links.first(where: { $0.id == id })?.live?.media else { return nil }
    let playhead = timeline.playhead(at: GroupTime(ofSender: now + asleep))
    return media.position(in: store).map { $0 - playhead }
  }

  /// Rooms that are sent no more until `drained`.
  package var roomsAwaitingDrain: [RoomID] {
    links.filter { $0.live?.media?.isFull ?? false }.map(\.id)
  }

  mutating func emit(_ output: Output) { outputs.append(output) }

  mutating func withLink(_ id: RoomID, _ body: (inout RoomLink) -> Void) {
    guard let index = links.firstIndex(where: { $0.id == id }) else { return }
    body(&links[index])
  }

  // MARK: - Connections

  private mutating func connected(_ id: RoomID, _ channel: Channel, at now: LocalTime) {
    guard let index = links.firstIndex(where: { $0.id == id }) else { return }
    switch channel {
    case .control:
      links[index].controlConnected(at: now)
      sessionCount += 1
      let session = configuration.firstSession &+ sessionCount
      sessions[id] = session
      let hello = Hello(
        version: ProtocolVersion.newest, senderID: configuration.senderID,
        senderName: configuration.senderName, session: session, clockID: configuration.clockID,
        clockPort: configuration.clockPort, takesOver: links[index].takesOver)
      emit(.send(id, .control, ControlMessage.hello(hello).encoded()))
    case .media:
      guard let room = links[index].live, let session = sessions[id] else { return }
      let attach = MediaMessage.attach(session: session).encoded()
      var flow = MediaFlow(
        from: firstSequence(for: links[index], at: now), capacity: room.welcome.capacity.bytes)
      flow.sent(attach.count)
      links[index].live?.media = flow
      emit(.send(id, .media, attach))
    }
  }

  /// Where a room goes on: after what it holds, else with what sounds now. What it says that it holds is believed as far
  /// as it was sent that. A room that has missed a pause has played on, and what sounds now is gone there.
  private func firstSequence(for link: RoomLink, at now: LocalTime) -> UInt64 {
    let playhead = timeline.playhead(at: GroupTime(ofSender: now))
    let sounding = store.sequence(at: playhead - configuration.profile.preroll)
    guard let held = link.live?.welcome.held, held.generation <= timeline.generation,
      store.sequence(at: playhead) >= store.sequence(at: held.from)
    else { return sounding }
    return max(sounding, min(held.nextSequence, link.sentUpTo))
  }

  private mutating func closed(
    _ id: RoomID, _ channel: Channel, _ reason: String, at now: LocalTime
  ) {
    guard let link = links.first(where: { $0.id == id }) else { return }
    switch link.state {
    case .waiting, .replaced: return
    case .connecting, .greeting, .live: broke(id, reason, at: now)
    }
    _ = channel
  }

  private mutating func remove(_ id: RoomID) {
    guard let link = links.first(where: { $0.id == id }) else { return }
    if link.live != nil {
      let goodbye = Goodbye(reason: .finished, detail: "")
      emit(.send(id, .control, ControlMessage.goodbye(goodbye).encoded()))
    }
    emit(.close(id, .media))
    emit(.close(id, .control))
    links.removeAll { $0.id == id }
    sessions[id] = nil
  }

  /// One connection of a room broke, or it broke the protocol: both are made anew.
  mutating func broke(_ id: RoomID, _ reason: String, at now: LocalTime) {
    guard let index = links.firstIndex(where: { $0.id == id }) else { return }
    if links[index].live != nil {
      emit(.event(.roomGone(id, reason: reason)))
    } else if links[index].lastObstacle != reason {
      emit(.event(.roomUnreachable(id, reason: reason)))
    }
    emit(.close(id, .media))
    emit(.close(id, .control))
    links[index].broke(reason, at: now)
  }

  /// The room is told what was wrong, so that its people can be.
  private mutating func violated(_ id: RoomID, _ how: String, at now: LocalTime) {
    let goodbye = Goodbye(reason: .protocolViolation, detail: how)
    emit(.send(id, .control, ControlMessage.goodbye(goodbye).encoded()))
    broke(id, "it broke the protocol: \(how)", at: now)
  }

  private mutating func replaced(_ id: RoomID, _ goodbye: Goodbye) {
    let reason = goodbye.detail.isEmpty ? "another sender plays there" : goodbye.detail
    emit(.close(id, .media))
    emit(.close(id, .control))
    withLink(id) { $0.replaced(reason) }
    emit(.event(.roomReplaced(id, reason: reason)))
  }

  /// A receiver can be found twice: by discovery and at an address, or at two addresses. It has one session at a time, and
  /// that is the newest link's.
  private mutating func removeTwins(of id: RoomID, _ receiver: Identifier) {
    for twin in links where twin.id != id && twin.receiverID == receiver {
      emit(.close(twin.id, .media))
      emit(.close(twin.id, .control))
      links.removeAll { $0.id == twin.id }
      sessions[twin.id] = nil
      emit(.event(.roomIsTwin(twin.id, of: id)))
    }
  }

  private mutating func received(_ bytes: [UInt8], from id: RoomID, at now: LocalTime) {
    guard var index = links.firstIndex(where: { $0.id == id }) else { return }
    links[index].live?.heard(at: now)
    links[index].framer.append(bytes)
    do {
      while let raw = try links[index].framer.next() {
        guard let message = try ControlMessage.decode(raw) else { continue }
        received(message, from: index, at: now)
        // It may have turned out to be a room that there is already, which shifts the others.
        guard let moved = links.firstIndex(where: { $0.id == id }) else { return }
        index = moved
        switch links[index].state {
        case .waiting, .replaced: return
        case .connecting, .greeting, .live: break
        }
      }
    } catch {
      violated(id, "\(error)", at: now)
    }
  }

  private mutating func received(_ message: ControlMessage, from index: Int, at now: LocalTime) {
    let id = links[index].id
    switch message {
    case .welcome(let welcome):
      guard links[index].isExpected(welcome.receiverID) else {
        return broke(id, "another receiver, \(welcome.name), answers at its address", at: now)
      }
      guard ProtocolVersion.isSpoken(welcome.version) else {
        let detail = DecodeError.unsupportedVersion(welcome.version).description
        let goodbye = Goodbye(reason: .protocolViolation, detail: detail)
        emit(.send(id, .control, ControlMessage.goodbye(goodbye).encoded()))
        return broke(id, detail, at: now)
      }
      let before = codecs
      guard links[index].welcomed(welcome, at: now) else { return }
      if codecs != before { newcomer = id }
      welcomed(index, welcome, at: now)
      removeTwins(of: id, welcome.receiverID)
    case .refuse(let refusal):
      guard links[index].live == nil else {
        return violated(id, "a refusal after its welcome", at: now)
      }
      let reason = refusal.sentence
      let isNew = links[index].lastObstacle != reason
      emit(.close(id, .control))
      links[index].refused(reason, at: now)
      if isNew { emit(.event(.roomRefused(id, reason: reason))) }
    case .credit(let credit):
      links[index].live?.media?.granted(credit.limit)
      links[index].live?.media?.delivered(until: credit.bufferedUntil, at: now)
    case .flushed: break
    case .flushedAutomatically(let flushed):
      links[index].live?.media?.goBack(to: store.sequence(at: flushed.from))
      emit(.event(.roomFlushed(id)))
    case .status(let status): received(status, from: index, at: now)
    case .codecs(let listed): received(listed, from: index, at: now)
    case .goodbye(let goodbye) where goodbye.reason == .replaced: replaced(id, goodbye)
    case .goodbye(let goodbye):
      broke(id, goodbye.detail.isEmpty ? "it said goodbye" : goodbye.detail, at: now)
    case .hello, .anchor, .flush, .settings, .streamVolume, .nowPlaying, .keepAlive:
      violated(id, "this message is not for a sender", at: now)
    }
  }

  private mutating func welcomed(_ index: Int, _ welcome: Welcome, at now: LocalTime) {
    let id = links[index].id
    emit(.event(.roomConnected(id)))
    let held = welcome.held?.generation ?? 0
    let playhead = timeline.playhead(at: GroupTime(ofSender: now))
    for cut in timeline.cuts where cut.generation > held {
      guard welcome.held != nil || cut.from > playhead else { continue }
      let flush = Flush(from: cut.from, generation: cut.generation, isRamped: cut.isRamped)
      tell(index, .flush(flush), at: now)
    }
    for anchor in timeline.anchors(from: GroupTime(ofSender: now)) {
      tell(index, .anchor(anchor), at: now)
    }
    if volume != .full { tell(index, .streamVolume(volume), at: now) }
    emit(.connect(id, .media))
  }

  /// A room has found that it cannot decode what it had listed.
  private mutating func received(_ listed: [Codec], from index: Int, at now: LocalTime) {
    let id = links[index].id
    guard links[index].live != nil else {
      return violated(id, "codecs before its welcome", at: now)
    }
    let before = codecs
    links[index].lists(listed, at: now)
    if codecs != before { newcomer = id }
  }

  mutating func tell(_ index: Int, _ message: ControlMessage, at now: LocalTime) {
    guard links[index].live != nil else { return }
    links[index].live?.spoke(at: now)
    emit(.send(links[index].id, .control, message.encoded()))
  }

  mutating func tellAll(_ message: ControlMessage, at now: LocalTime) {
    for index in links.indices { tell(index, message, at: now) }
  }

  // MARK: - Time

  private mutating func advance(to now: LocalTime) {
    guard !isFinished else { return }
    for index in links.indices { advance(link: index, to: now) }
    connectWaiting(at: now)
    startIfReady(at: now)
    goOnIfEnough(at: now)
    announce(at: now)
    store.release(
      before: timeline.playhead(at: GroupTime(ofSender: now)) - configuration.profile.keepAfter)
    carryOutRestart(at: now)
    reconcile(at: now)
    recodeForNewcomer(at: now)
    produceMore(at: now)
    production.noteWaiting(since: now)
    holdIfDue(at: now)
    tellOfBuffering(at: now)
    tellOfStarvation(at: now)
    describe(at: now)
    let pictures = artworkToSend
    for index in links.indices { pump(index, pictures, at: now) }
    if let finishTime, finishTime <= now { finish() }
  }

  private mutating func advance(link index: Int, to now: LocalTime) {
    let id = links[index].id
    switch links[index].state {
    case .waiting, .replaced: break
    case .connecting(let giveUpAt), .greeting(let giveUpAt):
      if giveUpAt <= now { broke(id, "no answer", at: now) }
    case .live:
      if links[index].nextDeadline > now { break }
      if links[index].isSilent(at: now) {
        tell(index, .goodbye(Goodbye(reason: .timeout, detail: "")), at: now)
        broke(id, "nothing heard for 10 s", at: now)
      } else {
        tell(index, .keepAlive, at: now)
      }
    }
  }

  /// Few at a time; who has waited longest comes first.
  private mutating func connectWaiting(at now: LocalTime) {
    var free = RoomLink.mostAtOnce - links.count(where: \.isConnecting)
    while free > 0 {
      let waiting = links.indices.compactMap { index in
        links[index].due(at: now).map { (since: $0, index: index) }
      }
      guard let next = waiting.min(by: { $0 < $1 })?.index, links[next].retryIsDue(at: now) else {
        return
      }
      free -= 1
      emit(.connect(links[next].id, .control))
    }
  }

  private mutating func pump(
    _ index: Int, _ pictures: [NumberedArtwork], at now: LocalTime
  ) {
    let codecs = links[index].codecs ?? .all
    let plan = plan(for: index, pictures, at: now)
    let schedule = schedule(for: index, at: now)
    guard
      let bytes = links[index].live?.media?.nextBytes(
        from: store, schedule, decodedAs: codecs, plan),
      !bytes.isEmpty
    else { return }
    links[index].sent()
    emit(.send(links[index].id, .media, bytes))
  }

  private func schedule(for index: Int, at now: LocalTime) -> MediaSchedule {
    guard let room = links[index].live else { return MediaSchedule() }
    let playhead = timeline.playhead(at: GroupTime(ofSender: now))
    let capacity = min(
      room.welcome.capacity.duration.flicks, ProtocolLimits.mediaTime.upperBound)
    return MediaSchedule(
      now: now, timeline: timeline,
      horizon: min(room.status?.commitHorizon ?? .zero, Self.longestHorizon) - room.settings.delay,
      end: playhead + MediaDuration(flicks: max(capacity, 1)))
  }

  /// Ends playing after `time`: rooms are told to let go once the last of it has sounded.
  mutating func finish(at time: LocalTime) { finishTime = finishTime.map { min($0, time) } ?? time }

  private mutating func finish() {
    isFinished = true
    for index in links.indices where links[index].live != nil {
      let goodbye = ControlMessage.goodbye(Goodbye(reason: .finished, detail: ""))
      emit(.send(links[index].id, .control, goodbye.encoded()))
      emit(.close(links[index].id, .media))
      emit(.close(links[index].id, .control))
    }
    emit(.event(.finished))
  }
}

extension Refusal {
  /// One line for people.
  var sentence: String {
    switch reason {
    case .busy: "busy: \(detail) is playing there"
    case .unsupportedVersion:
      "it speaks another protocol version (\(detail)); update the older side"
    case .protocolViolation: "it refused what this sender said: \(detail)"
    case .other: detail.isEmpty ? "it refused, for a reason that it did not say" : detail
    }
  }
}
