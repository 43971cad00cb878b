import Clock
import Pairing
import Receiver
import Sender
import Simulation
import TestSupport
import Testing
import WireProtocol

/// Tests of who may play in a room, as listeners hear it.
@Suite struct TrustTests {
  private static let pin = PIN(random: 1)
  private static let wrong = PIN(random: 2)

  private static func house(
    seed: UInt64 = 21, _ change: (inout SimulatedGroup.Configuration) throws -> Void
  ) throws -> SimulatedGroup {
    var house = SimulatedGroup.Configuration.house([.wired, .wired], seed: seed)
    house.arithmetic = FakeArithmetic()
    try change(&house)
    return SimulatedGroup(house)
  }

  /// A room that is paired with nobody, and has a PIN.
  private static func stranger() throws -> TrustMemory {
    let salt = Array(repeating: UInt8(3), count: PairingMessage.saltByteCount)
    return TrustMemory(
      verifier: try FakeArithmetic().verifierRecord(pin: pin.digits, salt: salt))
  }

  private static func refusals(_ group: SimulatedGroup) -> [String] {
    group.senderEvents.compactMap {
      if case .room(_, .notPaired(let advice)) = $0.event { advice } else { nil }
    }
  }

  private static let second = RoomID(2)

  /// Returns the sender's events about room 1 from then on, except changes of its state.
  private static func told(
    _ group: SimulatedGroup, from start: Double
  ) -> [SenderEvent.RoomChange] {
    group.senderEvents.filter { $0.at.seconds >= start }.compactMap { told in
      switch told.event.change(of: second) {
      case .state, .flushed, nil: nil
      case let change: change
      }
    }
  }

  /// The network decides which of the room's two connections ends first.
  private static let networks: [UInt64] = [21, 22, 23, 24]

  @Test func `a room that is not paired stays silent, and the other plays as ever`() throws {
    let group = try Self.house { $0.rooms[1].trust = try Self.stranger() }
    group.run(until: 100)
    #expect(group.microphone.records[1].firstSound == nil)
    #expect(Self.refusals(group) == ["it is not paired with this machine: tutti pair 'room 1'"])
    group.expectSounding([0], from: 3, to: 100)
    expectFlawless(group)
  }

  @Test func `a room that is paired while the others play joins them`() throws {
    let group = try Self.house { $0.rooms[1].trust = try Self.stranger() }
    group.at(3) { $0.pair(1, Self.pin) }
    group.run(until: 80)
    #expect(group.pairingReports.map(\.report).count == 1)
    guard case .paired(_, let name)? = group.pairingReports.first?.report else {
      Issue.record("\(group.pairingReports)")
      return
    }
    #expect(name == "room 1")
    group.expectSounding(from: 65, to: 80)
    group.expectSpread(within: 100, from: 70, to: 80)
    expectFlawless(group)
  }

  @Test(arguments: networks)
  func `a room that forgets its sender falls silent, and the other plays on`(seed: UInt64) throws {
    let group = try Self.house(seed: seed) { _ in }
    group.at(10) { $0.changeTrust(of: 1) { $0.pairings.remove(.simulatedSender) } }
    group.run(until: 20)
    group.expectSounding(from: 3, to: 9.9)
    #expect(group.microphone.soundingShare(of: 1, from: 10.2, to: 20) == 0)
    group.expectSounding([0], from: 3, to: 20)
    let advice = "it is not paired with this machine: tutti pair 'room 1'"
    #expect(Self.told(group, from: 10) == [.notPaired(advice: advice)])
    expectBounded(group)
  }

  @Test func `a sender that asks to be forgotten is heard no more`() throws {
    let group = try Self.house { _ in }
    group.at(10) { $0.unpair(1) }
    group.run(until: 20)
    #expect(group.pairingReports.map(\.report) == [.unpaired])
    #expect(group.microphone.soundingShare(of: 1, from: 10.2, to: 20) == 0)
    group.expectSounding([0], from: 3, to: 20)
  }

  @Test func `wrong PINs cost time, whoever types them and whether the room restarts or not`()
    throws
  {
    let group = try Self.house { $0.rooms[1].trust = try Self.stranger() }
    for guess in 1...3 {
      let other = Identifier.simulated(visitor: guess)
      group.at(Double(guess)) { $0.pair(1, Self.wrong, as: other) }
    }
    group.at(4) { $0.killReceiver(1) }
    group.at(5) { $0.restartReceiver(1) }
    group.at(6) { $0.pair(1, Self.wrong) }
    group.at(7) { $0.pair(1, Self.pin) }
    group.at(40) { $0.pair(1, Self.pin) }
    group.run(until: 50)
    let reports = group.pairingReports.map(\.report)
    #expect(reports.prefix(3) == [.wrongPIN, .wrongPIN, .wrongPIN])
    for report in reports.dropFirst(3).prefix(2) {
      guard case .refused(let refusal) = report else {
        Issue.record("\(report)")
        return
      }
      #expect(refusal.reason == .wait)
    }
    guard case .paired? = reports.last else {
      Issue.record("\(reports)")
      return
    }
    #expect(reports.count == 6)
  }

  @Test(arguments: networks)
  func `a higher priority borrows a room, and the music comes back by itself`(
    seed: UInt64
  ) throws {
    let group = try Self.house(seed: seed) { house in
      house.rooms[1].whenBusy = .priority
      house.rooms[1].trust.pairings.add(.init(id: .simulated(visitor: 1), name: "doorbell"))
    }
    var visit: Int?
    group.at(10) { visit = $0.beginVisit(1, as: 1, priority: 200) }
    group.at(13) { group in visit.map { group.endVisit($0) } }
    group.run(until: 40)
    #expect(group.microphone.soundingShare(of: 1, from: 10.2, to: 13) == 0)
    group.expectSounding([0], from: 3, to: 40)
    group.expectSounding([1], from: 20, to: 40)
    group.expectSpread(within: 100, from: 25, to: 40)
    let reason = "visitor 1 plays there for a while"
    #expect(
      Self.told(group, from: 10) == [
        .gone(reason: reason), .connected,
      ])
    expectBounded(group)
  }

  @Test(arguments: networks)
  func `a lower priority gets nothing, and who takes a room over keeps it`(seed: UInt64) throws {
    let group = try Self.house(seed: seed) { house in
      house.rooms[1].whenBusy = .priority
      for number in 1...2 {
        house.rooms[1].trust.pairings.add(.init(id: .simulated(visitor: number), name: "v"))
      }
    }
    group.at(10) { _ = $0.beginVisit(1, as: 1, priority: 50) }
    group.at(15) { _ = $0.beginVisit(1, as: 2, takesOver: true) }
    group.run(until: 24)
    group.expectSounding([1], from: 3, to: 14.9)
    #expect(group.microphone.soundingShare(of: 1, from: 15.2, to: 24) == 0)
    // The sender does not ask for the room again.
    let reason = "visitor 2 has taken it over"
    #expect(Self.told(group, from: 10) == [.replaced(reason: reason)])
  }
}
