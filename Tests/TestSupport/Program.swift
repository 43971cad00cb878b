import Dispatch
package import Foundation
import Synchronization

/// One of the finished programs at work, with its output and errors in lines. It ends with its owner.
package final class Program: Sendable {
  package struct Silence: Error, CustomStringConvertible {
    package let description: String
  }

  /// Timeout, longer than anything here takes.
  private static let never = DispatchTimeInterval.seconds(120)

  private let name: String
  package let process: Process
  private let text = Mutex("")
  private let ended = Mutex(false)
  private let news = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - name: one of our programs, or the path of any other.
  ///   - input: a file that becomes standard input.
  ///   - environment: variables in addition to those of this process.
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

  /// Returns the path of one of our programs.
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

  /// Returns the first line that contains `part`, now or later.
  @discardableResult
  package func line(with part: String) throws -> String {
    try line("\"\(part)\"") { $0.contains(part) }
  }

  /// Returns the first line for which `fits` returns true, now or later; `what` describes it.
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

  /// Waits for the end and returns the exit code; a negative one is the signal that ended the program.
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

  /// Returns a value of `/proc/PID/status`, such as `VmHWM`, in KiB.
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
  /// Runs the process with no signal blocked, like a shell. A program inherits the blocked signals of the thread that
  /// starts it, and threads that run tests block nearly everything.
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

  /// Returns once it listens. Anybody may play, unless the arguments set an access policy.
  package init(
    _ name: String, in folder: TemporaryFolder, _ arguments: String...,
    environment: [String: String] = [:]
  ) throws {
    let output = arguments.contains("--device") ? [] : ["--output", "wav:\(folder.file(name)).wav"]
    let access = arguments.contains("--access") ? [] : ["--access", "open"]
    // Recordings are compared with the played audio.
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
