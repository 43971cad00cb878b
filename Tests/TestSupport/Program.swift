import Dispatch
package import Foundation
import Synchronization

/// One of the finished programs at work, with what it says on standard error and output, in lines. Ends with its owner.
package final class Program: Sendable {
  package struct Silence: Error, CustomStringConvertible {
    package let description: String
  }

  /// Longer than anything here takes: what has not come by then never will.
  private static let never = DispatchTimeInterval.seconds(120)

  private let name: String
  package let process: Process
  private let text = Mutex("")
  private let ended = Mutex(false)
  private let news = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - name: one of ours, or the path of any other.
  ///   - input: a file that is its standard input.
  ///   - environment: on top of this process's.
  package init(
    _ name: String, _ arguments: [String], input: String = "/dev/null",
    environment: [String: String] = [:]
  ) throws {
    self.name = name
    process = Process()
    process.executableURL =
      name.hasPrefix("/") ? URL(filePath: name) : Self.directory.appending(path: name)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: URL(filePath: input))
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe
    try process.runUnblocked()
    let output = pipe.fileHandleForReading
    Thread { [weak self] in
      while case let data = output.availableData, !data.isEmpty {
        self?.said(String(decoding: data, as: UTF8.self))
      }
      self?.hasEnded()
    }.start()
  }

  deinit {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The programs are built beside the tests.
  private static let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// Where one of ours is.
  package static func path(of name: String) -> String { directory.appending(path: name).path }

  private func said(_ more: String) {
    text.withLock { $0 += more }
    news.signal()
  }

  private func hasEnded() {
    ended.withLock { $0 = true }
    news.signal()
  }

  /// Complete lines so far.
  package var lines: [String] {
    text.withLock { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }
      .map(String.init)
  }

  package func lines(with part: String) -> [String] { lines.filter { $0.contains(part) } }

  /// The first line with `part` in it, now or later.
  @discardableResult
  package func line(with part: String) throws -> String {
    try line("\"\(part)\"") { $0.contains(part) }
  }

  /// The first line that `fits`, now or later; `what` describes it.
  @discardableResult
  package func line(_ what: String, _ fits: (String) -> Bool) throws -> String {
    let deadline = DispatchTime.now() + Self.never
    while true {
      let isOver = ended.withLock { $0 }
      if let line = lines.first(where: fits) { return line }
      guard !isOver, news.wait(timeout: deadline) == .success else {
        throw Silence(description: "\(name) did not say \(what) but: \(lines)")
      }
    }
  }

  /// Waits for the end and returns the exit code; a negative one is the signal that ended it.
  package func exitCode() throws -> Int32 {
    let deadline = DispatchTime.now() + Self.never
    while !ended.withLock({ $0 }) {
      guard news.wait(timeout: deadline) == .success else {
        throw Silence(description: "\(name) does not end: \(lines)")
      }
    }
    process.waitUntilExit()
    let status = process.terminationStatus
    return process.terminationReason == .uncaughtSignal ? -status : status
  }

  package func stop() throws -> Int32 {
    process.terminate()
    return try exitCode()
  }

  /// Of `/proc/PID/status`, such as `VmHWM`, in KiB.
  package func status(_ key: String) throws -> Int {
    let path = "/proc/\(process.processIdentifier)/status"
    let line = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .first { $0.hasPrefix("\(key):") }
    return try given(
      line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }, key)
  }

  package func descriptorCount() throws -> Int {
    try FileManager.default.contentsOfDirectory(
      atPath: "/proc/\(process.processIdentifier)/fd"
    ).count
  }
}

extension Process {
  /// Runs it with no signal blocked, as a shell would: a program inherits what is blocked in the thread that starts it, and
  /// in those that run tests nearly everything is.
  package func runUnblocked() throws {
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try run()
  }
}

/// A receiver without a sound card and without discovery, on a port of its own.
package struct ReceiverProgram {
  package let program: Program
  package let port: UInt16

  /// Returns once it listens. Anybody may play, unless the arguments say who.
  package init(
    _ name: String, in folder: TemporaryFolder, _ arguments: String...,
    environment: [String: String] = [:]
  ) throws {
    let output = arguments.contains("--device") ? [] : ["--output", "wav:\(folder.file(name)).wav"]
    let access = arguments.contains("--access") ? [] : ["--access", "open"]
    // Recordings are compared with what was played.
    let volume = arguments.contains("--start-volume") ? [] : ["--start-volume", "100"]
    program = try Program(
      "tutti-receiver",
      ["--name", name, "--port", "0", "--no-mdns", "--state-dir", folder.file("state-\(name)")]
        + (arguments.contains("--output") ? [] : output) + access + volume + arguments,
      environment: environment)
    let line = try program.line(with: "listening: \(name) on port ")
    port = try given(UInt16(line.split(separator: " ").last ?? ""), "a port in: \(line)")
  }

  package var address: String { "127.0.0.1:\(port)" }
}

/// A player that sends to the given addresses.
package func player(
  _ files: [String], at addresses: [String], in folder: TemporaryFolder, _ arguments: String...,
  state name: String = "player", input: String = "/dev/null"
) throws -> Program {
  try Program(
    "tutti",
    ["play"] + files + addresses.flatMap { ["--at", $0] }
      + ["--state-dir", folder.file(name)] + arguments,
    input: input)
}
