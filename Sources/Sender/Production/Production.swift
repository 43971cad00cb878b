import Audio
import Clock
import WireProtocol

/// Where production stands.
struct Production {
  enum Stage {
    case notBegun
    /// An item is to be opened.
    case beginning(Beginning)
    /// An item is open; whether more of it than its opening was ordered.
    case item(isUnderWay: Bool)
    case itemEnded(at: MediaTime)
    /// The stream ends here.
    case finishing(at: MediaTime)
    case finished
  }

  struct Beginning {
    var item: PlayItem
    /// How far into the item.
    var position = MediaDuration.zero
    let start: MediaTime
    /// Whether it was cut to, rather than following what lies before it.
    let isChosen: Bool
  }

  var stage = Stage.notBegun
  var nextDeadline: LocalTime?
  /// What the packets that come now are.
  var format: (id: UInt16, meaning: StreamFormat)?
  /// What was produced last, whose successor in the list comes next; nil before the first item.
  private(set) var predecessor: PlayItem?
  /// The item that was tried last; nil once the list has changed since.
  private(set) var lastTried: PlayItem?
  /// Items after `predecessor` that could not be played.
  private(set) var passed: Set<Int> = []
  /// Items begun since the last packet.
  var fruitless = 0
  /// A cut behind which there is nothing yet.
  private(set) var cut: MediaTime?
  /// The list was edited in a way that is looked at when the order under way is answered.
  var wasEdited = false
  private var isChosen = false
  private var openOrders = 0
  /// Since when the order under way is waited for.
  private(set) var waitsSince: LocalTime?
  private var portion = Self.firstPortion

  /// Small at first, so that sound begins soon; then larger, so that a long file is there soon.
  private static let firstPortion = MediaDuration.milliseconds(100)
  private static let largestPortion = MediaDuration.seconds(5)

  var isIdle: Bool { openOrders == 0 }

  /// Whether nothing more comes of the item that was produced last.
  var hasEndedItem: Bool {
    guard cut == nil else { return false }
    return switch stage {
    case .notBegun, .item: false
    case .beginning(let beginning): !beginning.isChosen
    case .itemEnded, .finishing, .finished: true
    }
  }

  /// Nothing is opened or open.
  var hasEnded: Bool {
    switch stage {
    case .itemEnded, .finishing, .finished: true
    case .notBegun, .beginning, .item: false
    }
  }

  mutating func ordered() { openOrders += 1 }

  mutating func answered() {
    openOrders = max(0, openOrders - 1)
    waitsSince = nil
  }

  mutating func noteWaiting(since now: LocalTime) {
    if !isIdle { waitsSince = waitsSince ?? now }
  }

  mutating func nextPortion() -> MediaDuration {
    stage = .item(isUnderWay: true)
    defer { portion = min(MediaDuration(flicks: portion.flicks * 2), Self.largestPortion) }
    return portion
  }

  mutating func begin(_ beginning: Beginning) {
    stage = .beginning(beginning)
    lastTried = beginning.item
    isChosen = isChosen || beginning.isChosen
    fruitless += 1
  }

  /// The segment that begins with it.
  mutating func opened(_ opened: OpenedItem, at time: MediaTime) -> PlaybackTimeline.Segment {
    stage = .item(isUnderWay: false)
    predecessor = opened.item
    defer { (isChosen, passed) = (false, []) }
    return .init(start: time, opened: opened, isChosen: isChosen, passed: passed)
  }

  mutating func failed(_ item: PlayItem, at time: MediaTime) {
    if case .beginning(let beginning) = stage {
      if beginning.isChosen { predecessor = item } else { passed.insert(item.id) }
    }
    stage = .itemEnded(at: time)
  }

  /// Everything from `time` on is to be made anew, as what follows `predecessor`; what is under way is obsolete.
  mutating func restart(from time: MediaTime, after predecessor: PlayItem?) {
    let format = format
    self = Production()
    self.format = format
    self.predecessor = predecessor
    stage = .itemEnded(at: time)
    cut = time
  }

  /// The item that was opened last, of which nothing was produced, is not wanted; what follows `predecessor` is.
  mutating func takeBack(to time: MediaTime, after predecessor: PlayItem, passing passed: Set<Int>)
  {
    stage = .itemEnded(at: time)
    self.predecessor = predecessor
    self.passed = passed
    lastTried = nil
  }

  /// The list has changed, so that what was tried in vain may be followed by something else now.
  mutating func listChanged() {
    lastTried = nil
    fruitless = 0
  }

  /// There is something behind the cut.
  mutating func metCut() { cut = nil }
}
