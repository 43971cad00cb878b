import Clock
import Sender
import Simulation
import Testing
import WireProtocol

/// Tests of a latency that follows the links, from their packets to the source that is held back.
@Suite struct LiveAutoLongTests {
  private static let (worse, better, end) = (400.0, 520.0, 1_600.0)
  private static let bath = RoomID(2)

  /// A radio that delays packets, and all behind them, by this many seconds on average.
  private static func radio(heldUp: Double) -> PathQuality {
    var link = LinkQuality()
    link.delay = .microseconds(900)
    link.noise = (1.2, 0.3e-3)
    link.spikes = [(0.02, heldUp)]
    link.keepsOrder = true
    return PathQuality(up: link, down: link)
  }

  private struct Choice {
    var at: Double
    var milliseconds: Int64
    var room: RoomID
  }

  private static func choices(_ group: SimulatedGroup) -> [Choice] {
    group.senderEvents.compactMap { told in
      guard case .room(let room, .choseLatency(let latency)) = told.event else { return nil }
      return Choice(at: told.at.seconds, milliseconds: latency.count / 1_000_000, room: room.id)
    }
  }

  @Test
  func `a chosen latency rises at once when a link worsens, and falls slowly when it recovers`()
    throws
  {
    let calm = Self.radio(heldUp: 2e-3)
    var configuration = SimulatedGroup.Configuration.house([calm, calm], seed: 3)
    configuration.live = SimulatedLive(latency: .milliseconds(100), adapts: true)
    configuration.productionTime = .microseconds(200)
    configuration.isExact = false
    for room in configuration.rooms.indices { configuration.rooms[room].host.hiccups = 0 }
    let group = SimulatedGroup(configuration)
    group.at(Self.worse) { $0.change(1, to: Self.radio(heldUp: 20e-3)) }
    group.at(Self.better) { $0.change(1, to: calm) }
    group.run(until: Self.end)

    let choices = Self.choices(group)
    expectSlowFalls([100] + choices.map(\.milliseconds), choices)
    #expect(try #require(choices.last { $0.at < Self.worse }).milliseconds <= 50)

    let raises = choices.filter { $0.at >= Self.worse && $0.at < Self.better }
    let first = try #require(raises.first)
    #expect(first.at < Self.worse + 10)
    #expect(raises.allSatisfy { $0.room == Self.bath })
    // A minute later, the source has reached the latency. There are two reports a second.
    let reports = group.liveReports(of: 1).dropFirst(2 * Int(Self.worse + 60)).prefix(100)
    #expect(reports.count { $0.concealed > 0 } <= 2)

    // Holes are remembered for a quarter of an hour.
    let falls = choices.filter { $0.at > Self.better }
    #expect(falls.count >= 2 && falls.allSatisfy { $0.at > Self.better + 800 })
    // Rooms play without a step.
    expectFlawless(group, rooms: [0])
    group.expectSounding([0], from: 4, to: Self.end)
    group.expectSpread(within: 300, from: 20, to: Self.end)
  }

  /// Expects falls by one level, no more than one a minute, and no return within ten minutes to a
  /// level that failed.
  private func expectSlowFalls(_ latencies: [Int64], _ choices: [Choice]) {
    let levels = LatencyChoice.levels
    var failures: [Int64: Double] = [:]
    for (place, choice) in choices.enumerated() {
      let before = latencies[place]
      guard choice.milliseconds < before else {
        failures[before] = choice.at
        continue
      }
      #expect(levels.firstIndex(of: before) == levels.firstIndex(of: choice.milliseconds)! + 1)
      if place > 0 { #expect(choice.at - choices[place - 1].at >= 60) }
      if let failed = failures[choice.milliseconds] { #expect(choice.at - failed >= 600) }
    }
  }
}
