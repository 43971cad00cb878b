import Clock
import Diagnosis
import ProgramJSON
import Testing

/// The verdicts on a machine's facts.
@Suite struct MachineFactsTests {
  @Test func `rights come from a limit or a capability`() {
    func verdicts(_ priority: UInt64, _ memory: UInt64, nice: Bool = false, lock: Bool = false)
      -> [Finding.Verdict]
    {
      RightsFacts(
        realtimeLimit: priority, lockedLimit: memory, mayRaisePriority: nice, mayLockMemory: lock
      ).findings.map(\.verdict)
    }
    #expect(verdicts(95, .max) == [.well, .well])
    #expect(verdicts(70, 256 << 20) == [.well, .well])
    #expect(verdicts(69, 255 << 20) == [.notice, .notice])
    #expect(verdicts(0, 0, nice: true, lock: true) == [.well, .well])
  }

  @Test func `cures for missing rights are commands that every installation has`() {
    let findings = RightsFacts(
      realtimeLimit: 0, lockedLimit: 0, mayRaisePriority: false, mayLockMemory: false
    ).findings
    for finding in findings {
      #expect(finding.cure?.hasPrefix("let systemd start it: sudo systemctl") == true, "\(finding)")
    }
  }

  @Test(arguments: [
    (-250_040_000, "-250.0"), (-5_000_000, "-5.0"), (5_000_000, "5.0"), (1_260_000, "1.3"),
  ])
  func `a clock that was set says by how much`(by change: Int64, _ text: String) {
    let facts = ClockFacts(source: "tsc", change: Nanoseconds(change), span: .milliseconds(100))
    #expect(facts.finding.fact == "the wall clock was set by \(text) ms just now")
  }

  @Test func `Wi-Fi that saves power is wrong, a weak signal is told`() throws {
    func finding(_ saves: Bool?, _ signal: Int?) -> Finding {
      InterfaceFacts(
        wireless: [.init(name: "wlan0", savesPower: saves, signal: signal)], wired: []
      ).findings[0]
    }
    #expect(finding(true, -40).verdict == .wrong)
    let cure = try #require(finding(true, -40).cure)
    #expect(cure.hasPrefix("sudo iw dev wlan0 set power_save off, which holds until"))
    #expect(finding(false, -76).verdict == .notice)
    #expect(finding(false, -75) == .well("Wi-Fi", "wlan0 saves no power, signal -75 dBm"))
    #expect(finding(nil, nil).verdict == .notice)
  }

  @Test func `a slow cable is told, a good one is not worth a line`() {
    func findings(_ speed: Int, half: Bool = false) -> [Finding.Verdict] {
      InterfaceFacts(
        wireless: [], wired: [.init(name: "eth0", speed: speed, isHalfDuplex: half)]
      ).findings.map(\.verdict)
    }
    #expect(findings(1000) == [])
    #expect(findings(10) == [.notice])
    #expect(findings(100, half: true) == [.notice])
  }

  @Test func `a wall clock that is set is told, one that is slewed is not`() {
    func verdict(_ change: Nanoseconds, source: String? = "tsc") -> Finding.Verdict {
      ClockFacts(source: source, change: change, span: .seconds(1)).finding.verdict
    }
    #expect(verdict(.microseconds(700)) == .well)
    #expect(verdict(.zero - .microseconds(700)) == .well)
    #expect(verdict(.microseconds(701)) == .notice)
    #expect(verdict(.zero - .seconds(3600)) == .notice)
    #expect(verdict(.zero, source: "hpet") == .notice)
    #expect(verdict(.zero, source: nil) == .well)
  }

  @Test func `a folder that cannot be written is wrong, a full disk is told`() {
    func finding(_ obstacle: String?, _ free: UInt64?) -> Finding {
      StateFacts(path: "/var/lib/tutti", obstacle: obstacle, free: free).finding
    }
    #expect(finding("Read-only file system", 1 << 40).verdict == .wrong)
    #expect(finding(nil, (32 << 20) - 1).verdict == .notice)
    #expect(finding(nil, 32 << 20) == .well("state", "/var/lib/tutti, 32 MiB left"))
    #expect(finding(nil, 5 << 30).fact == "/var/lib/tutti, 5 GiB left")
  }
}

/// The verdicts on a receiver's facts.
@Suite struct ReceiverFactsTests {
  private func card(
    _ state: CardFacts.State, _ owners: [CardFacts.Owner] = [], receiver: Int32? = nil
  ) -> Finding {
    CardFacts(device: "hw:0", state: state, owners: owners, receiver: receiver).finding
  }

  @Test func `who has a busy card is named, and how to get it back`() {
    let player = card(.busy, [.init(id: 77, name: "mpv")])
    #expect(player == .wrong("sound card", "hw:0 is in use by mpv (77)", cure: "end it: kill 77"))
    let server = card(.busy, [.init(id: 5, name: "pipewire")])
    #expect(server.cure?.contains("--device default") == true)
    #expect(card(.busy).cure == "see which: sudo fuser -v /dev/snd/*")
  }

  @Test func `a card that this receiver plays on is well`() {
    #expect(card(.busy, [.init(id: 9, name: "tutti-receiver")], receiver: 9).verdict == .well)
    #expect(card(.busy, receiver: 9).verdict == .well)
    #expect(card(.busy, [.init(id: 7, name: "mpv")], receiver: 9).verdict == .wrong)
  }

  @Test func `a card that opens, that is not needed, or that is not there`() {
    #expect(card(.opened).verdict == .well)
    #expect(card(.unused("null")).fact == "none is needed: --output null")
    #expect(card(.failed("there is no sound device")).verdict == .wrong)
  }

  private func receiver(
    process: Int32? = 9, port: ReceiverFacts.Port = .answers(7770), announced: Bool? = true,
    pairings: Int = 1, open: Bool = false
  ) -> [Finding] {
    ReceiverFacts(
      process: process, name: "Bath", port: port, isAnnounced: announced, pairings: pairings,
      isOpen: open
    ).findings
  }

  @Test func `a receiver runs, listens and is announced, or one of these is wrong`() {
    #expect(receiver()[0] == .well("receiver", "Bath runs on port 7770, and is announced"))
    #expect(receiver(port: .unknown, announced: nil)[0] == .well("receiver", "Bath runs"))
    #expect(receiver(process: nil)[0].verdict == .wrong)
    #expect(receiver(port: .failed(7770, reason: "nothing listens there"))[0].verdict == .wrong)
    #expect(receiver(announced: false)[0].verdict == .wrong)
  }

  @Test func `a receiver that nobody may play to is told how that is changed`() {
    #expect(receiver(pairings: 0)[1].verdict == .notice)
    #expect(receiver(pairings: 0, open: true)[1].verdict == .well)
    #expect(receiver(pairings: 2)[1].fact == "2 senders are paired")
  }
}

/// The text of findings.
@Suite struct FindingTextTests {
  private let finding = Finding.wrong(
    "Living room downstairs",
    "answers by TCP at 192.168.1.20:7770, but its UDP packets do not arrive here",
    cure: "let UDP in on this machine: sudo ufw allow proto udp from the rooms' network")

  @Test func `lines fit the window, and cures stand below`() {
    let lines = FindingText(isColoured: false, width: 80).lines(finding)
    #expect(
      lines == [
        "✗ Living room down answers by TCP at 192.168.1.20:7770, but its UDP packets do",
        "                   not arrive here",
        "                   → let UDP in on this machine: sudo ufw allow proto udp from",
        "                     the rooms' network",
      ])
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(FindingText(isColoured: false, width: nil).lines(finding).count == 2)
  }

  @Test func `what strangers call themselves does not reach the terminal raw`() {
    let strange = Finding.well("\u{1B}[2J", "busy: \u{9B}x\u{202E}")
    let lines = FindingText(isColoured: false, width: 80).lines(strange).joined()
    #expect(
      lines.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
  }

  @Test func `programs get one object a line`() throws {
    func text(_ finding: Finding) throws -> String {
      String(decoding: try JSON.encode(finding), as: UTF8.self)
    }
    #expect(
      try text(.notice("a\"b", "c\\\n", cure: "d"))
        == #"{"check":"a\"b","cure":"d","fact":"c\\\n","verdict":"notice"}"#)
    #expect(try text(.well("a", "b")) == #"{"check":"a","fact":"b","verdict":"well"}"#)
  }

  @Test func `the sum says how many`() {
    let text = FindingText(isColoured: false, width: nil)
    let (well, note) = (Finding.well("a", ""), Finding.notice("a", "", cure: ""))
    let wrong = Finding.wrong("a", "", cure: "")
    #expect(text.summary(of: [well]) == "Nothing is wrong.")
    #expect(text.summary(of: [well, note]) == "Nothing is wrong; 1 thing to note.")
    #expect(text.summary(of: [wrong, note, note]) == "1 thing is wrong; 2 things to note.")
  }
}
