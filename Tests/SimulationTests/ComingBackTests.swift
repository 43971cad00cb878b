import Audio
import Clock
import Simulation
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// The sender's process is killed while music plays, and another one goes on with what the rooms hold.
@Suite struct ComingBackTests {
  /// Items of a second or more, and what must be heard of them.
  private struct Played {
    let group: SimulatedGroup
    /// The stream frames at which the items begin, and the end of the last one.
    let starts: [Int]
    private let paths: Int
    /// Frames in which an interpolator mixes two items, and a fade.
    private static let blur = 84.0

    init(seed: UInt64, seconds: Int, held: Int64 = 150, paths: [PathQuality] = [.wired, .wired]) {
      var random = SplitMix64(seed: seed, part: 90)
      var house = SimulatedGroup.Configuration.house(paths, seed: seed, cards: [.fine, .edge])
      house.tellsItems = true
      house.endsWithPlaylist = false
      for index in house.rooms.indices {
        house.rooms[index].capacity = Capacity(bytes: 64 << 20, duration: .seconds(held))
      }
      var lengths: [Int] = []
      while lengths.reduce(0, +) < seconds * 8_000 {
        lengths.append(8_000 + Int(random.next() % 4_000))
      }
      house.items = lengths.map { Int64($0) }
      group = SimulatedGroup(house)
      starts = lengths.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
      self.paths = paths.count
    }

    private var end: Int { starts[starts.count - 1] }

    /// Plays to the end of the list.
    func play() { group.run(until: Double(end) / 8_000 + 3) }

    /// Expects that each room has played each frame once, in its place.
    func expectAll(_ location: SourceLocation = #_sourceLocation) {
      for room in 0..<paths {
        let fault = fault(in: group.microphone.records[room].items.stretches)
        #expect(fault == nil, "room \(room)", sourceLocation: location)
      }
      expectFlawless(group, location: location)
    }

    /// Returns the first place that is not as the list has it. The microphone sees what is left out or heard twice.
    private func fault(in stretches: [ItemTrace.Stretch]) -> String? {
      var next = 0.0
      for stretch in stretches {
        let (first, last) = (stretch.first.position, stretch.last.position)
        guard stretch.isFull else {
          // Only the first and the last frames fade.
          if last < Self.blur || first > Double(end) - Self.blur { continue }
          return "faded from \(first) to \(last)"
        }
        guard let item = stretch.item, last - first > 2 * Self.blur else { continue }
        guard starts.indices.dropLast().contains(item), stretch.origin == starts[item],
          first > Double(starts[item]) - Self.blur, last < Double(starts[item + 1]) + Self.blur,
          abs(first - next) < 6 * Self.blur
        else { return "item \(item) of \(stretch.origin) from \(first) to \(last) after \(next)" }
        next = last
      }
      return next > Double(end) - 2 * Self.blur ? nil : "nothing after \(next) of \(end)"
    }

    /// Kills the sender, and starts it again after a while.
    func kill(at time: Double, for span: Double) {
      group.at(time) { $0.killSender() }
      group.at(time + span) { group in
        if case .goesOn = group.restartSender() { return }
        Issue.record("at \(group.now.seconds) s the stream did not go on")
      }
    }

    /// Expects that the sender shows what is heard in the first room.
    func expectPosition(_ location: SourceLocation = #_sourceLocation) {
      guard let status = group.groupStatus, let sending = group.sending,
        let heard = group.microphone.records[0].items.stretches.last
      else {
        Issue.record("nothing is heard", sourceLocation: location)
        return
      }
      let frame = MediaDuration(frames: 1, at: 8_000).flicks
      let playhead = sending.session.mediaTime(at: sending.session.clock.continuous(sending.now))
      // Sound is noted a period after it was heard.
      let behind = Double(playhead.flicks / frame) - heard.last.position
      #expect((-8...1_000).contains(behind), "\(behind)", sourceLocation: location)
      let position = Double(status.position.flicks / frame)
      let shown = Double(playhead.flicks / frame) - position
      #expect(status.item?.item.id == heard.item, sourceLocation: location)
      #expect(abs(shown - Double(heard.origin)) < 160, "\(shown)", sourceLocation: location)
    }
  }

  @Test(arguments: [0.3, 5, 20, 60])
  func `a sender that comes back after a kill is not heard`(span: Double) {
    let played = Played(seed: UInt64(span * 10), seconds: 30 + Int(span))
    // Rooms fill several times as fast as they play.
    played.kill(at: 12, for: span)
    for delay in [0.01, 0.4, 3, 12] {
      played.group.at(12 + span + delay) { _ in played.expectPosition() }
    }
    played.play()
    played.expectAll()
  }

  @Test(arguments: seeds(4, of: 24))
  func `killed at any time, again and again, nothing is left out or heard twice`(seed: UInt64) {
    var random = SplitMix64(seed: seed, part: 91)
    let paths: [PathQuality] = seed.isMultiple(of: 3) ? [.wired, .wiredLoad] : [.wired, .wired]
    let played = Played(seed: seed, seconds: 50, paths: paths)
    var time = 4 + random.uniform(0...10)
    var shortLives = 0
    while time < 40 {
      // One that dies before it has done much leaves the rooms ten seconds.
      let isShort = shortLives > 0 || random.chance(0.5)
      let drawn = isShort ? random.uniform(0.05...1) : random.uniform(1...15)
      // It is back before the list has ended.
      let span = min(drawn, 46 - time)
      played.kill(at: time, for: span)
      shortLives = shortLives < 3 && random.chance(0.3) ? shortLives + 1 : 0
      time += span + (shortLives > 0 ? random.uniform(0...1) : random.uniform(3...20))
    }
    played.play()
    played.expectAll()
  }

  @Test(arguments: seeds(2, of: 8))
  func `a room that is found late joins the seam where it is`(seed: UInt64) {
    let played = Played(seed: seed, seconds: 50)
    played.kill(at: 8, for: 2)
    played.group.at(8) { $0.partition(1) }
    played.group.at(30) { $0.repair(1) }
    played.play()
    played.expectAll()
  }

  @Test(arguments: seeds(2, of: 8), [15.2, 17])
  func `a room that has begun anew meanwhile is not silent up to the seam`(
    seed: UInt64, begun: Double
  ) {
    let played = Played(seed: seed, seconds: 60, paths: [.wired, .wired, .wired])
    let group = played.group
    group.at(begun - 1) { $0.killReceiver(1) }
    group.at(begun) { $0.restartReceiver(1) }
    played.kill(at: 16, for: 4)
    played.play()
    // A process has lived for two seconds before it moves a seam, and its sound takes another one.
    group.expectSounding([1], from: 23.5, to: 59)
    group.expectSounding([0, 2], from: 1, to: 59)
    group.expectSpread(within: 100, from: 25, to: 59)
    expectBounded(group)
  }

  @Test(arguments: [0.3, 1, 1.9])
  func `a sender that ends at once leaves the rooms what they hold, though one has begun anew`(
    life: Double
  ) {
    let played = Played(seed: 3, seconds: 60, paths: [.wired, .wired, .wired])
    let group = played.group
    group.at(15) { $0.killReceiver(1) }
    group.at(17) { $0.restartReceiver(1) }
    played.kill(at: 16, for: 2)
    played.kill(at: 18 + life, for: 1.5)
    played.play()
    group.expectSounding([0, 2], from: 1, to: 59)
    group.expectSpread(within: 100, from: 30, to: 59)
    expectBounded(group)
  }

  @Test(arguments: seeds(2, of: 8))
  func `a pause outlives the sender, and goes on at the same frame`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(10) { $0.command(.pause) }
    group.at(12) { $0.killSender() }
    group.at(15) { $0.restartSender() }
    group.at(17) { group in
      #expect(group.groupStatus?.state == .paused)
      group.command(.resume)
    }
    group.run(until: 40)
    group.expectSounding(from: 18, to: 40)
    expectFlawless(group)
  }

  @Test(arguments: seeds(2, of: 8))
  func `commands after a comeback act as before it`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(10) { $0.killSender() }
    group.at(14) { $0.restartSender() }
    group.at(14.05) { $0.command(.pause) }
    group.at(16) { $0.command(.resume) }
    group.at(20) { $0.command(.seek(to: .seconds(5))) }
    group.run(until: 40)
    group.expectSounding(from: 21, to: 40)
    group.expectSpread(within: 100, from: 25, to: 40)
    expectBounded(group)
    #expect(group.groupStatus?.state == .playing)
  }

  @Test(arguments: seeds(4, of: 400))
  func `what was chosen last stays chosen, however often the sender is killed`(seed: UInt64) {
    var random = SplitMix64(seed: seed, part: 92)
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: seed)
    house.items = Array(repeating: 400_000, count: 8)
    house.endsWithPlaylist = false
    let group = SimulatedGroup(house)
    // A command is answered once this is over.
    let answered = house.keepingTime.seconds
    var time = 6.0
    for entry in [3, 7, 1, 6, 2] {
      time += random.uniform(0.1...3)
      group.at(time) { $0.command(.jump(to: entry, at: nil)) }
      // Before its sound is there, while the rooms wait for it, and once they play it.
      for _ in 0..<4 {
        let killed = time + answered + random.uniform(0.001...0.5)
        let back = random.uniform(0.05...0.5)
        var wasChosen = false
        group.at(killed) { group in
          wasChosen = group.groupStatus?.chosen?.id == entry
          group.killSender()
        }
        group.at(killed + back) { group in
          let isKept = group.kept != nil
          group.restartSender()
          if isKept, wasChosen {
            #expect(group.groupStatus?.chosen?.id == entry, "at \(group.now.seconds) s")
          } else {
            // The household's tables say what was chosen; a process that stood still is asked again.
            group.command(.jump(to: entry, at: nil))
          }
        }
        time = killed + back
      }
    }
    group.run(until: time + 8)
    group.expectSounding(from: time + 3, to: time + 8)
  }

  @Test(arguments: seeds(2, of: 8))
  func `where the rooms have run dry, music begins anew at the frame that comes next`(
    seed: UInt64
  ) throws {
    let played = Played(seed: seed, seconds: 55, held: 6)
    let group = played.group
    group.at(15) { $0.killSender() }
    var begun: (entry: Int, position: MediaDuration?)?
    group.at(35) { group in
      guard case .beginsAnew(let entry, let position) = group.restartSender() else { return }
      begun = (entry, position)
    }
    group.run(until: 34)
    let last = try #require(group.microphone.records[0].items.stretches.last)
    group.run(until: 50)
    let place = try #require(begun)
    let held = try #require(place.position)
    let position = Int(held.flicks / MediaDuration(frames: 1, at: 8_000).flicks)
    let ahead = Double(played.starts[place.entry] + position) - last.last.position
    // A room says once a second what it holds.
    #expect((-12_000...8).contains(ahead), "\(ahead) frames")
    group.expectSounding(from: 37, to: 50)
    expectBounded(group)
  }

  @Test func `without a kept stream, or after the end, nothing goes on`() {
    let group = SimulatedGroup(.house([.wired], seed: 3))
    group.at(10) { $0.command(.stop) }
    group.run(until: 12)
    #expect(group.kept == nil)
  }
}
