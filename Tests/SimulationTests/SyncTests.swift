import Clock
import Sender
import Simulation
import TestSupport
import Testing

@Suite struct SyncTests {
  @Test(arguments: seeds(2, of: 3))
  func `wired rooms stay within fifteen microseconds`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wired, .wired, .wiredLoad], seed: seed))
    group.run(until: 60)
    group.expectSpread(within: 15, from: 20, to: 60)
    group.expectSounding(from: 1, to: 60)
    expectFlawless(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `rooms on the radio stay within sixty microseconds`(seed: UInt64) {
    let group = SimulatedGroup(.house([.wifi, .wifi, .wifi], seed: seed))
    group.run(until: 60)
    group.expectSpread(within: 60, from: 20, to: 60)
    group.expectSounding(from: 3, to: 60)
    expectFlawless(group)
  }

  @Test(arguments: seeds(2, of: 3))
  func `rooms of all kinds stay within a quarter of a millisecond`(seed: UInt64) {
    let group = SimulatedGroup(
      .house([.wired, .wifi, .wifiBad, .wifiBad], seed: seed, cards: [.fine, .edge]))
    group.run(until: 60)
    group.expectSpread(within: 250, from: 20, to: 60)
    group.expectSounding(from: 5, to: 60)
    expectFlawless(group)
  }

  @Test(arguments: CardQuality.Granularity.allCases)
  func `cards are aligned, whatever they tell`(granularity: CardQuality.Granularity) {
    let group = SimulatedGroup(.house([.wired, .wired], seed: 4, cards: [granularity, .fine]))
    group.run(until: 90)
    let limit: Float = granularity == .usb ? 60 : 15
    group.expectSpread(within: limit, from: 60, to: 90)
    expectFlawless(group)
  }

  @Test(arguments: [5, 6] as [UInt64])
  func `crystals that warm up are followed`(seed: UInt64) {
    var house = SimulatedGroup.Configuration.house([.wired, .wired, .wired], seed: seed)
    house.rooms[0].host.crystal.ramp = 4e-6
    house.rooms[0].host.crystal.rampStart = 30
    house.rooms[1].card.crystal.ramp = -8e-6
    house.rooms[1].card.crystal.rampStart = 40
    house.rooms[2].card.crystal.walk = 10e-9
    house.isExact = false
    let group = SimulatedGroup(house)
    group.run(until: 200)
    group.expectSpread(within: 30, from: 20, to: 200)
    expectFlawless(group)
  }

  @Test(arguments: [7, 8] as [UInt64])
  func `an asymmetric path is wrong by no more than the bound says`(seed: UInt64) throws {
    var house = SimulatedGroup.Configuration.house([.wired, .wifi, .wired], seed: seed)
    house.rooms[0].path.down.delay = .microseconds(400)
    house.rooms[1].path.up.delay = .microseconds(1800)
    let group = SimulatedGroup(house)
    group.run(until: 40)
    for room in 0..<2 {
      let bound = try #require(group.clockErrorBound(of: room))
      let asymmetry = Nanoseconds.microseconds(room == 0 ? 350 : 900)
      let error = try #require(group.clockError(of: room))
      #expect(error.magnitude <= bound + Nanoseconds(asymmetry.count / 2))
      #expect(error.magnitude > Nanoseconds(asymmetry.count / 4))
    }
  }

  @Test func `equal seeds give equal runs`() {
    func digest(_ seed: UInt64) -> Digest {
      let group = SimulatedGroup(.house([.wifi, .wifiBad], seed: seed))
      group.at(3) { $0.command(.seekBy(.seconds(30))) }
      group.run(until: 8)
      return group.digest
    }
    #expect(digest(9) == digest(9))
    #expect(digest(9) != digest(10))
  }
}
