import Clock
import Sender
import Simulation
import TestSupport
import Testing
import WireProtocol

@Suite struct WeakLinkTests {
  /// Bytes on the wire for a second of the music.
  private static let byteRate: Double = {
    let group = SimulatedGroup(.house([.wired], seed: 1))
    var rate = 0.0
    group.onSenderTurn = { session, _ in rate = max(rate, session.mediaByteRate) }
    group.run(until: 5)
    return rate
  }()

  /// Two rooms. The network of the second carries `part` of the music's data.
  private static func house(part: Double, seed: UInt64) -> SimulatedGroup.Configuration {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: seed)
    house.rooms[1].path.down.rate = part * byteRate
    return house
  }

  private static func starvations(of room: Int, in group: SimulatedGroup) -> Int {
    group.senderEvents.count {
      if case .state(.starved, _) = $0.event.change(of: RoomID(room + 1)) { true } else { false }
    }
  }

  @Test(arguments: seeds(2, of: 3))
  func `a room that gets seven tenths of what the music takes hears nearly as much of it`(
    seed: UInt64
  ) {
    let group = SimulatedGroup(Self.house(part: 0.7, seed: seed))
    group.run(until: 90)
    let share = group.microphone.soundingShare(of: 1, from: 10, to: 90)
    print("   share", share, "late", group.status(of: 1)?.latePackets ?? 0)
    #expect(share > 0.65)
    group.expectSounding([0], from: 3, to: 90)
    #expect(group.microphone.breaks.allSatisfy { $0.room == 1 && $0.kind == .hole })
    expectBounded(group)
    #expect(Self.starvations(of: 1, in: group) == 1)
  }

  @Test func `a room that gets a third of what the music takes hears some of it`() {
    let group = SimulatedGroup(Self.house(part: 0.35, seed: 4))
    group.run(until: 60)
    let share = group.microphone.soundingShare(of: 1, from: 10, to: 60)
    print("   share", share, "late", group.status(of: 1)?.latePackets ?? 0)
    #expect(share > 0.3)
    group.expectSounding([0], from: 3, to: 60)
    expectBounded(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `a room that gets a little more than the music takes hears all of it`(seed: UInt64) {
    let group = SimulatedGroup(Self.house(part: 1.15, seed: seed))
    group.at(20) { $0.command(.seek(to: .seconds(100))) }
    group.run(until: 45)
    group.expectSounding([1], from: 12, to: 19)
    // Data that the seek has made obsolete arrives first, so new audio is a second late, and catches up
    // slowly.
    group.expectSounding([1], from: 28, to: 45)
    group.expectSounding([0], from: 20.2, to: 45)
    expectFlawless(group, rooms: [0])
  }

  @Test(arguments: seeds(2, of: 3))
  func `seeks leave nothing out where the network is fast, and little where it is slow`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed, part: 54)
    let group = SimulatedGroup(Self.house(part: 0.7, seed: seed))
    var times: [Double] = []
    for index in 0..<5 {
      let time = 10 + 10 * Double(index) + random.uniform(0...4)
      times.append(time)
      let target = MediaDuration.milliseconds(Int64(random.uniform(0...200_000)))
      group.at(time) { $0.command(.seek(to: target)) }
    }
    group.run(until: 60)
    let share = group.microphone.soundingShare(of: 1, from: 10, to: 60)
    print("   share", share, "late", group.status(of: 1)?.latePackets ?? 0)
    #expect(share > 0.4)
    expectFlawless(group, rooms: [0])
    for time in times { group.expectSounding([0], from: time + 0.2, to: time + 5.9) }
  }

  /// The slow link holds packets for longer than each outage. They arrive behind those that were lost in it.
  @Test(arguments: seeds(3, of: 6))
  func `outages leave the bytes of a slow link in order`(seed: UInt64) {
    let group = SimulatedGroup(Self.house(part: 0.7, seed: seed))
    for time in [12.0, 16, 20, 24] {
      group.at(time) { $0.partition(1) }
      group.at(time + 0.2) { $0.repair(1) }
    }
    group.run(until: 28)
    let gone = group.senderEvents.filter {
      if case .room(_, .gone) = $0.event { true } else { false }
    }
    #expect(gone.isEmpty)
    #expect(group.status(of: 1)?.corruptPackets == 0)
  }

  /// In this pause the room's buffer is full. It is longer than any side may be silent.
  @Test func `a long pause with a full buffer disconnects nobody`() {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: 5)
    house.rooms[1].capacity = Capacity(bytes: 1 << 20, duration: .seconds(10))
    let group = SimulatedGroup(house)
    group.at(5) { $0.command(.pause) }
    group.at(45) { $0.command(.resume) }
    group.run(until: 60)
    let gone = group.senderEvents.filter {
      if case .room(_, .gone) = $0.event { true } else { false }
    }
    #expect(gone.isEmpty)
    group.expectSounding(from: 46, to: 60)
    expectFlawless(group)
  }
}
