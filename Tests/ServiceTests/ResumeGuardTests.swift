import Clock
import LinuxIO
import TestSupport
import Testing

@testable import Service

@Suite struct ResumeGuardTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A start that ends without a word.
  private func dies() -> Bool {
    var start = ResumeGuard(path: folder.file("house.db"))
    return start.begin(at: LocalTime(nanoseconds: 0))
  }

  @Test func `what has ended the program twice is not played on a third time`() {
    #expect([dies(), dies(), dies()] == [true, true, false])
    // A person has seen the line by then, so an item that is chosen now is tried again.
    #expect(dies())
  }

  @Test func `what has played for long enough, or was stopped, counts for nothing`() throws {
    for _ in 0..<5 {
      var start = ResumeGuard(path: folder.file("house.db"))
      let plays = start.begin(at: LocalTime(nanoseconds: 0))
      #expect(plays)
      #expect(start.deadline == LocalTime(nanoseconds: 30_000_000_000))
      start.succeed()
      #expect(start.deadline == nil)
    }
    #expect([dies(), dies(), dies()] == [true, true, false])
  }

  @Test func `a machine whose power fails again and again plays on each time`() {
    for boot in UInt8(0)..<5 {
      var start = ResumeGuard(path: folder.file("house.db"), boot: [boot, 10])
      let plays = start.begin(at: LocalTime(nanoseconds: 0))
      #expect(plays)
    }
  }

  @Test func `where nothing can be kept, music plays on`() {
    for _ in 0..<5 {
      var start = ResumeGuard(path: folder.file("no/such/folder/house.db"))
      let plays = start.begin(at: LocalTime(nanoseconds: 0))
      #expect(plays)
    }
  }
}
