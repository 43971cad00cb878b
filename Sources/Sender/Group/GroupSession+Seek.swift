import Clock
import WireProtocol

/// Seek, skip and jump: replaces everything from the next instant that all rooms can still change by one place in one
/// item.
extension GroupSession {
  /// The farthest place that anybody is sent to, which is farther than items are long: an item whose length is not known yet
  /// refuses none, and steps add up.
  static let farthest = MediaDuration.seconds(400_000_000)
  /// Length of the last item's end that is heard after a seek beyond it.
  private static let lastMoment = MediaDuration.seconds(1)

  /// The place that a listener means by "here": the one that sounds, or the one asked for last, which sounds in an
  /// instant.
  struct Aim {
    var item: PlayItem
    var position: MediaDuration
    /// Nil while it is not known.
    var opened: OpenedItem?
    /// True if `position` counts from where somebody has left it, which is not known yet.
    var resumes = false
  }

  func aim(at now: LocalTime) -> Aim? {
    if let target = restart.target {
      return aim(at: target.item, target.position, resumes: target.resumes)
    }
    // The first source may open slowly: it is what people mean, though nothing sounds.
    if case .beginning(let beginning) = production.stage,
      beginning.isChosen || timeline.segments.isEmpty
    {
      return aim(at: beginning.item, beginning.position, resumes: beginning.resumes)
    }
    let playhead = mediaTime(at: now)
    if let segment = timeline.segments.last(where: { $0.isChosen && $0.start > playhead }) {
      return Aim(
        item: segment.opened.item, position: segment.opened.position, opened: segment.opened)
    }
    return soundingItem(at: now).map {
      Aim(item: $0.item, position: position(at: now), opened: $0)
    }
  }

  private func aim(at item: PlayItem, _ position: MediaDuration, resumes: Bool) -> Aim {
    let opened = timeline.segments.last { $0.opened.item.id == item.id }?.opened
    return Aim(item: item, position: position, opened: opened, resumes: resumes)
  }

  /// The item that is being opened if none was opened before.
  private var firstAim: Aim? {
    guard case .beginning(let beginning) = production.stage else { return nil }
    return Aim(
      item: beginning.item, position: beginning.position, opened: nil,
      resumes: beginning.resumes)
  }

  // MARK: - What people ask for

  mutating func seek(by span: MediaDuration, at now: LocalTime) throws(CommandRefusal) {
    guard let aim = aim(at: now) else { throw .nothingPlays }
    let step = min(max(span, .zero - Self.farthest), Self.farthest)
    if aim.resumes { return goTo(aim.item, at: aim.position + step, resumes: true, now: now) }
    try seek(to: aim.position + step, at: now)
  }

  mutating func seek(to position: MediaDuration, at now: LocalTime) throws(CommandRefusal) {
    guard let aim = aim(at: now) else { throw .nothingPlays }
    guard aim.opened?.isSeekable ?? true else { throw .notSeekable(aim.item) }
    if aim.opened?.isKept ?? false {
      guard let kept = kept(of: aim.opened) else { throw .notSeekable(aim.item) }
      return goTo(aim.item, at: kept.place(near: position), now: now)
    }
    guard let duration = aim.opened?.duration, position >= duration else {
      return goTo(aim.item, at: position, now: now)
    }
    if playlist.neighbour(after: aim.item) != nil { return skipForward(at: now) }
    // A seek ends no list: its last moment is heard, and then it ends by itself.
    let last = max(.zero, duration - Self.lastMoment)
    if aim.position < last { goTo(aim.item, at: last, now: now) }
  }

  mutating func skipForward(at now: LocalTime) {
    guard let aim = aim(at: now) else { return }
    if let next = playlist.neighbour(after: aim.item) {
      goTo(next, at: .zero, resumes: next.id != aim.item.id, now: now)
    } else if configuration.endsWithPlaylist {
      stop(at: now)
    } else {
      halt(after: aim.item, at: now)
    }
  }

  mutating func skipBack(at now: LocalTime) {
    guard let aim = aim(at: now) else {
      if let last = playlist.items.last { goTo(last, at: .zero, resumes: true, now: now) }
      return
    }
    if skipBack(in: kept(of: aim.opened), aim, at: now) { return }
    let isAtBeginning = aim.position < Self.restartThreshold || aim.opened?.isKept ?? false
    let target = isAtBeginning ? playlist.neighbour(before: aim.item) ?? aim.item : aim.item
    goTo(target, at: .zero, resumes: target.id != aim.item.id, now: now)
  }

  /// The current item begins anew without a position, and another one begins where somebody has left it.
  mutating func jump(
    to id: Int, at position: MediaDuration?, now: LocalTime
  ) throws(CommandRefusal) {
    guard let item = playlist.item(id) else { throw .noSuchItem(id) }
    // A group that was halted has left what still sounds of it.
    let aim = isHalted ? nil : aim(at: now)
    let resumes = position == nil && (aim.map { $0.item.id != id || $0.resumes } ?? true)
    goTo(item, at: position ?? .zero, resumes: resumes, now: now)
  }

  /// The current item continues at the cut with other effects; later items are opened with them.
  mutating func change(to effects: Effects, at now: LocalTime) throws(CommandRefusal) {
    guard effects != self.effects else { return }
    let aim = aim(at: now) ?? firstAim
    if let opened = aim?.opened, !opened.isSeekable, effects.sounds(as: self.effects) {
      // It plays on as it is; what is opened later fades.
      self.effects = effects
      return
    }
    if let opened = aim?.opened, !opened.isSeekable {
      throw opened.supply == .live ? .isLive(opened.item) : .cannotBeginAnew(opened.item)
    }
    self.effects = effects
    guard let aim else { return }
    // An item that was chosen and does not sound yet begins where it was to; opening the next one changes nothing.
    var isThere = restart.target?.isThere ?? true
    if case .beginning(let next) = production.stage, next.isChosen || timeline.segments.isEmpty {
      isThere = false
    }
    restart.ask(
      for: .init(
        item: aim.item, position: aim.position, isThere: isThere,
        isChange: restart.target?.isChange ?? true,
        looksAhead: aim.opened.map { effects.looksAhead(in: $0.metadata) } ?? false,
        resumes: aim.resumes))
    restartIfDue(at: now)
  }

  mutating func goTo(
    _ item: PlayItem, at position: MediaDuration, resumes: Bool = false, now: LocalTime
  ) {
    restart.isHalted = false
    let place = min(max(.zero, position), Self.farthest)
    restart.ask(for: .init(item: item, position: place, resumes: resumes))
    restartIfDue(at: now)
  }

  mutating func halt(at now: LocalTime) {
    restart.isHalted = true
    if let aim = aim(at: now) ?? firstAim { halt(after: aim.item, at: now) }
  }

  /// The sound ends as soon as it can, and nothing follows.
  mutating func halt(after item: PlayItem, at now: LocalTime) {
    restart.forget()
    let time = timeline.cutTime(by: commitTime(at: now))
    if production.cut == time, production.hasEnded { return }
    makeAnew(nil, from: time, after: item, isRamped: true, at: now)
    // Else an item that repeats would follow itself, and one that is added meanwhile would follow a halt.
    if isHalted || playlist.successor(of: item) != nil { finishProduction(at: time) }
  }

  // MARK: - Carrying it out

  /// Several restarts in quick succession become one: while a cut has nothing behind it, another place is simply put
  /// there, and no room hears of it.
  mutating func restartIfDue(at now: LocalTime) {
    guard let target = restart.target else { return }
    let time = place(of: target, at: now)
    var next = Production.Beginning(
      item: target.item, position: target.position, start: time, isChosen: true,
      resumes: target.resumes)
    if target.isThere, let segment = timeline.segment(at: time), time >= segment.start {
      next.item = segment.opened.item
      next.position = segment.opened.position(after: time - segment.start)
      next.fading = fading(into: segment, at: time)
      next.resumes = false
    }
    let room = timeline.timeOfRoom(for: 2, at: GroupTime(ofSender: now))
    let isAtCut = production.cut == time
    let step = restart.nextStep(
      isAtCut: isAtCut, isIdle: production.isIdle,
      awaited: target.isChange && isAtCut ? holdTime : nil,
      room: room.map { LocalTime(onSender: $0) }, at: now)
    if case .wait = step { return }
    restart.began(target, from: time)
    switch step {
    case .wait: break
    case .replace:
      timeline.removeSegments(from: time)
      begin(next, continues: false)
    case .cut:
      makeAnew(
        next, from: time, after: nil, isRamped: true, isCrossed: target.isChange, at: now)
    }
  }

  /// As soon as can be; but effects change where their sound will be there, as far as the old one reaches.
  private func place(of target: Restart.Target, at now: LocalTime) -> MediaTime {
    let earliest = timeline.cutTime(by: commitTime(at: now))
    guard target.isChange else { return earliest }
    if let cut = production.cut, cut >= earliest { return cut }
    let wish = timeline.cutTime(by: commitTime(at: now) + restart.lead(of: target))
    return max(earliest, min(wish, store.end ?? earliest))
  }

  /// Begins a generation: everything from `time` on is made anew, as what follows `predecessor`. It begins with `next`, or
  /// nothing is known that follows. `end` is held back, if it is the end of an item that nothing follows.
  mutating func makeAnew(
    _ next: Production.Beginning?, from time: MediaTime, after predecessor: PlayItem?,
    isRamped: Bool, isCrossed: Bool = false, isRecoding: Bool = false,
    holding end: ProductionOrder.Fading? = nil, at now: LocalTime
  ) {
    production.restart(from: time, after: predecessor)
    live.item = nil
    standstill.reserve.restart()
    holdIfDue(at: now)
    // Where time stands still, nothing of the old audio has sounded that could fade out.
    let isCrossed = isCrossed && timeline.isPlaying
    let generation = timeline.cut(from: time, isRamped: isRamped, isCrossed: isCrossed)
    store.cut(from: time)
    keeper.cut(from: time, at: now)
    let flush = Flush(
      from: time, generation: generation, isRamped: isRamped, isCrossed: isCrossed)
    tellAll(.flush(flush), at: now)
    announcer.cut(at: now)
    if let next {
      begin(next, continues: false, isRecoding: isRecoding)
    } else {
      order(.leave(from: time, generation: generation, end: end))
    }
  }
}
