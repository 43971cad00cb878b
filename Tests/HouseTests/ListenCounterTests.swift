import Clock
import House
import Sender
import TestSupport
import Testing

/// Tests of which tracks count as heard. Times in seconds.
@Suite struct ListenCounterTests {
  /// A group that plays, as its states tell it.
  struct Player {
    var entry = 1
    var lengthS: Double? = 200
    var artist: String? = "Nina"
    var isLive = false
    var state = HouseState.Group.State.playing
    var placeS = 0.0
    var rate = 1.0
    var targetS: Double?
    var id = "g1"

    func group(at time: Double) -> HouseState.Group {
      var item = HouseState.Item(
        entryId: entry, title: "No. \(entry)", isSeekable: true, isLive: isLive, hasVideo: false)
      (item.durationS, item.artist) = (lengthS, artist)
      return HouseState.Group(
        id: id, name: "Kitchen", isNamed: false, roomIds: ["1", "2"], state: state, item: item,
        positionS: placeS, positionAtMs: time * 1_000, rate: rate, targetS: targetS, volume: 50,
        muted: false, repeat: .off, effects: EffectsReport(Effects()),
        queue: .init(revision: 1, count: 3, index: entry - 1, canUndo: nil))
    }
  }

  /// A counter with a clock, and what it has told.
  struct Run {
    var counter = ListenCounter()
    var player = Player()
    var time = 0.0
    var wallOffset = 1_700_000_000.0
    var plays: [Int] = []
    var counts: [ListenCounter.News] = []
    /// As on the disk.
    var kept: [String: ListenCounter.Hearing] = [:]

    var now: ListenCounter.Moment { .init(nowMs: time * 1_000, wallS: time + wallOffset) }
    var counted: [Int] { counts.map(\.item.entryId) }

    mutating func note(_ news: [ListenCounter.News]) {
      plays += news.filter { $0.kind == .plays }.map(\.item.entryId)
      counts += news.filter { $0.kind == .counts }
      for (group, hearing) in counter.takeChanges() { kept[group] = hearing }
    }

    /// The group changes, which is told at once.
    mutating func change(_ edit: (inout Player) -> Void = { _ in }) {
      edit(&player)
      note(counter.take([player.group(at: time)], at: now))
    }

    /// Time passes; whoever asks at a deadline is told where the group is.
    mutating func pass(_ seconds: Double) {
      let end = time + seconds
      while let deadline = counter.nextDeadlineMs.map({ $0 / 1_000 + 0.001 }), deadline < end {
        move(to: max(deadline, time))
        note(counter.take([player.group(at: time)], isWhole: true, at: now))
      }
      move(to: end)
    }

    private mutating func move(to end: Double) {
      if player.state == .playing {
        player.placeS = min(player.placeS + (end - time) * player.rate, player.lengthS ?? .infinity)
      }
      time = end
    }

    mutating func next() {
      change {
        $0.entry += 1
        $0.placeS = 0
      }
    }

    /// The daemon dies; another one begins after some seconds, in which the rooms play on.
    mutating func restart(after seconds: Double = 0) {
      move(to: time + seconds)
      counter = ListenCounter(kept)
      // At first it knows what it has kept alone.
      let place = player.placeS
      change { ($0.state, $0.placeS) = (.starting, 0) }
      change { ($0.state, $0.placeS) = (.playing, place) }
    }
  }

  private func run(_ body: (inout Run) -> Void) -> Run {
    var run = Run()
    body(&run)
    return run
  }

  @Test func `a track counts once its half was heard, with the time at which it began`() {
    let run = run {
      $0.time = 50
      $0.change()
      $0.pass(99.9)
      #expect($0.counted == [] && $0.plays == [1])
      $0.pass(0.2)
      #expect($0.counted == [1])
      $0.pass(99)
      $0.next()
    }
    #expect(run.counted == [1] && run.counts.first?.atS == 1_700_000_050)
  }

  @Test func `four minutes of a long track are enough`() {
    let run = run {
      $0.player.lengthS = 3_000
      $0.change()
      $0.pass(239.9)
      #expect($0.counted == [])
      $0.pass(0.2)
    }
    #expect(run.counted == [1])
  }

  @Test func `tracks of 30 s, without artist or length, and what is live never count`() {
    for edit: (inout Player) -> Void in [
      { $0.lengthS = 30 }, { $0.artist = nil }, { $0.lengthS = nil }, { $0.isLive = true },
    ] {
      let run = run {
        edit(&$0.player)
        $0.change()
        $0.pass(1_000)
        $0.next()
      }
      #expect(run.counted == [] && run.plays == [])
    }
    let short = run {
      $0.player.lengthS = 31
      $0.change()
      $0.pass(16)
    }
    #expect(short.counted == [1])
  }

  @Test func `a skip before the half does not count, and one within five seconds tells nothing`() {
    let run = run {
      for _ in 0..<5 {
        $0.change()
        $0.pass(4)
        $0.next()
      }
      $0.pass(99)
      $0.next()
    }
    #expect(run.counted == [] && run.plays == [6])
  }

  @Test func `pauses do not count, and seeks count what sounds`() {
    let run = run {
      $0.change()
      $0.pass(40)
      $0.change { $0.state = .paused }
      $0.pass(500)
      $0.change { $0.state = .playing }
      $0.pass(40)
      // Until a seek is heard, the old place sounds.
      $0.change { $0.targetS = 180 }
      $0.pass(1)
      $0.change { ($0.targetS, $0.placeS) = (nil, 180) }
      $0.pass(10)
      $0.change { $0.placeS = 60 }
      #expect($0.counted == [])
      $0.pass(10)
    }
    #expect(run.counted == [1])
  }

  @Test func `a seek near the end alone does not count`() {
    let run = run {
      $0.change()
      $0.pass(10)
      $0.change { $0.placeS = 190 }
      $0.pass(10)
      $0.next()
    }
    #expect(run.counted == [])
  }

  @Test func `a track that repeats counts each time, and one that was sought back once`() {
    let repeats = run {
      $0.change()
      for _ in 0..<3 {
        $0.pass(200)
        $0.change { $0.placeS = 0 }
      }
    }
    #expect(repeats.counted == [1, 1, 1] && repeats.plays == [1, 1, 1])
    #expect(repeats.counts.map(\.atS) == [0, 200, 400].map { 1_700_000_000 + $0 })
    let sought = run {
      $0.change()
      for _ in 0..<3 {
        $0.pass(60)
        $0.change { $0.placeS = 20 }
      }
    }
    #expect(sought.counted == [1])
    // Who goes back to the beginning of a track that counts hears it again.
    let again = run {
      $0.change()
      for _ in 0..<2 {
        $0.pass(120)
        $0.change { $0.placeS = 0 }
      }
    }
    #expect(again.counted == [1, 1])
  }

  @Test func `a change of speed counts by the track, not by the clock`() {
    let run = run {
      $0.change { $0.rate = 2 }
      $0.pass(49)
      #expect($0.counted == [])
      $0.pass(1.1)
    }
    #expect(run.counted == [1])
  }

  @Test func `a group that is stopped, or gone, begins anew`() {
    let run = run {
      $0.change()
      $0.pass(60)
      $0.change { ($0.state, $0.placeS) = (.stopped, 0) }
      $0.change { $0.state = .playing }
      $0.pass(60)
      $0.note($0.counter.forget("g1", at: $0.now))
      $0.change { $0.placeS = 60 }
      $0.pass(60)
      #expect($0.kept.count == 1)
      $0.note($0.counter.take([], isWhole: true, at: $0.now))
      #expect($0.kept.isEmpty)
    }
    #expect(run.counted == [])
  }

  @Test func `two groups count each for itself`() {
    var counter = ListenCounter()
    func take(_ time: Double) -> [ListenCounter.News] {
      let groups = ["g1", "g2"].map { id in
        var player = Player()
        (player.id, player.placeS) = (id, time)
        return player.group(at: time)
      }
      return counter.take(groups, at: .init(nowMs: time * 1_000, wallS: time))
    }
    _ = take(0)
    #expect(take(101).filter { $0.kind == .counts }.map(\.groupId) == ["g1", "g2"])
    #expect(take(150).isEmpty)
  }

  @Test func `a restart neither loses nor doubles a track`() {
    let before = run {
      $0.change()
      $0.pass(80)
      $0.restart(after: 10)
      $0.pass(9)
      #expect($0.counted == [])
      $0.pass(1.1)
    }
    #expect(before.counted == [1] && before.plays == [1])
    #expect(before.counts.first?.atS == 1_700_000_000)
    let after = run {
      $0.change()
      $0.pass(101)
      for _ in 0..<3 { $0.restart(after: 5) }
      $0.pass(80)
      $0.next()
    }
    #expect(after.counted == [1])
  }

  @Test func `a track that ended while no daemon was there counts by what sounded`() {
    for (heard, counted) in [(80.0, [1]), (10, [])] {
      let run = run {
        $0.player.placeS = 200 - heard - 30
        $0.change()
        $0.pass(heard)
        // 30 s of the track and 20 s of the next one sound meanwhile.
        $0.player.entry = 2
        $0.player.placeS = -30
        $0.restart(after: 50)
      }
      #expect(run.counted == counted)
    }
  }

  @Test func `time in which neither daemon nor rooms played does not count`() {
    let run = run {
      $0.change()
      $0.pass(50)
      $0.player.state = .paused
      $0.restart(after: 3_600)
      $0.pass(49)
      #expect($0.counted == [])
      $0.pass(1.1)
    }
    #expect(run.counted == [1])
  }

  @Test func `a clock that is set changes no more than the time of a listen`() {
    let run = run {
      $0.change()
      $0.pass(50)
      $0.wallOffset -= 1_000_000
      $0.pass(60)
    }
    #expect(run.counted == [1] && run.counts.first?.atS == 1_699_000_000)
    let restarted = self.run {
      $0.change()
      $0.pass(50)
      $0.wallOffset -= 1_000_000
      $0.restart(after: 10)
      $0.pass(41)
      // Another start of the machine has another clock of the household.
      $0.time -= 80
      $0.restart()
      $0.pass(60)
    }
    #expect(restarted.counted == [1] && restarted.counts.first?.atS == 1_700_000_000)
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `whatever people do, a track counts by what sounded of it`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var run = Run()
    var (heard, expected, hasCounted) = (0.0, [Int](), false)
    run.player.lengthS = 100
    run.change()
    for _ in 0..<60 {
      let rest = run.player.state == .playing ? 95 - run.player.placeS : 20
      let step = Double.random(in: 0...max(0, min(20, rest)), using: &random)
      run.pass(step)
      if run.player.state == .playing { heard += step }
      // Nothing is drawn where it would hang on a rounding error.
      if abs(heard - 50) < 0.1 { run.pass(0.2) }
      if abs(heard - 50) < 0.1, run.player.state == .playing { heard += 0.2 }
      if heard > 50, !hasCounted {
        expected.append(run.player.entry)
        hasCounted = true
      }
      switch Int.random(in: 0..<5, using: &random) {
      case 0: run.change { $0.state = $0.state == .playing ? .paused : .playing }
      case 1:
        let place = Double.random(in: 10...90, using: &random)
        run.change { $0.placeS = place }
      case 2 where run.player.state == .playing: run.restart()
      case 3:
        run.wallOffset += Double.random(in: -1_000...1_000, using: &random)
        run.change()
      case 4 where run.player.placeS > 80 || Bool.random(using: &random):
        run.next()
        (heard, hasCounted) = (0, false)
      default: run.change()
      }
    }
    #expect(run.counted == expected, "seed \(seed)")
  }
}
