import Audio
import Clock
import Receiver
import Simulation
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Rooms whose links carry less than the music takes get a small encoding, a seventh of its bytes.
@Suite struct SmallEncodingTests {
  /// Bytes on the wire for a second of the music.
  private static let byteRate: Double = {
    let group = SimulatedGroup(.house([.wired], seed: 1))
    var rate = 0.0
    group.onSenderTurn = { session, _ in rate = max(rate, session.mediaByteRate) }
    group.run(until: 5)
    return rate
  }()

  /// A room on a wire, and one for each of `parts`, whose network carries that part of the music's data.
  private static func house(
    parts: [Double], burst: Int = 0, seed: UInt64, smallTime: Double = 0.02
  ) -> SimulatedGroup {
    var house = SimulatedGroup.Configuration.house(
      [.wired] + parts.map { _ in .wired }, seed: seed)
    (house.makesSmall, house.smallTime) = (true, smallTime)
    for (index, part) in parts.enumerated() {
      house.rooms[index + 1].path.down.rate = part * byteRate
      house.rooms[index + 1].path.down.burst = burst
      if burst > 0 { house.rooms[index + 1].path.down.queue = .milliseconds(200) }
    }
    return SimulatedGroup(house)
  }

  /// Returns the part of the time from `delay` seconds behind the first frame on for which the room sounds. A link that
  /// queues without a bound may lack what comes before.
  private static func share(
    of room: Int, in group: SimulatedGroup, after delay: Double = 4, to end: Double
  ) -> Double {
    let start = group.senderEvents.first {
      if case .itemStarted = $0.event { true } else { false }
    }
    return group.microphone.soundingShare(
      of: room, from: (start?.at.seconds ?? .infinity) + delay, to: end)
  }

  private static func started(_ group: SimulatedGroup) -> Double {
    group.senderEvents.first { if case .started = $0.event { true } else { false } }?.at.seconds
      ?? .infinity
  }

  /// The times at which a room was given the small encoding, and the usual one again.
  private static func changes(of room: Int, in group: SimulatedGroup) -> [Double] {
    group.senderEvents.compactMap { entry in
      switch entry.event.change(of: RoomID(room + 1)) {
      case .weak, .recovered: entry.at.seconds
      default: nil
      }
    }
  }

  @Test(arguments: seeds(1, of: 5))
  func `rooms whose links carry seven tenths and three tenths of the music hear all of it`(
    seed: UInt64
  ) {
    let group = Self.house(parts: [0.7, 0.3], seed: seed)
    group.run(until: 50)
    #expect(group.groupStatus?.rooms.map(\.smallEncoding) == [nil, .opus, .opus])
    group.run(until: 90)
    #expect(Self.share(of: 1, in: group, to: 90) == 1)
    #expect(Self.share(of: 2, in: group, to: 90) == 1)
    #expect(group.microphone.breaks.isEmpty)
    group.expectSounding([0], from: 5, to: 90)
    expectFlawless(group, rooms: [0])
    #expect((0..<3).allSatisfy { group.status(of: $0)?.corruptPackets == 0 })
  }

  /// The shaper lets the first 8 kB through at once, as Linux's `tbf` does. TCP remembers that moment.
  @Test(arguments: seeds(1, of: 4))
  func `a weak link is found before the start, however fast its first bytes are`(seed: UInt64) {
    let group = Self.house(parts: [0.7, 0.3, 2], burst: 8192, seed: seed)
    group.run(until: 40)
    for room in [1, 2] {
      let found = Self.changes(of: room, in: group).first ?? .infinity
      #expect(found <= Self.started(group))
      let share = Self.share(of: room, in: group, after: 0.5, to: 40)
      #expect(share == 1)
    }
    #expect(Self.changes(of: 3, in: group).isEmpty)
    expectFlawless(group, rooms: [0, 3])
  }

  /// Packets that a room is sent while others are probed keep the start from nobody: they would queue before it.
  @Test(arguments: seeds(1, of: 4), [0, 8192])
  func `rooms that are ready before others hear the beginning`(seed: UInt64, burst: Int) {
    let group = Self.house(parts: [2, 1.3, 1.15], burst: burst, seed: seed)
    group.run(until: 20)
    #expect(Self.changes(of: 1, in: group).isEmpty)
    for room in 1...3 {
      let share = Self.share(of: room, in: group, after: 0, to: 20)
      #expect(share == 1, "room \(room)")
    }
  }

  @Test(arguments: seeds(1, of: 4))
  func `a group waits for rooms with weak links, and for no others`(seed: UInt64) {
    let good = Self.house(parts: [2, 2], seed: seed)
    good.run(until: 5)
    let weak = Self.house(parts: [0.7, 0.3], seed: seed)
    weak.run(until: 5)
    #expect(Self.started(weak) - Self.started(good) > 0.5)
    #expect(Self.started(weak) - Self.started(good) < 2.1)
    let usual = SimulatedGroup(.house([.wired, .wired, .wired], seed: seed))
    usual.run(until: 5)
    // A link twice as fast as the music takes 200 ms for the first 400 ms of it.
    #expect(Self.started(good) - Self.started(usual) < 0.5)
  }

  /// Radios, and a wire with round trips of a fifth of a second.
  @Test(arguments: seeds(1, of: 4))
  func `links that carry the music are never weak, however slowly they begin`(seed: UInt64) {
    var far = PathQuality.wired
    far.down.delay = .milliseconds(100)
    far.up.delay = .milliseconds(100)
    var house = SimulatedGroup.Configuration.house(
      [.wired, .wifi, .slowRadio, .wifiPowerSave, far], seed: seed)
    house.makesSmall = true
    let group = SimulatedGroup(house)
    group.run(until: 20)
    for room in house.rooms.indices { #expect(Self.changes(of: room, in: group).isEmpty) }
    #expect(group.sending?.session.makesSmall == false)
  }

  /// The small encoding takes a fiftieth of the music's time, or three times as long as it sounds, as on a busy machine.
  @Test(arguments: seeds(1, of: 4), [0.02, 3])
  func `rooms with good links hear nothing of the small encoding`(seed: UInt64, time: Double) {
    let group = Self.house(parts: [0.7, 0.3], seed: seed, smallTime: time)
    var (generations, anchors, least) = (Set<UInt32>(), Set<GroupTime>(), 60.0)
    var makesSmall = false
    group.onSenderTurn = { session, now in
      let playing = session.timeline.isPlaying
      makesSmall = makesSmall || session.makesSmall
      guard playing, session.mediaTime(at: now) > MediaTime.zero + .seconds(5) else { return }
      generations.insert(session.timeline.generation)
      if case .playing(let anchor) = session.timeline.state { anchors.insert(anchor.groupTime) }
      let end = session.store.end ?? .zero
      least = min(least, (end - session.mediaTime(at: now)).seconds)
    }
    group.run(until: 60)
    #expect(makesSmall)
    #expect(generations.count == 1 && anchors.count == 1)
    #expect(least > 10)
    let waited = group.senderEvents.contains { entry in
      if case .buffering = entry.event { true } else { false }
    }
    #expect(!waited)
    group.expectSounding([0], from: 5, to: 60)
    expectFlawless(group, rooms: [0])
  }

  /// The trial begins a minute after the link was found to be weak.
  @Test(arguments: seeds(1, of: 4))
  func `a weak link is tried again, and nobody hears that`(seed: UInt64) {
    let group = Self.house(parts: [0.7], seed: seed)
    group.run(until: 180)
    #expect(Self.share(of: 1, in: group, to: 180) == 1)
    let changes = Self.changes(of: 1, in: group)
    #expect(changes.count == 3)
    // A link that is full makes the room's clock worse with every second.
    if changes.count == 3 { #expect(changes[2] - changes[1] < 5) }
    expectFlawless(group)
  }

  @Test func `a link that recovers carries the usual encoding again`() {
    let group = Self.house(parts: [0.7], seed: 11)
    group.at(30) { $0.change(1, to: .wired) }
    group.run(until: 120)
    #expect(Self.share(of: 1, in: group, to: 120) == 1)
    #expect(Self.changes(of: 1, in: group).count == 2)
    #expect(group.groupStatus?.rooms[1].smallEncoding == nil)
    expectFlawless(group, rooms: [0])
  }

  @Test(arguments: seeds(2, of: 3))
  func `seeks and an outage do no harm to a room with a small encoding`(seed: UInt64) {
    var random = SplitMix64(seed: seed, part: 55)
    let group = Self.house(parts: [0.5], seed: seed)
    for index in 0..<4 {
      let target = MediaDuration.milliseconds(Int64(random.uniform(0...200_000)))
      group.at(20 + 10 * Double(index) + random.uniform(0...4)) { $0.command(.seek(to: target)) }
    }
    group.at(62) { $0.partition(1) }
    group.at(64) { $0.repair(1) }
    group.run(until: 80)
    // Audio that a seek has made obsolete arrives first, which takes up to a second and a half on such a link.
    #expect(Self.share(of: 1, in: group, to: 80) > 0.9)
    expectFlawless(group, rooms: [0])
    #expect(group.status(of: 1)?.corruptPackets == 0)
  }

  @Test func `where all links carry the music, nothing is encoded twice`() {
    let group = Self.house(parts: [1.3], seed: 3)
    group.run(until: 60)
    #expect(Self.changes(of: 1, in: group).isEmpty)
    #expect(group.sending?.session.makesSmall == false)
    group.expectSounding(from: 5, to: 60)
    expectFlawless(group)
  }
}
