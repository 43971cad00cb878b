import Audio
import Clock
import Disturbances
import Pairing
import Simulation
import TestSupport
import Testing

@Suite struct SwarmTests {
  private static func scenario(_ seed: UInt64) throws -> Scenario {
    let rooms = Scenario.usualRoomCount("swarm", seed: seed)
    return try #require(Scenario("swarm", seed: seed, rooms: rooms, hours: nil))
  }

  @Test func `each drawn fault is over half a minute before the end`() throws {
    for seed in 1...300 as ClosedRange<UInt64> {
      let scenario = try Self.scenario(seed)
      for fault in scenario.disturbances where fault.at != scenario.seconds - 25 {
        #expect(fault.settled <= scenario.seconds, "seed \(seed): \(fault)")
      }
    }
  }

  @Test func `households of all kinds are drawn`() throws {
    let scenarios = try (1...400 as ClosedRange<UInt64>).map(Self.scenario)
    func count(_ isSo: (SimulatedGroup.Configuration) -> Bool) -> Int {
      scenarios.count { isSo($0.configuration) }
    }
    #expect((80...120).contains(count { $0.secondHost != nil }))
    #expect((5...60).contains(count { $0.live != nil }))
    #expect((5...60).contains(count { $0.profile == .live }))
    #expect((50...150).contains(count { $0.isExact }))
    #expect((100...250).contains(count { $0.items.count > 1 }))
    #expect((60...200).contains(count { $0.keepingTime > .milliseconds(10) }))
    #expect((60...200).contains(count { $0.productionTime > .milliseconds(10) }))
    #expect(Set(scenarios.map(\.configuration.rooms.count)) == Set(1...6))
    let rooms = scenarios.flatMap(\.configuration.rooms)
    #expect(Set(rooms.map { $0.card.canRewind }).count == 2)
    #expect(scenarios.contains { $0.configuration.makesSmall })
    #expect(scenarios.contains { $0.configuration.passesPackets })
  }

  @Test func `every kind of fault is drawn, and those of daemons where there are two`() throws {
    let scenarios = try (1...400 as ClosedRange<UInt64>).map(Self.scenario)
    let disturbed = scenarios.filter { $0.disturbances.contains(where: \.isOfDaemon) }
    #expect(disturbed.count > scenarios.count { $0.configuration.secondHost != nil } / 2)
    #expect(disturbed.allSatisfy { $0.configuration.secondHost != nil })
    let drawn = scenarios.flatMap(\.disturbances).map(\.description)
    for words in Self.sentences { #expect(drawn.contains { $0.contains(words) }, "\(words)") }
  }

  /// Words of all sentences but those of what ends the sound.
  private static let sentences = [
    "pauses", "resumes", "seeks to", "seeks by", "the next item", "the previous item",
    "another item", "joins", "leaves", "s: room 1 has no network", "stands still",
    "s: room 1 sleeps", "the clock of room", "has no sound card", "the receiver of room",
    "the sender is killed, and starts again", "the sender sleeps", "another sender plays",
    "trusts no sender", "the link of room", "is killed for", "has no power",
    "s: daemon 1 has no network", "cannot reach rooms",
  ]

  /// The long tests play 400.
  @Test(arguments: seeds(8, of: 400))
  func `drawn faults break no promise`(seed: UInt64) throws {
    let scenario = try Self.scenario(seed)
    #expect(
      scenario.play().firstBroken == nil,
      "\(scenario.drawn ?? ""): \(scenario.disturbances.map(\.description))")
  }

  @Test func `faults of one daemon that overlap end each for itself`() throws {
    var scenario = try #require(Scenario("second", seed: 1, rooms: 2, hours: 22.0 / 3600))
    scenario.disturbances = [
      .init(at: 12, kind: .daemon(0, .killed, seconds: 13)),
      .init(at: 15, kind: .daemon(0, .unplugged, seconds: 2)),
    ]
    let group = scenario.play().group
    #expect(!group.isOn(0))
    group.run(until: 30)
    #expect(group.isOn(0) && group.leaders == [1])
    #expect(group.violations.isEmpty)
  }

  @Test func `a run of a few seconds has figures`() throws {
    let scenario = try #require(Scenario("wired", seed: 1, rooms: 2, hours: 4.0 / 3600))
    #expect(scenario.play().firstBroken == nil)
  }

  @Test func `a room that is silent while it is to play is noticed`() throws {
    var scenario = try #require(Scenario("wired", seed: 1, rooms: 2, hours: 15.0 / 3600))
    scenario.configuration.rooms[1].missingDecoders = [.pcm]
    let broken = scenario.play().firstBroken ?? ""
    #expect(broken.contains("room 1 is silent"), "\(broken)")
  }

  @Test func `a household that nobody leads is noticed`() throws {
    var scenario = try #require(Scenario("second", seed: 1, rooms: 2, hours: 25.0 / 3600))
    // They answer no question, because they are not paired.
    for room in 0..<2 { scenario.configuration.rooms[room].trust = TrustMemory() }
    scenario.disturbances = [.init(at: 12, kind: .daemon(0, .killed, seconds: 20))]
    let broken = scenario.play().firstBroken ?? ""
    #expect(broken.contains("nobody leads"), "\(broken)")
  }
}

extension Disturbance {
  fileprivate var isOfDaemon: Bool { if case .daemon = kind { true } else { false } }
}
