import Audio
import Clock
import WireProtocol

/// Start, pause, seek and skip: what the user asks for, as anchors and cuts.
extension GroupSession {
  mutating func perform(_ id: CommandID, _ command: PlayerCommand, at now: LocalTime) {
    do {
      emit(.reply(id, .success(try outcome(of: command, at: now))))
    } catch {
      emit(.reply(id, .failure(error)))
    }
  }

  private mutating func outcome(
    of command: PlayerCommand, at now: LocalTime
  ) throws(CommandRefusal) -> CommandOutcome {
    if isFinished {
      guard command == .stop else { throw .finished }
      return .done
    }
    switch command {
    case .pause: pause(at: now)
    case .pauseAt(let time): pause(at: now, notBefore: clock.group(time))
    case .resume: resume(at: now)
    case .resumeAt(let time): resume(at: now, notBefore: clock.group(time))
    case .seek(let position): try seek(to: position, at: now)
    case .seekBy(let span): try seek(by: span, at: now)
    case .live: try returnToLive(at: now)
    case .next: skipForward(at: now)
    case .previous: skipBack(at: now)
    case .jump(let id, let position): try jump(to: id, at: position, now: now)
    case .renew(let position): return .renewed(from: renew(from: position, at: now))
    case .restart(let position): return .renewed(from: restart(at: position, now: now))
    case .effectsAt(let effects, let position, let time):
      return change(to: effects, from: position, at: clock.group(time), now: now)
    case .cue(let position): cue(to: position, at: now)
    case .edit(let edit): return try apply(edit, at: now)
    case .observePosition(let interval):
      observers.observePosition(every: interval)
    case .halt: halt(at: now)
    case .stop: stop(at: now)
    case .effects(let effects): try change(to: effects, at: now)
    case .volume(let rooms, let volume):
      try self.rooms.set(rooms, at: now) { $0.volume = min(volume, 1000) }
    case .volumeBy(let rooms, let step):
      try self.rooms.set(rooms, at: now) {
        $0.volume = UInt16(min(max(Int($0.volume) + step, 0), 1000))
      }
    case .mute(let rooms, let isMuted):
      try self.rooms.set(rooms, at: now) { $0.isMuted = isMuted }
    case .streamVolume(let volume): set(volume, at: now)
    case .rise(let time, let span):
      var volume = StreamVolume.full
      let begin = clock.group(time)
      volume.rise = .init(begin: begin, span: span)
      set(volume, at: now)
    case .delay(let rooms, let delay):
      let limits = ProtocolLimits.roomDelay
      try self.rooms.set(rooms, at: now) {
        $0.delay = Nanoseconds(min(max(delay.count, limits.lowerBound), limits.upperBound))
      }
    case .channelMap(let rooms, let map):
      try self.rooms.set(rooms, at: now) { $0.channelMap = map }
    case .volumeLimit(let rooms, let limit):
      try self.rooms.set(volumeLimit: limit, of: rooms, at: now)
    case .sound(let rooms, let change): try self.rooms.set(change, of: rooms, at: now)
    case .volumeCap(let cap): rooms.setVolumeCap(cap, at: now)
    case .offerClip(let clip, let volume, let rooms):
      return .offered(self.rooms.offer(clip, volume: volume, to: rooms, at: now))
    case .beginClip(let number, let time):
      rooms.begin(number, at: clock.group(time), now: now)
    case .withdrawClip(let number): rooms.withdraw(number, at: now)
    }
    return .done
  }

  private mutating func set(_ volume: StreamVolume, at now: LocalTime) {
    guard volume != self.volume else { return }
    self.volume = volume
    tellAll(.streamVolume(volume), at: now)
  }

  /// Time after a stop until the rooms are released: they fade out in less.
  private static let fadeTime = Nanoseconds.milliseconds(20)

  // MARK: - Start

  /// Time for the anchor to reach rooms with weak links: it waits behind the packets that are under way, and may be lost
  /// once.
  private static let weakLinkTime = Nanoseconds.seconds(1)

  /// Sets the anchor once all rooms are ready, or the first that was has waited long enough.
  mutating func startIfReady(at now: LocalTime) {
    guard case .starting(let place) = timeline.state,
      start.isDue(
        someRoomIsReady: hasEnough(from: place, at: now) && rooms.links.contains(where: \.isReady),
        allAreReady: allRoomsAreReady, grace: configuration.profile.startGrace, at: now)
    else { return }
    var earliest = start.earliest
    if rooms.hasWeakLinks {
      let time = commitTime(at: now) + Self.weakLinkTime
      earliest = max(earliest ?? time, time)
    }
    play(from: place, at: now, notBefore: earliest)
    start = .open()
    emit(.event(.started))
  }

  mutating func play(from start: MediaTime, at now: LocalTime, notBefore time: GroupTime? = nil) {
    let earliest = earliestStart(at: now)
    let chosen = max(earliest, time ?? earliest)
    let (start, begin) = live.item?.place(notBefore: chosen) ?? (start, chosen)
    let anchor = timeline.play(from: start, at: begin)
    tellAll(.anchor(anchor), at: now)
  }

  /// Not before what was decided last takes effect.
  private func earliestStart(at now: LocalTime) -> GroupTime {
    let time = commitTime(at: now)
    switch timeline.state {
    case .starting, .playing: return time
    case .holding(let anchor), .paused(let anchor): return max(time, anchor.groupTime)
    }
  }

  /// The earliest time at which all rooms can still do the same thing at the same sample.
  func commitTime(at now: LocalTime) -> GroupTime {
    GroupTime(ofSender: now) + commitHorizon
  }

  var commitHorizon: Nanoseconds {
    rooms.commitHorizon(expected: configuration.profile.expectedHorizon)
  }

  // MARK: - Pause and resume

  private mutating func pause(at now: LocalTime, notBefore time: GroupTime? = nil) {
    let earliest = commitTime(at: now)
    guard let anchor = timeline.pause(at: max(earliest, time ?? earliest)) else {
      return hold(at: now)
    }
    tellAll(.anchor(anchor), at: now)
    emit(.event(.paused))
  }

  /// Before the start there is no anchor to stop: the rooms are filled, and wait.
  private mutating func hold(at now: LocalTime) {
    guard case .starting = timeline.state, !start.isHeld else { return }
    // A list that is at its end is not paused; time that groups share is, wherever it is.
    if configuration.holdsAtCuts, isStopped(at: now) { return }
    start = .held(isPause: true)
    emit(.event(.paused))
  }

  private mutating func resume(at now: LocalTime, notBefore time: GroupTime? = nil) {
    if case .held(let isPause) = start {
      start = .open(earliest: time)
      // Rooms that were filled first, as was configured, go on with nothing.
      if isPause { emit(.event(.resumed)) }
      return
    }
    leaveOutPause(at: now)
    guard case .paused(let paused) = timeline.state else { return }
    catchUp(ifBehindBy: .zero, at: now)
    let mayHold = configuration.holdsAtCuts && timeline.end == nil
    if mayHold, !hasEnough(from: paused.mediaTime, at: now) {
      holdOn(at: now)
    } else {
      play(from: paused.mediaTime, at: now, notBefore: time)
    }
    emit(.event(.resumed))
  }

  mutating func stop(at now: LocalTime) {
    let time = commitTime(at: now)
    restart.forget()
    pause(at: now)
    finish(at: LocalTime(onSender: time) + Self.fadeTime)
  }
}

extension RoomSelection {
  package func contains(_ id: RoomID) -> Bool {
    switch self {
    case .all: true
    case .room(let only): only == id
    }
  }
}
