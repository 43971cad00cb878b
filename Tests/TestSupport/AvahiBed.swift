import Dispatch
import Glibc
import Synchronization

/// A system bus and an Avahi daemon of the test's own. They see only the loopback, and end with this object, or
/// with the test's process. Needs dbus-daemon and avahi-daemon, and either root or user namespaces.
package final class AvahiBed {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private static let script = #filePath.replacing(
    "TestSupport/AvahiBed.swift", with: "Support/avahi-bed.sh")

  private let directory: String
  private let process: pid_t
  private let commands: Int32
  private let answers: Int32

  /// Points this process to the bus, which does not run yet. The bus keeps its address from one test to the next,
  /// because the D-Bus library reads it once in a process.
  package convenience init() throws {
    try self.init(directory: "/tmp/tutti-avahi-\(getpid())")
    for (name, value) in environment { setenv(name, value, 1) }
  }

  /// For programs of the test, which get `environment`. The directory must not exist.
  package init(directory: String) throws {
    self.directory = directory
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    guard pipe(&input) == 0, pipe(&output) == 0 else {
      throw Failure(description: "no pipes can be made")
    }
    // The script would not see the end of its input if it held the other end too.
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    commands = input[1]
    answers = output[0]
    process = try Self.spawn(
      ["/bin/sh", Self.script, directory], input: input[0], output: output[1])
    close(input[0])
    close(output[1])
    try expect("ready")
  }

  /// Sends `exit`, because the end of the pipe may not come: a program that another test was starting while the
  /// pipe was made may hold its other end.
  deinit {
    let line = Array("exit\n".utf8)
    _ = write(commands, line, line.count)
    close(commands)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    close(answers)
  }

  /// Environment variables that point a program to the bus.
  package var environment: [String: String] {
    ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory)/bus"]
  }

  /// These return when the process answers, or has gone.
  package func startBus() throws { try command("start_bus") }
  package func startDaemon() throws { try command("start_daemon") }
  package func kill(_ victim: Process) throws { try command("stop_\(victim)") }
  /// Makes a process hang: it exists and accepts data, but does not answer until it is thawed.
  package func freeze(_ victim: Process) throws { try command("freeze_\(victim)") }
  package func thaw(_ victim: Process) throws { try command("thaw_\(victim)") }

  /// The bus passes the daemon no more services to announce.
  package func refuseServices() throws { try command("refuse_services") }
  package func allowServices() throws { try command("allow_services") }

  package enum Process { case bus, daemon }

  private func command(_ name: String) throws {
    let line = Array("\(name)\n".utf8)
    guard write(commands, line, line.count) == line.count else {
      throw Failure(description: "the script that runs the daemons has ended")
    }
    try expect(name)
  }

  /// The script answers each command with one line. Any other beginning of the line is a reason.
  private func expect(_ answer: String) throws {
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      var ready = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
      var byte: UInt8 = 0
      guard poll(&ready, 1, 60_000) == 1, read(answers, &byte, 1) == 1 else {
        throw Failure(description: "no \"\(answer)\" from the script that runs the daemons")
      }
      line.append(byte)
    }
    let text = String(decoding: line.dropLast(), as: UTF8.self)
    guard text == answer else { throw Failure(description: text) }
  }

  private static func spawn(_ arguments: [String], input: Int32, output: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var process = pid_t()
    let error = posix_spawn(&process, arguments[0], &actions, nil, &pointers, environ)
    guard error == 0 else {
      throw Failure(description: "sh cannot be started: \(String(cString: strerror(error)))")
    }
    return process
  }
}
