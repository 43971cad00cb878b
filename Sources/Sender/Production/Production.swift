import Audio
import Clock
import WireProtocol

/// The state of production: what was ordered and answered, and what comes next.
struct Production {
  enum Stage {
    case notBegun
    /// An item is being opened.
    case beginning(Beginning)
    /// An item is open. `isUnderWay` is true once more of it than its opening was ordered.
    case item(isUnderWay: Bool)
    case itemEnded(at: MediaTime)
    /// The stream was ordered to end here.
    case finishing(at: MediaTime)
    case finished
  }

  struct Beginning {
    var item: PlayItem
    /// Position in the item.
    var position = MediaDuration.zero
    let start: MediaTime
    /// True if the item was cut to, instead of following the one before it.
    let isChosen: Bool
    /// The end of the item before, which fades out anew.
    var fading: ProductionOrder.Fading?
    /// True if `position` counts from where somebody has left it, which the producer knows.
    var resumes = false
  }

  var stage = Stage.notBegun
  var nextDeadline: LocalTime?
  /// The format of the packets that come now.
  var format: (id: UInt16, meaning: StreamFormat)?
  /// The item produced last, whose successor in the list comes next; nil before the first item.
  private(set) var predecessor: PlayItem?
  /// The item tried last; nil once the list has changed since.
  private(set) var lastTried: PlayItem?
  /// Identities of the items after `predecessor` that could not be played.
  private(set) var passed: Set<Int> = []
  /// Number of items begun since the last packet.
  var fruitless = 0
  /// A cut with no audio behind it yet.
  private(set) var cut: MediaTime?
  /// True if the list was edited, and is to be compared once the order under way is answered.
  var wasEdited = false
  private var isChosen = false
  private var openOrders = 0
  /// The time since which the group has waited for the answer to the order under way.
  private(set) var waitsSince: LocalTime?
  private var portion = Self.firstPortion

  /// Portions are small at first, so that sound begins soon, and grow so that a long file arrives soon.
  private static let firstPortion = MediaDuration.milliseconds(100)
  private static let largestPortion = MediaDuration.seconds(5)

  var isIdle: Bool { openOrders == 0 }

  /// True if nothing more comes of the item produced last.
  var hasEndedItem: Bool {
    guard cut == nil else { return false }
    return switch stage {
    case .notBegun, .item: false
    case .beginning(let beginning): !beginning.isChosen
    case .itemEnded, .finishing, .finished: true
    }
  }

  /// True if no item is open or being opened.
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

  /// Returns the segment that begins with the opened item.
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

  /// Starts over: everything from `time` on is produced anew, as what follows `predecessor`. The orders under
  /// way are obsolete.
  mutating func restart(from time: MediaTime, after predecessor: PlayItem?) {
    let format = format
    self = Production()
    self.format = format
    self.predecessor = predecessor
    stage = .itemEnded(at: time)
    cut = time
  }

  /// All was produced by another process, `last` at the end.
  mutating func finished(with last: PlayItem?) { (stage, predecessor) = (.finished, last) }

  /// Takes back the item opened last, of which nothing was produced, because another one is to follow
  /// `predecessor`.
  mutating func takeBack(to time: MediaTime, after predecessor: PlayItem, passing passed: Set<Int>)
  {
    stage = .itemEnded(at: time)
    self.predecessor = predecessor
    self.passed = passed
    lastTried = nil
  }

  /// The list has changed, so that other items may now follow those that were tried in vain.
  mutating func listChanged() {
    lastTried = nil
    fruitless = 0
  }

  /// There is audio behind the cut now.
  mutating func metCut() { cut = nil }
}
