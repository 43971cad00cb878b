import Clock
import Sender
import Simulation
import TestSupport
import Testing

@Suite struct FlushTests {
  @Test(arguments: seeds(2, of: 4))
  func `after a seek nothing flushed is heard and everything before it is`(seed: UInt64) {
    var random = SplitMix64(seed: seed, part: 50)
    let group = SimulatedGroup(.house([.wired, .wired, .wifi], seed: seed))
    var times: [Double] = []
    for index in 0..<6 {
      let time = 4 + 3 * Double(index) + random.uniform(0...1)
      times.append(time)
      let target = MediaDuration.milliseconds(Int64(random.uniform(0...200_000)))
      group.at(time) { $0.command(.seek(to: target)) }
    }
    group.run(until: 24)
    expectFlawless(group, rooms: [0, 1])
    group.expectSounding([0, 1], from: 22, to: 24)
    group.expectSpread(within: 100, from: 22, to: 24)
    for time in times { group.expectSounding([0, 1], from: time + 0.2, to: time + 1.9) }
  }

  @Test(arguments: seeds(2, of: 3))
  func `a pause stops all rooms at one frame and a resume goes on there`(seed: UInt64) {
    var random = SplitMix64(seed: seed, part: 51)
    let group = SimulatedGroup(.house([.wired, .wifi], seed: seed))
    for index in 0..<4 {
      let time = 4 + 4 * Double(index) + random.uniform(0...1)
      group.at(time) { $0.command(.pause) }
      group.at(time + random.uniform(0.05...2)) { $0.command(.resume) }
    }
    group.run(until: 22)
    expectFlawless(group, rooms: [0])
    group.expectSounding(from: 21, to: 22)
    group.expectSpread(within: 200, from: 8, to: 22)
  }

  @Test(arguments: seeds(2, of: 4))
  func `many commands in a row end where the last one says`(seed: UInt64) {
    var random = SplitMix64(seed: seed, part: 52)
    var house = SimulatedGroup.Configuration.house([.wired, .wifi, .wired], seed: seed)
    house.items = Array(repeating: 8_000 * 300, count: 20)
    let group = SimulatedGroup(house)
    var time = 3.0
    for _ in 0..<40 {
      time += random.exponential(mean: 0.15)
      let command: PlayerCommand =
        switch random.next() % 6 {
        case 0: .pause
        case 1, 2: .resume
        case 3: .next
        case 4: .previous
        default: .seek(to: .milliseconds(Int64(random.uniform(0...250_000))))
        }
      group.at(time) { $0.command(command) }
    }
    group.at(time + 0.3) { $0.command(.resume) }
    group.run(until: time + 6)
    expectFlawless(group, rooms: [0, 2])
    group.expectSounding(from: time + 2, to: time + 6)
    group.expectSpread(within: 200, from: time + 3, to: time + 6)
  }

  /// Fifty seeks a second: rooms are told of a few, and the last one sounds. The test is no longer than this, because
  /// the test signal has sixty-four generations.
  @Test(arguments: [1, 2] as [UInt64])
  func `a listener who drags a slider hears the place where it is let go`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed, part: 53)
    var house = SimulatedGroup.Configuration.house([.wired, .wired, .wifi], seed: seed)
    house.items = [Int64(8_000 * 600)]
    let group = SimulatedGroup(house)
    for index in 0..<110 {
      let place = MediaDuration.milliseconds(Int64(random.uniform(0...500_000)))
      group.at(4 + Double(index) / 50) { $0.command(.seek(to: place)) }
    }
    group.at(6.2) { $0.command(.seek(to: .seconds(123))) }
    group.run(until: 9)
    expectFlawless(group, rooms: [0, 1])
    group.expectSounding([0, 1], from: 6.45, to: 9)
    group.expectSpread(within: 100, from: 7, to: 9)
    let status = try #require(group.groupStatus)
    // The seek before has used up the rooms' places for anchors, until the time when it sounds.
    #expect(status.position > .milliseconds(125_650))
    #expect(status.position < .milliseconds(126_000))
  }

  @Test(arguments: [5, 6] as [UInt64])
  func `cards that take nothing back forget what was flushed as well`(seed: UInt64) {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: seed)
    house.rooms[0].card.canRewind = false
    let group = SimulatedGroup(house)
    for index in 0..<4 {
      group.at(3 + 2 * Double(index)) { $0.command(.seekBy(.seconds(20))) }
    }
    group.run(until: 13)
    group.expectSpread(within: 50, from: 11, to: 13)
    expectBounded(group)
    expectFlawless(group)
  }
}
