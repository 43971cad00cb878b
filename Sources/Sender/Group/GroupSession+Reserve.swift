import Clock
import WireProtocol

/// A source that delivers later than the clock needs it is waited for: before the rooms run dry they all stand still at
/// one sample, and go on from there as soon as enough has come. Nothing of it is lost.
extension GroupSession {
  /// Longest time that the first packets behind a standstill take to the rooms. If less is left until their time, the
  /// rooms stand still until they have come.
  private static let deliveryMargin = Nanoseconds.milliseconds(50)
  /// Audio that is left unheard when the rooms stand still in the middle of an item: their resamplers and their fade need
  /// frames beyond the one at which they stop.
  private static let tail = MediaDuration.milliseconds(20)
  /// Longest time that a producer computes without waiting for anybody.
  private static let producerGrace = Nanoseconds.milliseconds(30)
  /// A standstill at a cut, or between two items, is worth a word only after this long: something is opened there.
  private static let openingGrace = Nanoseconds.milliseconds(500)
  /// Not worth being played alone: what follows it is what the rooms wait for.
  private static let shortRest = MediaDuration.milliseconds(100)

  // MARK: - To stand still

  /// Where the rooms must stand still unless more comes: at a cut with nothing behind it, or where all that is there
  /// has sounded.
  private var standstillPlace: MediaTime? {
    guard configuration.holdsAtCuts, live.item == nil, case .playing(let anchor) = timeline.state
    else {
      return nil
    }
    if let cut = production.cut { return cut }
    // Where nothing is ordered the source is not late: the rooms hold as much as they can, or all has come.
    guard timeline.end == nil, !production.isIdle || restart.reconcileTime != nil,
      let end = store.end
    else { return nil }
    return isBetweenItems ? end : max(anchor.mediaTime, end - Self.tail)
  }

  /// Until when more must have come for the rooms to play on.
  var holdTime: LocalTime? {
    guard case .playing(let anchor) = timeline.state, let place = standstillPlace,
      let time = anchor.groupTime(of: place)
    else { return nil }
    let last = LocalTime(onSender: time) - commitHorizon
    let due = last - Self.deliveryMargin
    guard production.cut == nil else { return due }
    let since = production.waitsSince ?? due
    let latest = min(max(due, since + Self.producerGrace), last)
    return max(latest, standstill.earliest ?? latest)
  }

  /// Lest anything sounds before everyone has it, or comes too late to sound, the rooms stand still where there is
  /// nothing more, if that is near.
  mutating func holdIfDue(at now: LocalTime) {
    guard let time = holdTime, time <= now, let place = standstillPlace else { return }
    let isCut = production.cut != nil
    // This one, the one that ends it, and one for a cut.
    if !isCut, let room = timeline.timeOfRoom(for: 3, at: GroupTime(ofSender: now)) {
      return standstill.postpone(to: LocalTime(onSender: room))
    }
    guard let anchor = timeline.hold(at: place) else { return }
    if isCut { restart.stoodStill(at: place) }
    let isDry = !isCut && !isBetweenItems
    if isDry, let item = awaitedSegment(from: place)?.opened.item {
      standstill.reserve.ranDry(in: item)
    }
    standstill.began(
      tellingAt: LocalTime(onSender: anchor.groupTime) + (isDry ? .zero : Self.openingGrace))
    tellAll(.anchor(anchor), at: now)
  }

  /// Nothing more comes of the item that was produced last, and nothing is there of the next.
  private var isBetweenItems: Bool {
    switch production.stage {
    case .notBegun, .beginning, .itemEnded, .finishing, .finished: true
    case .item: false
    }
  }

  /// Playing is to go on after a pause, and there is too little to play.
  mutating func holdOn(at now: LocalTime) {
    timeline.resumeHolding()
    standstill.tell(at: now + Self.openingGrace)
  }

  // MARK: - To go on

  /// Where the rooms stand still, playing goes on as soon as enough is there, and they can all do so.
  mutating func goOnIfEnough(at now: LocalTime) {
    guard case .holding(let anchor) = timeline.state, hasEnough(from: anchor.mediaTime, at: now)
    else { return }
    play(from: anchor.mediaTime, at: now)
    guard standstill.end(), case .playing(let next) = timeline.state else { return }
    emit(.event(.buffered(after: next.groupTime - anchor.groupTime)))
  }

  /// True if there is enough audio behind `place` to play from there.
  func hasEnough(from place: MediaTime, at now: LocalTime) -> Bool {
    if live.item != nil { return true }
    guard let end = store.end, end > place else { return false }
    guard configuration.holdsAtCuts else { return true }
    if timeline.end != nil || end - place >= needed(from: place) || !hasRoom(at: now) {
      return true
    }
    return end - place >= Self.shortRest && isWhole(from: place)
  }

  private func needed(from place: MediaTime) -> MediaDuration {
    awaitedSegment(from: place).map { standstill.reserve.needed(of: $0.opened) } ?? .zero
  }

  private func awaitedSegment(from place: MediaTime) -> PlaybackTimeline.Segment? {
    timeline.segments.last { $0.start < place + Self.shortRest }
  }

  /// True if nothing more comes of the item that plays at `place`.
  private func isWhole(from place: MediaTime) -> Bool {
    // Audio ends at a cut at the latest.
    guard production.cut == nil else { return true }
    guard let segment = awaitedSegment(from: place) else { return false }
    return production.hasEndedItem
      || timeline.segments.contains { $0.start > segment.start && !$0.continuesItem }
  }

  // MARK: - To say so

  /// Returns the audio for which the group waits; nil if it does not wait, and as long as nobody can hear that it does.
  func buffering(at now: LocalTime) -> Buffering? {
    let place: MediaTime
    switch timeline.state {
    case .starting(let start): place = start
    case .holding(let anchor):
      guard standstill.tellingTime.map({ $0 <= now }) ?? true else { return nil }
      place = anchor.mediaTime
    case .playing, .paused: return nil
    }
    guard !hasEnough(from: place, at: now), let opened = awaitedSegment(from: place)?.opened
    else { return nil }
    // Where the next item is being opened, the one that has ended was not late.
    let item = if case .beginning(let next) = production.stage { next.item } else { opened.item }
    return Buffering(
      item: item, arrived: max(.zero, (store.end ?? place) - place),
      needed: needed(from: place))
  }

  var nextBufferingTime: LocalTime? {
    if case .holding = timeline.state { standstill.tellingTime } else { nil }
  }

  mutating func tellOfBuffering(at now: LocalTime) {
    guard let time = nextBufferingTime, time <= now else { return }
    guard let buffering = buffering(at: now) else {
      // Nothing is known yet of what is being opened.
      return standstill.tell(at: now + Self.openingGrace)
    }
    standstill.told()
    emit(.event(.buffering(buffering)))
  }
}
