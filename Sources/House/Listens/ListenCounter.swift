/// Decides which tracks people have heard, by the rule that services of listens share: a track that is longer than 30 s
/// counts once half of it, or four minutes, were heard. A group of rooms hears a track once. For one thread.
package struct ListenCounter: Sendable {
  /// Tracks that are not longer never count, in seconds.
  package static let shortest = 30.0
  /// So much of a long track is enough, in seconds.
  package static let enough = 240.0
  /// A track is told as the present one after so much of it, in seconds: who skips through a list tells nothing.
  package static let settled = 5.0
  /// The beginning and the end of a track are so long, in seconds: positions are told with a delay.
  static let margin = 3.0

  /// An instant, by both clocks.
  package struct Moment: Hashable, Sendable {
    /// The household's clock, in milliseconds.
    package var nowMs: Double
    /// The clock on the wall, in seconds since 1970. People set it.
    package var wallS: Double

    package init(nowMs: Double, wallS: Double) { (self.nowMs, self.wallS) = (nowMs, wallS) }
  }

  /// How far a group has heard a track. It is kept on the disk, so that a restart neither loses nor doubles the track.
  package struct Hearing: Codable, Hashable, Sendable {
    package fileprivate(set) var item: HouseState.Item
    /// Seconds of the track that sounded, also those that sounded twice.
    fileprivate(set) var heardS = 0.0
    /// Place in the track at `atMs`, in seconds. From there it moves on with `rate`; a rate of 0 is silence.
    fileprivate var placeS: Double
    fileprivate var rate: Double
    fileprivate var atMs: Double
    fileprivate var wallS: Double
    /// When it began to sound; nil before.
    fileprivate var begunMs: Double?
    fileprivate var begunWallS: Double?
    fileprivate var isShown = false
    fileprivate var isCounted = false
  }

  /// A track that counts, or that plays now.
  package struct News: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case plays, counts }

    package var kind: Kind
    package var groupId: String
    package var item: HouseState.Item
    /// When it began, in seconds since 1970.
    package var atS: Int64
  }

  private var hearings: [String: Hearing]
  /// Groups whose hearing comes from the disk, and that have not played since.
  private var restored: Set<String>
  /// Groups whose hearing has changed other than by time.
  private var changed: Set<String> = []

  /// - Parameter hearings: those that an earlier process has kept, by the groups' identifiers.
  package init(_ hearings: [String: Hearing] = [:]) {
    self.hearings = hearings.mapValues { hearing in
      var hearing = hearing
      // The household's clock may be another by now.
      hearing.begunMs = nil
      return hearing
    }
    restored = Set(hearings.keys)
  }

  /// When it must look again though nothing changes, by the household's clock in milliseconds; nil for never.
  package var nextDeadlineMs: Double? {
    hearings.compactMap { group, hearing in
      guard hearing.rate > 0, let goal = hearing.goal, !restored.contains(group) else { return nil }
      return hearing.atMs + max(0, goal - hearing.heardS) / hearing.rate * 1_000
    }.min()
  }

  /// Returns the hearings to be kept since the last call, by their groups; nil is one to be removed.
  package mutating func takeChanges() -> [String: Hearing?] {
    defer { changed = [] }
    return Dictionary(uniqueKeysWithValues: changed.map { ($0, hearings[$0]) })
  }

  /// Takes in groups as they are now. Groups that are not named stay as they were.
  ///
  /// - Parameter isWhole: true if these are all groups.
  package mutating func take(
    _ groups: [HouseState.Group], isWhole: Bool = false, at now: Moment
  ) -> [News] {
    var news: [News] = []
    for group in groups { take(group, at: now, &news) }
    if isWhole {
      let names = Set(groups.map(\.id))
      for id in hearings.keys.sorted() where !names.contains(id) { end(id, at: now, &news) }
    }
    return news
  }

  /// Takes in that a group is gone.
  package mutating func forget(_ group: String, at now: Moment) -> [News] {
    var news: [News] = []
    end(group, at: now, &news)
    return news
  }

  // MARK: - One group

  private mutating func take(_ group: HouseState.Group, at now: Moment, _ news: inout [News]) {
    guard let item = group.item, !item.isLive else { return end(group.id, at: now, &news) }
    let next = Hearing(item, group, at: now)
    guard var hearing = hearings[group.id] else { return begin(next, group.id, at: now, &news) }
    let isRestored = restored.contains(group.id)
    let isSame = hearing.item.entryId == item.entryId
    // A process that has just begun does not know yet where the rooms are. It may show the place that it has kept.
    if isRestored, isSame, group.state != .playing { return }
    restored.remove(group.id)
    let moved = hearing.moved(at: now, isRestored: isRestored)
    guard isSame, group.state != .stopped else {
      // The next track may have begun while no process was there.
      let since = isRestored && next.rate > 0 ? next.placeS : 0
      hearing.hear(hearing.upToEnd(max(0, moved - since)))
      finish(hearing, group.id, at: now, &news)
      return group.state == .stopped
        ? remove(group.id) : begin(next, group.id, at: now, &news)
    }
    if hearing.startsAgain(at: next.placeS, after: moved, isRestored, group.targetS) {
      hearing.hear(hearing.upToEnd(moved))
      finish(hearing, group.id, at: now, &news)
      return begin(next, group.id, at: now, &news)
    }
    hearing.hear(
      isRestored ? min(max(0, next.placeS - hearing.placeS), moved) : moved)
    let leap = abs(next.placeS - hearing.placeS - moved)
    if isRestored || next.rate != hearing.rate || leap > Self.margin { changed.insert(group.id) }
    hearing.follow(next)
    finish(hearing, group.id, at: now, &news)
  }

  private mutating func begin(
    _ hearing: Hearing, _ group: String, at now: Moment, _ news: inout [News]
  ) {
    changed.insert(group)
    finish(hearing, group, at: now, &news)
  }

  /// Keeps a hearing, and tells what has come of it.
  private mutating func finish(
    _ hearing: Hearing, _ group: String, at now: Moment, _ news: inout [News]
  ) {
    var hearing = hearing
    for kind in hearing.takeNews() {
      changed.insert(group)
      news.append(News(kind: kind, groupId: group, item: hearing.item, atS: hearing.begin(at: now)))
    }
    hearings[group] = hearing
  }

  private mutating func end(_ group: String, at now: Moment, _ news: inout [News]) {
    guard var hearing = hearings[group] else { return }
    let isRestored = restored.contains(group)
    // Nobody knows how far a group has come that is gone after a restart.
    hearing.hear(isRestored ? 0 : hearing.upToEnd(hearing.moved(at: now, isRestored: false)))
    finish(hearing, group, at: now, &news)
    remove(group)
  }

  private mutating func remove(_ group: String) {
    hearings[group] = nil
    restored.remove(group)
    changed.insert(group)
  }
}

extension ListenCounter.Hearing {
  fileprivate init(
    _ item: HouseState.Item, _ group: HouseState.Group, at now: ListenCounter.Moment
  ) {
    self.item = item
    let isPlaying = group.state == .playing
    let ahead = (now.nowMs - group.positionAtMs) / 1_000 * group.rate
    placeS = group.positionS + (isPlaying ? max(0, ahead) : 0)
    placeS = min(placeS, item.durationS ?? placeS)
    rate = isPlaying ? group.rate : 0
    // A place may be told that sounds in a moment.
    atMs = isPlaying ? max(now.nowMs, group.positionAtMs) : now.nowMs
    wallS = now.wallS
    noteBegin()
  }

  private mutating func noteBegin() {
    guard rate > 0, begunWallS == nil else { return }
    let since = placeS < 2 * ListenCounter.margin ? placeS / rate : 0
    (begunMs, begunWallS) = (atMs - since * 1_000, wallS - since)
  }

  fileprivate var goal: Double? {
    guard !isCounted, item.artist != nil, let length = item.durationS,
      length > ListenCounter.shortest
    else { return nil }
    return isShown ? min(length / 2, ListenCounter.enough) : ListenCounter.settled
  }

  /// Seconds of the track that would have sounded since it was looked at.
  fileprivate func moved(at now: ListenCounter.Moment, isRestored: Bool) -> Double {
    // The household's clock begins anew with the machine.
    let isOther = isRestored && now.nowMs < atMs
    let passed = isOther ? now.wallS - wallS : (now.nowMs - atMs) / 1_000
    return max(0, passed * rate)
  }

  fileprivate func upToEnd(_ moved: Double) -> Double {
    min(moved, item.durationS.map { max(0, $0 - placeS) } ?? moved)
  }

  /// True if the same entry has begun anew: its end was reached, or it counts and somebody went back to the beginning.
  fileprivate func startsAgain(
    at place: Double, after moved: Double, _ isRestored: Bool, _ target: Double?
  ) -> Bool {
    guard target == nil, place < placeS + moved else { return false }
    let margin = ListenCounter.margin
    if let length = item.durationS {
      let over = placeS + moved - length
      if isRestored, over > 0, abs(over - place) < margin { return true }
      if !isRestored, over > -margin, place < length / 2 { return true }
    }
    return !isRestored && isCounted && place < margin && placeS + moved > 2 * margin
  }

  fileprivate mutating func hear(_ seconds: Double) { heardS += seconds }

  /// Goes on from where the group is now. Tags and length may be known only now.
  fileprivate mutating func follow(_ next: Self) {
    (item, placeS, rate) = (next.item, next.placeS, next.rate)
    (atMs, wallS) = (next.atMs, next.wallS)
    noteBegin()
  }

  /// Returns what is to be told, once each.
  fileprivate mutating func takeNews() -> [ListenCounter.News.Kind] {
    var kinds: [ListenCounter.News.Kind] = []
    // Clocks in milliseconds have rounding errors.
    while let goal, heardS > goal - 0.001 {
      kinds.append(isShown ? .counts : .plays)
      (isShown, isCounted) = (true, isShown)
    }
    return kinds
  }

  /// When it began. The clock on the wall may have been set since: the present one counts, unless this process has not
  /// seen the beginning.
  fileprivate func begin(at now: ListenCounter.Moment) -> Int64 {
    var begin = begunWallS ?? now.wallS
    if let begunMs, now.nowMs >= begunMs {
      begin = now.wallS - (now.nowMs - begunMs) / 1_000
    }
    return begin.isFinite && abs(begin) < 1e11 ? Int64(begin) : 0
  }
}
