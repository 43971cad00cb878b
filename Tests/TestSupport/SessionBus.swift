import Foundation

/// A session bus of the test's own. Needs dbus-daemon.
package final class SessionBus {
  package static let isInstalled = access("/usr/bin/dbus-daemon", X_OK) == 0
  /// True if players on it can be shown and steered.
  package static let hasTools =
    isInstalled
    && ["busctl", "gdbus", "playerctl"].allSatisfy { access("/usr/bin/" + $0, X_OK) == 0 }
  private let path: String
  private var daemon: Program?

  package init(in folder: TemporaryFolder, isStarted: Bool = true) throws {
    path = folder.file("bus")
    if isStarted { try start() }
  }

  package var address: String { "unix:path=\(path)" }
  /// Variables that point a program to the bus. playerctl looks for players on the system bus as well, and gives up if that
  /// one's socket is there and nobody listens; nothing at all at an address it takes for a bus without players.
  package var environment: [String: String] {
    ["DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": address + "-system"]
  }

  /// Returns once it answers, under the same address as before.
  package func start() throws {
    let daemon = try Program(
      "/usr/bin/dbus-daemon",
      ["--session", "--nofork", "--nopidfile", "--print-address=1", "--address=\(address)"])
    try daemon.line(with: "unix:path=")
    self.daemon = daemon
  }

  package func kill() throws {
    signal(SIGKILL)
    _ = try daemon?.exitCode()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// It exists and accepts data, but does not answer until it is thawed.
  package func freeze() { signal(SIGSTOP) }
  package func thaw() { signal(SIGCONT) }

  private func signal(_ number: Int32) {
    if let process = daemon?.process { Foundation.kill(process.processIdentifier, number) }
  }

  /// Runs a program on this bus. Returns its lines, and what it ended with.
  package func run(_ program: String, _ arguments: [String]) throws -> (
    lines: [String], code: Int32
  ) {
    let program = try Program(
      "/usr/bin/" + program, arguments,
      environment: environment.merging(["LC_ALL": "C.UTF-8"]) { $1 })
    let code = try program.exitCode()
    return (program.lines, code)
  }

  /// Calls a method of a player, of `org.mpris.MediaPlayer2` where `interface` is empty.
  package func call(
    _ name: String, _ interface: String = ".Player", _ arguments: [String]
  ) throws -> (lines: [String], code: Int32) {
    try run(
      "busctl",
      [
        "--user", "--timeout=60", "--", "call", name, "/org/mpris/MediaPlayer2",
        "org.mpris.MediaPlayer2" + interface,
      ] + arguments)
  }
}
