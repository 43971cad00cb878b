import Clock
import Diagnosis
import Testing

/// The verdicts on the facts about a room.
@Suite struct RoomFactsTests {
  private let here = RoomFacts.Connection.connected(to: "10.0.0.7:7770")

  private func finding(
    _ visit: RoomFacts.Visit?, announced: Bool? = true, ours: Bool = true, version: UInt16? = 2,
    at connection: RoomFacts.Connection? = nil, firewall: String? = nil
  ) -> Finding {
    RoomFacts(
      name: "Living room", isAnnounced: announced, isOurs: ours, version: version,
      connection: connection ?? here, visit: visit, firewall: firewall
    ).finding
  }

  private func held(_ requests: Int, lost: Int = 0, ms: Int64? = 1) -> RoomFacts.Visit {
    .held(.init(requests: requests, lost: lost, roundTrip: ms.map { .milliseconds($0) }))
  }

  @Test func `a room that answers both ways is well, with its figures`() {
    let found = finding(held(200))
    #expect(
      found == .well("Living room", "10.0.0.7:7770, round trip 1.0 ms, 0 of 200 packets lost"))
  }

  @Test func `which way packets do not come is told apart`() {
    let inward = finding(held(0, ms: nil), firewall: "sudo ufw allow proto udp")
    #expect(inward.verdict == .wrong)
    #expect(inward.fact.contains("do not arrive here"))
    #expect(inward.cure == "let UDP in on this machine: sudo ufw allow proto udp")
    let outward = finding(held(64, ms: nil))
    #expect(outward.verdict == .wrong)
    #expect(outward.fact.contains("do not arrive at 10.0.0.7:7770"))
  }

  @Test func `loss and round trip are judged by how much they are`() {
    #expect(finding(held(98, lost: 2)).verdict == .well)
    #expect(finding(held(97, lost: 3)).verdict == .notice)
    #expect(finding(held(80, lost: 20)).verdict == .notice)
    #expect(finding(held(79, lost: 21)).verdict == .wrong)
    #expect(finding(held(200, ms: 30)).verdict == .well)
    #expect(finding(held(200, ms: 31)).verdict == .notice)
  }

  @Test func `a room that cannot be reached is wrong where it is announced, else away`() {
    let refused = RoomFacts.Connection.failed("10.0.0.7:7770 refused the connection")
    let announced = finding(nil, at: refused)
    #expect(announced.verdict == .wrong)
    #expect(announced.fact.hasSuffix("10.0.0.7:7770 refused the connection"))
    for seen in [false, nil] {
      #expect(finding(nil, announced: seen, at: refused).verdict == .notice)
      #expect(finding(nil, announced: seen, at: .unknown).verdict == .notice)
    }
  }

  @Test func `a room that was only connected is not announced, unless discovery does not work`() {
    #expect(finding(.spared, announced: false).verdict == .notice)
    #expect(finding(.spared, announced: nil) == .well("Living room", "answers at 10.0.0.7:7770"))
  }

  @Test func `a neighbour's room need not be paired, one of ours must`() {
    let ours = finding(.notPaired)
    #expect(ours.verdict == .wrong)
    #expect(ours.cure == "pair with it once: tutti pair 'Living room'")
    #expect(finding(.notPaired, ours: false).verdict == .notice)
  }

  @Test func `a room that plays is well`() {
    #expect(finding(.busy).verdict == .well)
    #expect(finding(.refused("busy: study is playing there")).verdict == .well)
    #expect(
      finding(.ours(roundTrip: .microseconds(440)))
        == .well("Living room", "10.0.0.7:7770, plays for this machine, round trip 0.4 ms"))
    #expect(finding(.leftAlone).verdict == .notice)
  }

  @Test func `a room that says nothing, nonsense or no is wrong`() {
    #expect(
      finding(.silent).fact.hasSuffix("takes the connection at 10.0.0.7:7770 and says nothing"))
    for visit in [.silent, nil, .broken("no TLS"), .refused("full")] as [RoomFacts.Visit?] {
      #expect(finding(visit).verdict == .wrong, "\(String(describing: visit))")
    }
  }

  @Test func `another version is named before all else, and which side is older`() {
    #expect(finding(held(200), version: 1).cure == "update Tutti in that room")
    #expect(finding(held(200), version: 3).cure == "update Tutti on this machine")
    #expect(finding(held(200), version: nil).verdict == .well)
  }
}
