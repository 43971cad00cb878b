import Diagnosis
import Testing

/// The verdicts on the facts from discovery.
@Suite struct NetworkFactsTests {
  private func room(_ name: String, _ id: String, at address: String) -> NetworkFacts.Announcement {
    .init(id: id, name: name, addresses: [address])
  }

  private func findings(
    _ announcements: [NetworkFacts.Announcement], paired: [String: String] = [:],
    daemon: NetworkFacts.Daemon = .answers
  ) -> [Finding] {
    NetworkFacts(daemon: daemon, announcements: announcements, paired: paired).findings
  }

  @Test func `an Avahi that is missing, hangs or finds nobody is told apart`() {
    let absent = findings([], daemon: .absent(reason: "the Avahi daemon is not running"))
    #expect(absent.map(\.verdict) == [.wrong])
    #expect(
      absent[0].cure?.hasPrefix(
        "sudo apt install avahi-daemon; sudo systemctl enable --now avahi-daemon") == true)
    let silent = findings([], daemon: .silent)
    #expect(silent.map(\.verdict) == [.wrong])
    #expect(silent[0].cure == "sudo systemctl restart avahi-daemon")
    #expect(findings([]).map(\.verdict) == [.notice])
  }

  @Test func `rooms with names and identities of their own are well`() {
    let found = findings([
      room("Bath", "aa", at: "10.0.0.1:7770"), room("Hall", "bb", at: "10.0.0.2:7770"),
    ])
    #expect(found.map(\.verdict) == [.well, .well])
    #expect(found[0].fact == "answers; 2 receivers are announced")
    #expect(
      findings([room("Bath", "aa", at: "10.0.0.1:7770")])[0].fact
        == "answers; 1 receiver is announced")
  }

  @Test func `two receivers of one identity are wrong, one that is announced twice is not`() {
    let one = room("Bath", "aa", at: "10.0.0.1:7770")
    let copy = findings([one, room("Hall", "aa", at: "10.0.0.2:7770")])[1]
    #expect(copy.verdict == .wrong)
    #expect(copy.fact.contains("Bath at 10.0.0.1:7770 and Hall at 10.0.0.2:7770"))
    #expect(findings([one, room("Bath #2", "aa", at: "10.0.0.1:7770")])[1].verdict == .well)
  }

  @Test func `two rooms of one name are told, in whatever case it is written`() {
    let twins = findings([
      room("Bath", "aa", at: "10.0.0.1:7770"), room("bath", "bb", at: "10.0.0.2:7770"),
    ])[1]
    #expect(twins.verdict == .notice)
    #expect(twins.cure?.contains("bath#bb") == true)
  }

  @Test func `a stranger that takes the name of a paired room is told`() {
    let stranger = findings([room("Bath", "bb", at: "10.0.0.2:7770")], paired: ["aa": "Bath"])[1]
    #expect(stranger.verdict == .notice)
    #expect(stranger.fact.contains("is not the Bath that this machine is paired with"))
    #expect(
      findings([room("Bath", "aa", at: "10.0.0.2:7770")], paired: ["aa": "Bath"])[1].verdict
        == .well)
  }
}
