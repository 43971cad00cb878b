import Audio
import Sender
import Simulation
import TestSupport
import Testing
import WireProtocol

@Suite struct RecodingTests {
  /// Rooms 0 and 1 decode the items' own codec. Room 2 does not, and is away at first.
  private static func group(seed: UInt64) -> SimulatedGroup {
    var configuration = SimulatedGroup.Configuration.house([.wired, .wired, .wired], seed: seed)
    configuration.passesPackets = true
    for index in 0..<2 { configuration.rooms[index].codecs.append(SignalPackets.codec) }
    return SimulatedGroup(configuration)
  }

  private static func recodings(of group: SimulatedGroup) -> [Double] {
    group.senderEvents.compactMap { entry in
      guard case .room(_, .recoded(from: SignalPackets.codec)) = entry.event else { return nil }
      return entry.at.seconds
    }
  }

  /// Lets the last of three rooms join after 20 s. It is heard soon after the group has changed to a codec that it
  /// decodes. Plays until 45 s, and returns the time at which it was heard.
  private func join(_ group: SimulatedGroup) throws -> Double {
    group.partition(2)
    group.at(20) { $0.repair(2) }
    group.run(until: 45)
    let recoded = try #require(Self.recodings(of: group).first)
    let joined = try #require(group.microphone.records[2].firstSound).seconds
    #expect(recoded > 20)
    #expect(joined > recoded && joined < recoded + 2)
    group.expectSounding([0, 1], from: 3, to: 45)
    group.expectSounding([2], from: joined + 0.1, to: 45)
    return joined
  }

  @Test(arguments: seeds(2, of: 4))
  func `a room that cannot decode what plays is heard soon, and the others hear no seam`(
    seed: UInt64
  ) throws {
    let group = Self.group(seed: seed)
    let joined = try join(group)
    group.expectSpread(within: 100, from: joined + 1, to: 45)
    #expect(Self.recodings(of: group).count == 1)
    expectFlawless(group)
    #expect((0..<3).allSatisfy { group.status(of: $0)?.corruptPackets == 0 })
  }

  @Test func `with a room that cannot decode it from the start, nothing is heard twice`() throws {
    let group = Self.group(seed: 5)
    group.run(until: 20)
    group.expectSounding(from: 3, to: 20)
    #expect(Self.recodings(of: group).count == 1)
    expectFlawless(group)
  }

  @Test(arguments: [7, 8, 9] as [UInt64])
  func `a room whose decoder is missing after all is heard soon, and the others hear no seam`(
    seed: UInt64
  ) throws {
    var configuration = SimulatedGroup.Configuration.house([.wired, .wired, .wired], seed: seed)
    configuration.passesPackets = true
    for index in 0..<3 { configuration.rooms[index].codecs.append(SignalPackets.codec) }
    configuration.rooms[2].missingDecoders = [SignalPackets.codec]
    let group = SimulatedGroup(configuration)
    _ = try join(group)
    #expect(Self.recodings(of: group).count == 1)
    expectFlawless(group)
    #expect((0..<3).allSatisfy { group.status(of: $0)?.corruptPackets == 0 })
  }

  @Test func `a decoder that is missing from the start delays the music, and no more`() throws {
    var configuration = SimulatedGroup.Configuration.house([.wired, .wired], seed: 10)
    configuration.passesPackets = true
    for index in 0..<2 {
      configuration.rooms[index].codecs.append(SignalPackets.codec)
      configuration.rooms[index].missingDecoders = [SignalPackets.codec]
    }
    let group = SimulatedGroup(configuration)
    group.run(until: 20)
    group.expectSounding(from: 3, to: 20)
    #expect(Self.recodings(of: group).count == 1)
    expectFlawless(group)
  }

  @Test func `where all rooms decode it, nothing is encoded`() throws {
    var configuration = SimulatedGroup.Configuration.house([.wired, .wired], seed: 6)
    configuration.passesPackets = true
    for index in 0..<2 { configuration.rooms[index].codecs.append(SignalPackets.codec) }
    let group = SimulatedGroup(configuration)
    group.run(until: 20)
    let started = group.senderEvents.compactMap { entry in
      if case .itemStarted(let opened) = entry.event { opened.wire } else { nil }
    }
    #expect(started.map(\.reason) == [.passedOn])
    #expect(started.map(\.codec) == [SignalPackets.codec])
    #expect(Self.recodings(of: group).isEmpty)
    group.expectSounding(from: 3, to: 20)
    expectFlawless(group)
  }
}
