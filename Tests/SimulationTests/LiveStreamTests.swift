import Clock
import Sender
import Simulation
import Testing
import WireProtocol

/// Tests of groups with a live source: its packets are sent as datagrams, and rooms ask for lost ones.
@Suite struct LiveStreamTests {
  /// Makes a group with rooms on this path that play a live source.
  static func group(
    _ path: PathQuality, latency: Nanoseconds, rooms: Int = 3, seed: UInt64, isExact: Bool = true
  ) -> SimulatedGroup {
    group(
      Array(repeating: path, count: rooms), latency: latency, seed: seed, isExact: isExact)
  }

  static func group(
    _ paths: [PathQuality], latency: Nanoseconds, seed: UInt64, isExact: Bool
  ) -> SimulatedGroup {
    var configuration = SimulatedGroup.Configuration.house(paths, seed: seed)
    configuration.live = SimulatedLive(latency: latency)
    configuration.productionTime = .microseconds(200)
    configuration.isExact = isExact
    // A card's thread has real-time priority. The audio written ahead is shorter than the delays of a normal program.
    for room in configuration.rooms.indices { configuration.rooms[room].host.hiccups = 0 }
    return SimulatedGroup(configuration)
  }

  /// A radio that keeps packets in order, loses some of them, and delays others.
  static func radio(loss: Double, burst: Double = 1) -> PathQuality {
    var link = LinkQuality()
    link.delay = .microseconds(900)
    link.noise = (1.2, 0.5e-3)
    link.spikes = [(0.01, 3e-3)]
    link.loss = loss
    link.lossBurst = burst
    link.rate = 2.5e6
    link.keepsOrder = true
    link.countsDatagrams = true
    return PathQuality(up: link, down: link)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `wired rooms play a live source 30 ms behind it, together and without a gap`(
    seed: UInt64
  ) throws {
    let group = Self.group(.wired, latency: .milliseconds(30), seed: seed)
    group.run(until: 20)
    group.expectSounding(from: 4, to: 20)
    group.expectSpread(within: 30, from: 10, to: 20)
    expectFlawless(group)
    for room in 0..<3 {
      #expect(group.microphone.syncError(of: room, from: 10, to: 20).maximum < 200)
      let reports = group.liveReports(of: room)
      #expect(reports.count > 30)
      #expect(reports.dropFirst(10).allSatisfy { $0.concealed == 0 })
      #expect(reports.dropFirst(10).allSatisfy { $0.leastMargin > .milliseconds(5) })
    }
  }

  @Test(arguments: [4] as [UInt64])
  func `what a radio loses at random comes again in time`(seed: UInt64) throws {
    let group = Self.group(Self.radio(loss: 0.02), latency: .milliseconds(100), seed: seed)
    group.run(until: 20)
    group.expectSounding(from: 4, to: 20)
    expectFlawless(group)
    for room in 0..<3 {
      let reports = group.liveReports(of: room).dropFirst(10)
      #expect(reports.reduce(0) { $0 + $1.recovered } > 20)
      #expect(reports.allSatisfy { $0.concealed == 0 })
    }
  }

  @Test func `what is lost in bursts is concealed, and no room falls silent`() throws {
    let group = Self.group(
      Self.radio(loss: 0.05, burst: 5), latency: .milliseconds(150), seed: 6, isExact: false)
    group.run(until: 30)
    group.expectSounding(from: 4, to: 30)
    expectBounded(group)
    // Counts all rooms together: most of one room's losses come from a burst that lasts longer than the time to recover
    // from it.
    let reports = (0..<3).flatMap { group.liveReports(of: $0).dropFirst(10) }
    let received = reports.reduce(0) { $0 + $1.received }
    #expect(reports.reduce(0) { $0 + $1.concealed } * 1000 < received)
  }

  @Test func `a datagram that comes twice, or after the next, changes nothing`() throws {
    var path = PathQuality.wired
    path.down.duplication = 0.2
    path.down.reordering = 0.05
    let group = Self.group(path, latency: .milliseconds(80), seed: 7)
    group.run(until: 30)
    group.expectSounding(from: 4, to: 30)
    expectFlawless(group)
  }

  @Test func `a room that joins a live group is in step from its first frame`() throws {
    let group = Self.group(.wired, latency: .milliseconds(40), seed: 8)
    group.killReceiver(2)
    group.at(15) { $0.restartReceiver(2) }
    group.run(until: 30)
    let early = group.microphone.syncError(of: 2, from: 15, to: 20)
    #expect(early.count > 100 && early.maximum < 1000, "\(early)")
    expectFlawless(group, rooms: [0, 1])
  }

  @Test func `a group goes from files to a live source and back without losing a room`() throws {
    var configuration = SimulatedGroup.Configuration.house([.wired, .wired], seed: 9)
    configuration.items = [nil, nil, nil]
    configuration.live = SimulatedLive(item: 1, latency: .milliseconds(40))
    configuration.productionTime = .microseconds(200)
    // As above.
    for room in configuration.rooms.indices { configuration.rooms[room].host.hiccups = 0 }
    let group = SimulatedGroup(configuration)
    group.at(10) { $0.command(.next) }
    group.at(20) { $0.command(.next) }
    group.run(until: 30)
    group.expectSounding(from: 3, to: 9.9)
    group.expectSounding(from: 11, to: 19.9)
    group.expectSounding(from: 21, to: 30)
    group.expectSpread(within: 100, from: 12, to: 19)
    expectBounded(group)
    #expect(
      !group.senderEvents.contains {
        if case .room(_, .gone) = $0.event { true } else { false }
      })
    #expect(group.audioCount > 2 * 200 * 9)
  }

  @Test func `resends stay within half of the stream, whatever is lost`() throws {
    let loss = 0.9
    let group = Self.group(
      Self.radio(loss: loss), latency: .milliseconds(150), rooms: 1, seed: 10, isExact: false)
    group.run(until: 30)
    #expect(group.audioCount < Int(1.5 * 200 * 30) + 64, "\(group.audioCount)")
  }
}
