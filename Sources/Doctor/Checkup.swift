package import Clock
package import Diagnosis
import Glibc
import LinuxIO
import ProgramJSON

/// Makes checks side by side, each on a thread of its own, and prints their findings in the order of the checks, as
/// soon as they are known. A check that does not come back is left behind.
package struct Checkup {
  package struct Check: Sendable {
    package var name: String
    /// Time that the check may take.
    package var timeout: Nanoseconds
    /// The finding if it has not come back by then.
    package var silence: Finding
    package var look: @Sendable () -> [Finding]

    package init(
      _ name: String, timeout: Nanoseconds = .seconds(3), ifSilent silence: Finding,
      look: @escaping @Sendable () -> [Finding]
    ) {
      self.name = name
      self.timeout = timeout
      self.silence = silence
      self.look = look
    }
  }

  /// Threads that run at a time.
  static let mostAtOnce = 16

  private let isJSON: Bool
  private let text: FindingText
  private let print: (String) throws -> Void
  private let progress = ProgressText()
  private var findings: [Finding] = []

  /// - Parameters:
  ///   - width: of the terminal on standard output; nil if it is not a terminal.
  ///   - print: writes lines to standard output.
  package init(
    isJSON: Bool, isColoured: Bool, width: Int?, print: @escaping (String) throws -> Void
  ) {
    self.isJSON = isJSON
    text = FindingText(isColoured: isColoured, width: width)
    self.print = print
  }

  /// Makes the checks. Returns their findings, in the order of the checks.
  @discardableResult
  package mutating func run(_ checks: [Check]) throws -> [Finding] {
    let reactor = try Reactor()
    let inbox = Inbox<(Int, [Finding])>(limit: checks.count, waker: reactor.waker)
    var results = [[Finding]?](repeating: nil, count: checks.count)
    var begun: [(check: Int, giveUpAt: LocalTime)] = []
    var printed = 0
    while printed < checks.count {
      let isWorking = begun.count { results[$0.check] == nil }
      for check in begun.count..<min(checks.count, begun.count + Self.mostAtOnce - isWorking) {
        begun.append((check, HostClock.now + checks[check].timeout))
        try start(checks[check]) { inbox.post((check, $0)) }
      }
      let waiting = begun.filter { results[$0.check] == nil }
      progress.show(waiting.map { checks[$0.check].name })
      _ = try reactor.wait(until: waiting.map(\.giveUpAt).min())
      for (check, found) in inbox.take() where results[check] == nil { results[check] = found }
      for one in begun where results[one.check] == nil && one.giveUpAt <= HostClock.now {
        results[one.check] = [checks[one.check].silence]
      }
      while printed < checks.count, let found = results[printed] {
        try show(found)
        printed += 1
      }
    }
    progress.clear()
    return results.flatMap { $0 ?? [] }
  }

  private func start(_ check: Check, _ done: @escaping @Sendable ([Finding]) -> Void) throws {
    let thread = try RealtimeThread.start(name: "check", priority: nil) { done(check.look()) }
    thread.detach()
  }

  /// Prints findings that were made elsewhere.
  package mutating func show(_ found: [Finding]) throws {
    findings += found
    progress.clear()
    for finding in found {
      if isJSON {
        try print(String(decoding: try JSON.encode(finding), as: UTF8.self))
      } else {
        for line in text.lines(finding) { try print(line) }
      }
    }
  }

  /// Prints the summary, and returns the program's exit code: 1 if something is wrong.
  package func end() throws -> Int32 {
    if !isJSON {
      try print("")
      try print(text.summary(of: findings))
    }
    return findings.contains { $0.verdict == .wrong } ? 1 : 0
  }
}

/// The line that names the checks that are awaited, if standard error is a terminal.
private final class ProgressText {
  private static let width = 60
  private let isTerminal =
    isatty(STDERR_FILENO) == 1
    && !["", "dumb"].contains(getenv("TERM").map { String(cString: $0) } ?? "")
  private var isShown = false

  func show(_ names: [String]) {
    guard isTerminal, !names.isEmpty else { return }
    write("\r\u{1B}[K… " + String(names.joined(separator: ", ").prefix(Self.width)))
    isShown = true
  }

  func clear() {
    if isShown { write("\r\u{1B}[K") }
    isShown = false
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
