import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of AirPlay with the real shairport-sync, to which PulseAudio plays as desktops do.
@Suite struct AirPlayTests {
  private static let needs = [
    "/usr/bin/shairport-sync", "/usr/bin/pulseaudio", "/usr/bin/paplay", "/usr/sbin/avahi-daemon",
    "/usr/bin/dbus-daemon",
  ]
  /// False where one of them, or PulseAudio's module for AirPlay, is not installed.
  static let isPossible =
    needs.allSatisfy { access($0, X_OK) == 0 }
    && FileManager.default.subpaths(atPath: "/usr/lib")?
      .contains { $0.hasSuffix("/module-raop-sink.so") } ?? false

  private let folder: TemporaryFolder
  private let bed: AvahiBed

  init() throws {
    folder = try TemporaryFolder()
    bed = try AvahiBed(directory: "/tmp/tutti-airplay-\(getpid())")
    try bed.startBus()
    try bed.startDaemon()
  }

  private static func freePort() throws -> UInt16 {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { address in
      try address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        try #require(bind(listener, address, size) == 0)
        try #require(getsockname(listener, address, &size) == 0)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// The sound server of a desktop, whose only sink is a receiver of AirPlay at this port.
  private func desktop(_ port: UInt16) throws -> (server: Program, environment: [String: String]) {
    let run = folder.file("run")
    try FileManager.default.createDirectory(
      atPath: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let environment = ["XDG_RUNTIME_DIR": run, "PULSE_RUNTIME_PATH": run, "HOME": run]
    let sink =
      "module-raop-sink server=[127.0.0.1]:\(port) protocol=UDP encryption=none codec=PCM "
      + "channels=2 rate=44100 format=s16le sink_name=raop"
    let server = try Program(
      "/usr/bin/pulseaudio",
      [
        "-n", "--exit-idle-time=-1", "--daemonize=no", "-L", sink, "-L",
        "module-native-protocol-unix",
      ],
      environment: environment)
    while access(run + "/native", F_OK) != 0 { sched_yield() }
    return (server, environment)
  }

  @Test(.enabled(if: isPossible), .timeLimit(.minutes(4)))
  func `what a desktop plays to shairport-sync is heard in all rooms`() throws {
    let rooms = try ["a", "b", "c"].map { try ReceiverProgram($0, in: folder) }
    let port = try Self.freePort()
    let added = try Program(
      "tutti",
      ["sources", "add", "airplay", "--config", try folder.write([], to: "airplay.conf")])
    #expect(try added.exitCode() == 0, "\(added.lines)")
    // Another port than that of a receiver of AirPlay that may run here.
    let settings = try String(
      decoding: folder.bytes(of: "airplay-airplay.conf"), as: UTF8.self)
    try folder.write(
      Array(settings.replacing("general = {", with: "general = {\n  port = \(port);").utf8),
      to: "airplay-airplay.conf")
    let daemon = try Daemon(
      in: folder, arguments: ["--config", folder.file("airplay.conf")],
      environment: bed.environment)
    _ = try daemon.run(
      ["play", "AirPlay"] + rooms.flatMap { ["--at", $0.address] })
    for room in rooms { try room.program.line(with: "playing") }
    try daemon.wait { try $0.run("sources")[1].contains("silent") }
    while try !Self.isOpen(port) { sched_yield() }
    let (server, environment) = try desktop(port)
    let tone = try folder.write(Tone.wave(rate: 44_100, seconds: 8), to: "tone.wav")
    let play = try Program("/usr/bin/paplay", ["--device=raop", tone], environment: environment)
    #expect(try play.exitCode() == 0, "\(play.lines) \(server.lines)")
    // AirPlay is two seconds late, and rooms hold two more.
    let end = try #require(daemon.status()["positionS"] as? Double) + 5
    try daemon.wait {
      try $0.status()["positionS"] as? Double ?? 0 >= end
        || $0.status()["state"] as? String == "paused"
    }
    #expect(daemon.program.lines(with: "is started again").isEmpty, "\(daemon.program.lines)")
    #expect(try daemon.stop() == 0)
    for (room, name) in zip(rooms, ["a", "b", "c"]) {
      _ = try room.program.stop()
      let heard = try ToneRecording(folder.file("\(name).wav")).blocks().map(\.amplitude)
      let count = heard.count { abs($0 - Tone.amplitude) < 0.05 }
      #expect(count >= 65, "\(name): \(heard)")
    }
    _ = server
  }

  private static func isOpen(_ port: UInt16) throws -> Bool {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(probe, $0, size) == 0 }
    }
  }
}
