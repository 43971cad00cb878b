import Audio
import Clock
import WireProtocol

/// Keeps the producer busy: one order at a time, as far ahead as the rooms can hold.
extension GroupSession {
  /// Assumed until a room has reported its capacity.
  private static let capacityUnknown = Capacity(bytes: 4 << 20, duration: .seconds(60))
  /// The stream is marked as ended this long before its end. Not earlier, because items appended until then join
  /// without a cut; not later, because a room that is out of reach at the end should know that it was the end.
  private static let finishMargin = MediaDuration.seconds(30)

  mutating func order(_ order: ProductionOrder) {
    production.ordered()
    emit(.produce(order))
  }

  /// Continues production with an item. If `continues` is false, the item follows a cut.
  mutating func begin(_ next: Production.Beginning, continues: Bool, isRecoding: Bool = false) {
    production.begin(next)
    order(
      .begin(
        .init(
          item: next.item, position: next.position, mediaTime: next.start,
          generation: timeline.generation, effects: effects,
          neighbours: effects.loudness == nil ? [] : playlist.neighbours(of: next.item),
          continues: continues, codecs: codecs, isRecoding: isRecoding, fading: next.fading,
          resumes: next.resumes)))
  }

  mutating func produceMore(at now: LocalTime) {
    production.nextDeadline = nil
    // The edit is handled within milliseconds, and may discard what would be produced until then.
    guard production.isIdle, restart.reconcileTime == nil else { return }
    switch production.stage {
    case .notBegun:
      if isHalted { break }
      if let item = playlist.first {
        begin(
          .init(item: item, start: .zero, isChosen: false, resumes: true), continues: false)
      } else if configuration.endsWithPlaylist {
        finishProduction(at: .zero)
      }
    case .item:
      guard hasRoom(at: now) else {
        // The playhead makes room even if no input comes.
        production.nextDeadline = now + .milliseconds(100)
        return
      }
      if let next = beginningOfKept { return begin(next, continues: true) }
      order(.more(production.nextPortion(), generation: timeline.generation))
    case .itemEnded(let time):
      if let next = itemToProduce {
        begin(
          .init(item: next, start: time, isChosen: false, resumes: resumes(next, at: time)),
          continues: true)
      } else {
        finishProductionIfDue(endingAt: time, at: now)
      }
    case .beginning, .finishing, .finished:
      break
    }
  }

  /// The item that follows the one produced last; nil if nothing of the list gives anything.
  private var itemToProduce: PlayItem? {
    if let fallback = playlist.fallback, production.fruitless == playlist.count - 1 {
      return fallback
    }
    guard production.fruitless <= playlist.count else { return nil }
    if let tried = production.lastTried { return playlist.successor(of: tried) }
    return playlist.successor(of: production.predecessor, passing: production.passed)
  }

  /// True if an item whose turn it is at `time` begins where somebody has left it. One that is still heard, or waits in the
  /// rooms, begins anew: its place is that of the listening under way.
  func resumes(_ item: PlayItem, at time: MediaTime) -> Bool {
    !timeline.segments.contains {
      $0.start < time && $0.opened.item.location == item.location
    }
  }

  private mutating func finishProductionIfDue(endingAt end: MediaTime, at now: LocalTime) {
    let due = end - Self.finishMargin
    guard mediaTime(at: now) < due else {
      return finishProduction(at: end)
    }
    production.nextDeadline = timeline.groupTime(of: due).map { LocalTime(onSender: $0) }
      .map { max($0, now) + Nanoseconds(1) }
  }

  mutating func finishProduction(at time: MediaTime) {
    production.stage = .finishing(at: time)
    order(.finish(generation: timeline.generation))
  }

  func hasRoom(at now: LocalTime) -> Bool {
    let capacity = rooms.capacity ?? Self.capacityUnknown
    let playhead = mediaTime(at: now)
    return store.heldBytes < min(Int(clamping: capacity.bytes), store.byteLimit)
      && (store.end ?? playhead) - playhead < capacity.duration
  }

  // MARK: - Answers

  mutating func produced(_ batch: ProducedBatch, at now: LocalTime) {
    // This audio may be too late for what was decided before.
    if let holdTime, holdTime < now { holdIfDue(at: now) }
    let isCurrent = batch.generation == timeline.generation
    if isCurrent { production.answered() }
    if let held = batch.heldLatency { live.item?.latency = held }
    for step in batch.steps {
      switch step {
      // Also accept packets of older generations: they may reach up to a cut that lies ahead.
      case .format(let id, let format): production.format = (id, format)
      case .packet(let packet): append(packet, at: now)
      case .opened, .metadata, .itemEnded, .failed, .finished:
        if isCurrent { take(step, at: now) }
      }
    }
    if let cut = production.cut, let end = store.end, end > cut { production.metCut() }
    if production.isIdle, production.wasEdited { restart.reconcile(at: now) }
    if timeline.isPlaying { catchUp(ifBehindBy: Self.hopeless, at: now) }
  }

  private mutating func take(_ step: ProducedBatch.Step, at now: LocalTime) {
    switch step {
    case .opened(let opened, let time):
      let (opened, description) = announcer.describe(opened, after: timeline.segments)
      var segment = production.opened(opened, at: time)
      segment.description = description
      timeline.append(segment)
      // Another connection, of which nothing is kept yet.
      if opened.position == .zero { kept = nil }
      begin(opened, at: time, now: now)
    case .metadata(let described, let time):
      let (opened, description) = announcer.describe(described, after: timeline.segments)
      timeline.append(
        .init(start: time, opened: opened, continuesItem: true, description: description))
    case .itemEnded(let time):
      if case .finishing = production.stage { break }
      production.stage = .itemEnded(at: time)
    case .failed(let item, let error, let time):
      emit(.event(.itemFailed(item, error)))
      production.failed(item, at: time)
    case .finished(let time):
      var end = max(time, store.end ?? .zero)
      if case .finishing(let known) = production.stage { end = max(end, known) }
      production.stage = .finished
      timeline.end = end
      live.item = nil
    case .format, .packet: break
    }
  }

  private mutating func append(_ produced: ProducedPacket, at now: LocalTime) {
    guard let format = production.format, format.id == produced.formatID else { return }
    let limit = timeline.limit(of: produced.generation)
    // Drop packets that lie behind a cut, or would overlap the packet before.
    guard limit.map({ produced.mediaTime < $0 }) ?? true,
      store.end.map({ produced.mediaTime >= $0 }) ?? true
    else { return }
    let end = produced.mediaTime + produced.duration
    production.fruitless = 0
    let entry = store.append(
      AudioPacket(
        generation: produced.generation, sequence: store.nextSequence,
        mediaTime: produced.mediaTime, formatID: produced.formatID,
        startsRun: produced.startsRun, endsStream: produced.endsStream && limit == nil,
        encoded: produced.encoded),
      format: format.meaning, end: limit.map { min($0, end) } ?? end,
      isLive: live.item != nil && sendsDatagrams)
    if entry.isLive { sendLive(entry, at: now) }
  }
}
