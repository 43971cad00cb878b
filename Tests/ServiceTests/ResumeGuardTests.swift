import Clock
import LinuxIO
import TestSupport
import Testing

@testable import House
@testable import Service

@Suite struct ResumeGuardTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A start at which music plays on, and that ends without a word. Returns false if it does not play on.
  private func dies(in boot: [UInt8] = [1]) -> Bool {
    let kept = ResumeGuard(path: folder.file("house.db"), boot: boot)
    let start = Resumption([], after: kept.deaths, at: LocalTime(nanoseconds: 0))
    kept.keep(start.deaths)
    return start.deaths > 0
  }

  @Test func `what has ended the program twice is not played on a third time`() {
    #expect([dies(), dies(), dies()] == [true, true, false])
    // A person has seen the line by then, so an item that is chosen now is tried again.
    #expect(dies())
  }

  @Test func `what has played for long enough, or was stopped, counts for nothing`() {
    for _ in 0..<5 {
      #expect(dies())
      ResumeGuard(path: folder.file("house.db"), boot: [1]).keep(0)
    }
    #expect([dies(), dies(), dies()] == [true, true, false])
  }

  @Test func `a machine whose power fails again and again plays on each time`() {
    for boot in UInt8(0)..<5 { #expect(dies(in: [boot, 10])) }
  }

  @Test func `where nothing can be kept, music plays on`() {
    for _ in 0..<5 {
      let kept = ResumeGuard(path: folder.file("no/such/folder/house.db"))
      kept.keep(1)
      #expect(kept.deaths == 0)
    }
  }
}
