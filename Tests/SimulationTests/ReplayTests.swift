import Disturbances
import Simulation
import TestSupport
import Testing

@Suite struct ReplayTests {
  private static let cards: [CardQuality.Granularity] = [.fine, .edge]

  private func replayed(_ record: DisturbanceRecord, seconds: Double? = nil) throws -> Scenario {
    let run = record.simulated
    return try #require(
      Scenario(
        replaying: record.only(group: 0), in: run?.scenario ?? "wired", seed: run?.seed ?? 1,
        rooms: record.only(group: 0).roomCount, seconds: seconds, cards: Self.cards))
  }

  @Test(arguments: zip(["swarm", "second", "device"], [3, 4, 5] as [UInt64]))
  func `the record of a run plays the same again`(name: String, seed: UInt64) throws {
    let scenario = try #require(
      Scenario(name, seed: seed, rooms: 3, hours: 0.015, cards: Self.cards))
    let record = scenario.record(seed: seed, cards: Self.cards)
    let replayed = try replayed(DisturbanceRecord(parsing: Array(record.text.utf8)))
    #expect(replayed.disturbances == record.only(group: 0).disturbances)
    let (first, again) = (scenario.play(), replayed.play())
    #expect(first.group.digest.value == again.group.digest.value)
    #expect(first.firstBroken == again.firstBroken)
  }

  @Test func `each scenario writes lines that can be read`() throws {
    for name in Scenario.names {
      for seed in 1...20 as ClosedRange<UInt64> {
        let scenario = try #require(Scenario(name, seed: seed, rooms: 4, hours: 0.05))
        for line in scenario.disturbances {
          #expect(Disturbance(line.description) == line, "\(line)")
        }
      }
    }
  }

  private static let house = """
    tutti record 1
    group 0 is Ground floor
    0 s: somebody stops
    room 0 is Kitchen
    0 s: room 0 joins
    room 1 is Bath
    0 s: room 1 joins
    group 1 is Attic
    room 2 is Attic
    0 s: room 2 joins in group 1
    3 s: somebody goes to another item
    9 s: somebody pauses
    11 s: somebody resumes
    14 s: somebody goes to the next item
    room 3 is Study
    18 s: room 3 joins
    19 s: somebody pauses in group 1
    22 s: the receiver of room 1 is killed, and starts again after 1.5 s
    26 s: somebody goes to the previous item
    30 s: room 3 leaves
    32 s: room 0 has no network for 5 s
    41 s: somebody seeks by -10 s
    44 s: somebody stops
    46 s: somebody goes to another item
    50 s: the sender is killed, and starts again after 3 s
    60 s: running

    """

  @Test(arguments: seeds(2, of: 6))
  func `the record of a daemon keeps all promises`(seed: UInt64) throws {
    var record = try DisturbanceRecord(parsing: Array(Self.house.utf8)).only(group: 0)
    #expect(record.rooms == ["Kitchen", "Bath", "Study"])
    record.rooms = []
    let scenario = try #require(
      Scenario(
        replaying: record, in: "wired", seed: seed, rooms: 3, seconds: nil, cards: Self.cards))
    #expect(scenario.seconds == 83)
    let result = scenario.play()
    #expect(result.firstBroken == nil)
    let microphone = result.group.microphone
    // Silent before something is chosen, while it is paused, and while it is stopped.
    #expect(microphone.soundingShare(of: 0, from: 1, to: 2.9) == 0)
    #expect(microphone.soundingShare(of: 0, from: 5, to: 8.9) > 0.99)
    #expect(microphone.soundingShare(of: 0, from: 9.5, to: 10.9) == 0)
    #expect(microphone.soundingShare(of: 0, from: 44.6, to: 45.9) == 0)
    #expect(microphone.soundingShare(of: 0, from: 60, to: 83) > 0.99)
    // The study is in the group for a while, and the bath's receiver is away.
    #expect(microphone.soundingShare(of: 2, from: 4, to: 17.9) == 0)
    #expect(microphone.soundingShare(of: 2, from: 22, to: 25.9) > 0.9)
    #expect(microphone.soundingShare(of: 2, from: 31, to: 83) == 0)
    #expect(microphone.soundingShare(of: 1, from: 22.5, to: 23.4) == 0)
  }

  @Test func `the fewest lines of a record that break a promise are left`() throws {
    var record = try DisturbanceRecord(parsing: Array(Self.house.utf8))
    record.disturbances.append(.init(at: 21, kind: .clockStep(1, seconds: 0.02)))
    let scenario = try replayed(record, seconds: 24)
    let shrunk = try #require(scenario.shrunk())
    #expect(
      shrunk.disturbances.map(\.description) == ["21 s: the clock of room 1 steps by 0.02 s"])
  }

  @Test func `lines about daemons and links that there are not do nothing`() throws {
    let text = """
      tutti record 1
      5 s: daemon 7 is killed for 3 s
      6 s: daemon 0 cannot reach rooms [0,63] nor the other for 3 s
      7 s: the link of room 1 carries 0 bytes a second for 1 s
      8 s: the clock of room 1 steps by -36000000 s
      9 s: somebody seeks to 36000000 s

      """
    let scenario = try replayed(DisturbanceRecord(parsing: Array(text.utf8)), seconds: 30)
    _ = scenario.play()
  }
}
