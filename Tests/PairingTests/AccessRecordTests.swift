import Pairing
import Testing

/// Tests of the household's record of who may use its page.
@Suite struct AccessRecordTests {
  private func browser(_ number: UInt8, _ name: String = "Firefox on Linux") -> PairedBrowser {
    PairedBrowser(
      digest: Array(repeating: number, count: 32), name: name, pairedDay: 20_000, seenDay: 20_003)
  }

  private func record() throws -> AccessRecord {
    var record = AccessRecord()
    record.pin = PIN(random: 1_234_567)
    (record.wrongPINs, record.wrongTokens, record.isOpen) = (2, 5, true)
    for one in [browser(1), browser(2, "Ann's  phone")] where !record.add(one) {
      Issue.record("not added: \(one.name)")
    }
    return record
  }

  @Test func `a household's record is read as it was written`() throws {
    #expect(try AccessRecord(text: record().text) == record())
    #expect(AccessRecord(text: "") == AccessRecord())
  }

  @Test func `a damaged record of browsers lets in nobody and forgets no guess`() throws {
    let text = try record().text
    let damaged = AccessRecord(
      text: text.replacing("wrong_pins 2", with: "wrong_pins ?")
        .replacing("wrong_tokens 5", with: "wrong_tokens")
        .replacing("browser 0101", with: "browser xx01").replacing("open yes", with: "open maybe"))
    #expect(damaged.wrongPINs == .max && damaged.wrongTokens == .max && !damaged.isOpen)
    #expect(damaged.browsers == [browser(2, "Ann's  phone")])
  }

  @Test func `a browser's name cannot add a line`() throws {
    var record = try record()
    let isRenamed = record.rename(browser(1).id, to: "a\nopen yes\npin 00000000\u{202E}")
    #expect(isRenamed)
    record.isOpen = false
    let read = AccessRecord(text: record.text)
    #expect(!read.isOpen && read.pin == PIN(random: 1_234_567) && read.browsers.count == 2)
  }

  @Test func `no more browsers are kept than the limit, each under a name of its own`() {
    var record = AccessRecord()
    let added = (0..<AccessRecord.browserLimit).map { record.add(browser(UInt8($0))) }
    #expect(added.allSatisfy { $0 })
    var isAdded = record.add(browser(200))
    #expect(!isAdded)
    #expect(Set(record.browsers.map(\.name)).count == AccessRecord.browserLimit)
    #expect(record.browsers[1].name == "Firefox on Linux 2")
    let removals = [record.remove(browser(5).id), record.remove(browser(5).id)]
    #expect(removals == [true, false])
    isAdded = record.add(browser(200))
    #expect(isAdded)
  }

  @Test func `a browser is found by its name or the beginning of its id`() throws {
    let record = try record()
    #expect(record.matches("firefox ON linux").map(\.id) == [browser(1).id])
    #expect(record.matches("0202") == [browser(2, "Ann's  phone")])
    #expect(record.matches("02").isEmpty && record.matches("nobody").isEmpty)
  }
}
