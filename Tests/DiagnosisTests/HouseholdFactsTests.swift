import Diagnosis
import Testing

/// The verdicts on a household as a whole.
@Suite struct HouseholdFactsTests {
  private func findings(
    disk: String? = nil, second: String? = nil, problem: String? = nil, follows: Bool = false
  ) -> [Finding] {
    HouseholdFacts(diskProblem: disk, second: second, secondProblem: problem, follows: follows)
      .findings
  }

  @Test func `a household with one machine is not worth a line`() {
    #expect(findings().isEmpty)
  }

  @Test func `each machine says which one goes on`() {
    #expect(
      findings(second: "10.0.0.2") == [
        .well("second machine", "10.0.0.2 goes on with the music if this machine fails")
      ])
    #expect(
      findings(second: "10.0.0.1", follows: true) == [
        .well(
          "second machine",
          "this machine follows 10.0.0.1, and goes on with the music if that one fails")
      ])
  }

  @Test(arguments: [false, true])
  func `what keeps one of them from going on is wrong, though both are there`(follows: Bool) throws
  {
    let found = findings(second: "10.0.0.2", problem: "it does not answer", follows: follows)
    #expect(found.map(\.verdict) == [.wrong] && found.map(\.fact) == ["it does not answer"])
    #expect(try #require(found.first?.cure).contains("tutti doctor"))
  }

  @Test func `a disk that keeps nothing is wrong`() {
    let found = findings(disk: "the disk is full", second: "10.0.0.2")
    #expect(found.map(\.verdict) == [.wrong, .well])
    #expect(found.first?.fact == "the disk is full")
  }
}
