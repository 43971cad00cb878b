import Clock
import Diagnosis
import Dispatch
import Synchronization
import Testing

@testable import Doctor

/// Checks that run side by side.
@Suite struct CheckupTests {
  private final class Printed: Sendable {
    private let text = Mutex<[String]>([])

    func append(_ line: String) { text.withLock { $0.append(line) } }
    var lines: [String] { text.withLock { $0 } }
  }

  private let printed = Printed()

  private var checkup: Checkup {
    Checkup(isJSON: true, isColoured: false, width: nil) { [printed] in printed.append($0) }
  }

  private func check(
    _ name: String, timeout: Nanoseconds = .seconds(60),
    _ look: @escaping @Sendable () -> Finding
  ) -> Checkup.Check {
    Checkup.Check(
      name, timeout: timeout, ifSilent: .wrong(name, "silent", cure: "wait"), look: { [look()] })
  }

  @Test func `they run side by side, and are printed in their order`() throws {
    let second = DispatchSemaphore(value: 0)
    var checkup = checkup
    // The first check can only end after the second.
    let found = try checkup.run([
      check("a") {
        second.wait()
        return .well("a", "")
      },
      check("b") {
        second.signal()
        return .notice("b", "", cure: "c")
      },
    ])
    #expect(found.map(\.check) == ["a", "b"])
    #expect(printed.lines.map { $0.prefix(12) } == [#"{"check":"a""#, #"{"check":"b""#])
    #expect(try checkup.end() == 0)
  }

  @Test func `one that does not come back is left behind, and is wrong`() throws {
    let never = DispatchSemaphore(value: 0)
    defer { never.signal() }
    var checkup = checkup
    let found = try checkup.run([
      check("a", timeout: .milliseconds(1)) {
        never.wait()
        return .well("a", "")
      },
      check("b") { .well("b", "") },
    ])
    #expect(found == [.wrong("a", "silent", cure: "wait"), .well("b", "")])
    #expect(try checkup.end() == 1)
  }

  @Test func `no more of them run at a time than are allowed, and all of them run`() throws {
    let running = Mutex((now: 0, most: 0))
    let isFull = DispatchSemaphore(value: 0)
    var checkup = checkup
    let found = try checkup.run(
      (0..<100).map { number in
        check("\(number)") {
          let count = running.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
            return $0.now
          }
          // The first sixteen checks continue once all of them run.
          if number < Checkup.mostAtOnce {
            if count == Checkup.mostAtOnce {
              for _ in 1..<Checkup.mostAtOnce { isFull.signal() }
            } else {
              isFull.wait()
            }
          }
          running.withLock { $0.now -= 1 }
          return .well("\(number)", "")
        }
      })
    #expect(found.map(\.check) == (0..<100).map(String.init))
    #expect(running.withLock { $0.most } == Checkup.mostAtOnce)
  }

  @Test func `nothing to check is nothing wrong`() throws {
    var checkup = checkup
    #expect(try checkup.run([]).isEmpty)
    #expect(try checkup.end() == 0)
  }
}
