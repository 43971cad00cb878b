import Receiver
import Sender
import Simulation
import TestSupport
import Testing

@Suite struct EndTests {
  @Test(arguments: seeds(2, of: 3))
  func `items follow each other without a gap and the end is no lack`(seed: UInt64) throws {
    var house = SimulatedGroup.Configuration.house([.wired, .wifi], seed: seed)
    house.items = [24_000, 16_000, 12_345, 40_001]
    let group = SimulatedGroup(house)
    group.run(until: 20)
    expectFlawless(group)
    let first = try #require(group.microphone.records[0].firstSound).seconds
    let length = Double(24_000 + 16_000 + 12_345 + 40_001) / 8_000
    group.expectSounding(from: first + 0.1, to: first + length - 0.1)
    for room in 0..<2 {
      let last = try #require(group.microphone.records[room].lastSound).seconds
      #expect((last - first - length).magnitude < 0.03)
      #expect(!group.events(of: room).contains { $0.event == .starved })
    }
    #expect(group.senderEvents.last?.event == .finished)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `a stop ends all rooms at one frame`(seed: UInt64) throws {
    let group = SimulatedGroup(.house([.wired, .wired], seed: seed))
    group.at(5) { $0.command(.stop) }
    group.run(until: 10)
    let last = try group.microphone.records.map { try #require($0.lastSound).seconds }
    #expect(last.allSatisfy { $0 > 5 && $0 < 5.3 })
    #expect(group.senderEvents.last?.event == .finished)
    expectFlawless(group)
  }
}
