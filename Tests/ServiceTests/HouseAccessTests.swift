import Clock
import House
import Pairing
import Service
import Testing
import WebTestSupport

/// Tests of who is let in, in simulated time.
@Suite struct HouseAccessTests {
  private static func wrongPINs(_ access: HouseAccess) throws -> [String] {
    let right = try #require(access.pin)
    return (1...40).map { PIN(random: UInt64($0)).digits }.filter { $0 != right.digits }
  }

  private static func problem(
    _ body: () async throws(Refusal) -> some Sendable
  ) async -> Refusal? {
    do throws(Refusal) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  private static func wait(_ problem: Refusal?) -> Int? {
    if case .tooMany(_, let seconds)? = problem { seconds } else { nil }
  }

  private static func isWrong(_ problem: Refusal?) -> Bool {
    if case .wrong? = problem { true } else { false }
  }

  @Test func `a browser is paired by the PIN once, and known after a restart`() async throws {
    let fake = FakeAccess()
    let access = try fake.open()
    let pin = try #require(access.pin)
    let key = try await access.pair(pin: pin.written, name: "Firefox on Linux")
    #expect(key.text.utf8.count == 64 && key.browser.name == "Firefox on Linux")
    #expect(fake.kept?.contains(key.text) == false)
    let again = try fake.open()
    #expect(again.pin == pin)
    #expect(again.browser(key: key.text)?.id == key.browser.id)
    for other in ["", key.text + "0", String(key.text.dropLast()), key.browser.id] {
      #expect(again.browser(key: other) == nil)
    }
  }

  @Test func `three wrong PINs of a household cost time, also after a restart`() async throws {
    let fake = FakeAccess()
    var access = try fake.open()
    let wrong = try Self.wrongPINs(access)
    let right = try #require(access.pin).digits
    for pin in wrong.prefix(3) {
      let problem = await Self.problem { () throws(Refusal) in
        try await access.pair(pin: pin, name: "x")
      }
      #expect(Self.isWrong(problem))
    }
    var waits: [Int?] = []
    for pin in wrong.dropFirst(3).prefix(9) {
      access = try fake.open()
      let problem = await Self.problem { [access] () throws(Refusal) in
        try await access.pair(pin: right, name: "x")
      }
      let seconds = Self.wait(problem)
      waits.append(seconds)
      fake.pass(.seconds(Int64(seconds ?? 0)))
      let next = await Self.problem { [access] () throws(Refusal) in
        try await access.pair(pin: pin, name: "x")
      }
      #expect(Self.isWrong(next))
    }
    #expect(waits == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
    fake.pass(.seconds(3_600))
    _ = try await access.pair(pin: right, name: "x")
    #expect(fake.kept?.contains("wrong_pins 0\n") == true)
  }

  @Test func `a household says nothing about a PIN before the guess is on the disk`() async throws {
    let fake = FakeAccess()
    let access = try fake.open()
    let wrong = try Self.wrongPINs(access)
    fake.fillDisk()
    let right = try #require(access.pin).digits
    for pin in [wrong[0], right] {
      let problem = await Self.problem { () throws(Refusal) in
        try await access.pair(pin: pin, name: "x")
      }
      guard case .unavailable? = problem else {
        Issue.record("\(String(describing: problem))")
        continue
      }
    }
    #expect(access.browsers.isEmpty)
  }

  @Test func `thirty guesses at once are no more than three`() async throws {
    let access = try FakeAccess.make()
    let wrong = try Self.wrongPINs(access).prefix(30)
    let waits = await withTaskGroup(of: Bool.self) { group in
      for pin in wrong {
        group.addTask {
          let problem = await Self.problem { () throws(Refusal) in
            try await access.pair(pin: pin, name: "x")
          }
          return Self.wait(problem) != nil
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(waits == 27)
  }

  @Test func `a slip of the finger costs no guess`() async throws {
    let access = try FakeAccess.make()
    let digits = try #require(access.pin).digits
    let last = String((Int(String(digits.suffix(1))) ?? 0) == 0 ? 1 : 0)
    for text in ["", "1234", "abcdefgh", digits.dropLast() + last, digits + "1"] {
      let problem = await Self.problem { () throws(Refusal) in
        try await access.pair(pin: text, name: "x")
      }
      guard case .invalid? = problem else {
        Issue.record("\(text): \(String(describing: problem))")
        continue
      }
    }
    _ = try await access.pair(pin: digits, name: "x")
  }

  @Test func `another PIN ends the wait, and who is paired stays so`() async throws {
    let access = try FakeAccess.make()
    let key = try await access.pair(pin: try #require(access.pin).digits, name: "x")
    for pin in try Self.wrongPINs(access).prefix(3) {
      _ = await Self.problem { () throws(Refusal) in
        try await access.pair(pin: pin, name: "x")
      }
    }
    let pin = try await access.renewPIN()
    _ = try await access.pair(pin: pin.digits, name: "y")
    #expect(access.browser(key: key.text) != nil)
  }

  private static func secret(_ invitation: Invitation) -> String {
    String(invitation.address.split(separator: "#pair=").last ?? "")
  }

  @Test func `the secret of a QR code counts once, for ten minutes`() async throws {
    let fake = FakeAccess()
    let access = try fake.open()
    let first = try access.invite()
    #expect(first.address.hasPrefix("http://192.168.1.20:8770/#pair="))
    #expect(first.lastsS == 600 && first.page == "http://192.168.1.20:8770/")
    _ = try await access.pair(secret: Self.secret(first), name: "Safari on iPhone")
    await #expect(throws: Refusal.self) {
      try await access.pair(secret: Self.secret(first), name: "x")
    }
    let second = try access.invite()
    let lasting = try access.invite(lasts: true)
    fake.pass(.seconds(600))
    for secret in [Self.secret(first), Self.secret(second), "", "guess"] {
      let problem = await Self.problem { () throws(Refusal) in
        try await access.pair(secret: secret, name: "x")
      }
      #expect(Self.isWrong(problem))
    }
    _ = try await access.pair(secret: Self.secret(lasting), name: "x")
  }

  @Test func `no more secrets of QR codes count than the limit`() async throws {
    let access = try FakeAccess.make()
    let all = try (0...HouseAccess.secretLimit).map { _ in Self.secret(try access.invite()) }
    let problem = await Self.problem { () throws(Refusal) in
      try await access.pair(secret: all[0], name: "x")
    }
    #expect(Self.isWrong(problem))
    for secret in all.dropFirst() { _ = try await access.pair(secret: secret, name: "x") }
  }

  @Test func `a browser is named, seen and removed`() async throws {
    let fake = FakeAccess()
    let access = try fake.open()
    let key = try await access.pair(pin: try #require(access.pin).digits, name: "Chrome on Android")
    fake.pass(days: 3)
    #expect(access.browser(key: key.text)?.id == key.browser.id)
    let listed = try await access.answer(.browsers).browsers
    #expect(listed?.map(\.pairedDaysAgo) == [3] && listed?.map(\.seenDaysAgo) == [0])
    _ = try await access.answer(.rename(browser: "chrome on android", name: "Phone of Ann"))
    #expect(try fake.open().browsers.map(\.name) == ["Phone of Ann"])
    _ = try await access.answer(.remove(browser: "Phone of Ann"))
    #expect(access.browser(key: key.text) == nil)
    #expect(try fake.open().browser(key: key.text) == nil)
    #expect(!access.isStill(.browser(key.browser.id), allowed: .guest))
    await #expect(throws: Refusal.self) { try await access.answer(.remove(browser: "x")) }
  }

  @Test func `wrong tokens cost time, but not those who have used the right one`() async throws {
    let fake = FakeAccess()
    let access = try fake.open(token: "correct-horse")
    #expect(try await access.isToken("correct-horse", from: "10.0.0.1"))
    for number in 1...3 {
      #expect(try await !access.isToken("wrong\(number)", from: "10.0.0.9"))
    }
    for token in ["wrong4", "correct-horse"] {
      let problem = await Self.problem { () throws(Refusal) in
        try await access.isToken(token, from: "10.0.0.9")
      }
      #expect(Self.wait(problem) == 30)
    }
    #expect(try await !access.isToken("wrong1", from: "10.0.0.9"))
    #expect(try await access.isToken("correct-horse", from: "10.0.0.1"))
    let again = try fake.open(token: "correct-horse")
    let problem = await Self.problem { () throws(Refusal) in
      try await again.isToken("wrong5", from: "10.0.0.9")
    }
    #expect(Self.wait(problem) == 30)
  }

  @Test func `an address that guesses loses what the right token gave it`() async throws {
    let access = try FakeAccess.make(token: "correct-horse")
    _ = try await access.isToken("correct-horse", from: "10.0.0.1")
    for number in 1...3 { _ = try await access.isToken("wrong\(number)", from: "10.0.0.1") }
    let problem = await Self.problem { () throws(Refusal) in
      try await access.isToken("correct-horse", from: "10.0.0.1")
    }
    #expect(Self.wait(problem) == 30)
  }

  @Test func `guests are as the configuration says, else as a paired browser says`() async throws {
    let fake = FakeAccess()
    let access = try fake.open()
    #expect(!access.isOpen && !access.isStill(.guest, allowed: .guest))
    try await access.setOpen(true)
    #expect(access.isOpen && access.isStill(.guest, allowed: .guest))
    #expect(!access.isStill(.guest, allowed: .household))
    #expect(try fake.open().isOpen && !fake.open(isOpen: false).isOpen)
    let fixed = try fake.open(isOpen: true)
    let problem = await Self.problem { () throws(Refusal) in try await fixed.setOpen(false) }
    guard case .unavailable? = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
  }
}
