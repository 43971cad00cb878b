import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of a player whose terminal, reader or disk goes away or stalls: rooms never play on without an owner, and
/// output never holds up the music.
@Suite struct OutputTests {
  let folder: TemporaryFolder
  let receiver: ReceiverProgram

  init() throws {
    folder = try TemporaryFolder()
    receiver = try ReceiverProgram("a", in: folder)
  }

  private func tone(seconds: Double) throws -> String {
    try folder.write(Tone.wave(rate: 8_000, seconds: seconds, channels: 1), to: "tone.wav")
  }

  private func playing(_ file: String) -> [String] {
    ["play", file, "--at", receiver.address, "--state-dir", folder.file("player")]
  }

  /// Runs a script with `$TUTTI`, and returns its output.
  private func shell(_ script: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", script, "bash"] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging([
      "TUTTI": Screen.programs.appending(path: "tutti").path
    ]) { $1 }
    (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, pipe)
    process.standardError = pipe
    try process.runUnblocked()
    let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }

  @Test func `closing the terminal stops the music in the rooms`() throws {
    let screen = try Screen("tutti", playing(try tone(seconds: 60)), hasSession: true)
    try screen.line { $0.hasPrefix("▶") }
    screen.hangUp()
    try receiver.program.line(with: "finished")
  }

  @Test func `with nohup the music plays on without its terminal`() throws {
    let file = try tone(seconds: 4)
    let screen = try Screen(
      "/bin/bash", ["-c", #"trap "" HUP; exec "$TUTTI" "$@""#, "bash"] + playing(file),
      hasSession: true)
    try receiver.program.line(with: "playing")
    screen.hangUp()
    try receiver.program.line(with: "finished")
    _ = try receiver.program.stop()
    #expect(try ToneRecording(folder.file("a.wav")).seconds > 3.9)
  }

  @Test func `a reader that has had enough ends the player, and the rooms are told`() throws {
    let said = try shell(
      #""$TUTTI" "$@" | head -1; echo "ended with ${PIPESTATUS[0]}""#,
      playing(try tone(seconds: 600)))
    #expect(said.hasSuffix("\nended with 0\n") && said.split(separator: "\n").count == 2, "\(said)")
    try receiver.program.line(with: "finished")
  }

  @Test func `a full disk under what is shown costs nothing but that`() throws {
    let said = try shell(
      #""$TUTTI" "$@" > /dev/full; echo "ended with $?""#, playing(try tone(seconds: 2)))
    #expect(said.contains("nothing more is shown: standard output: No space left on device"))
    #expect(said.hasSuffix("ended with 0\n"))
    #expect(said.split(separator: "\n").count == 2)
    _ = try receiver.program.stop()
    #expect(try ToneRecording(folder.file("a.wav")).seconds > 1.9)
  }

  @Test func `a reader that does not read does not hold the player up`() throws {
    let player = Process()
    let pipe = Pipe()
    player.executableURL = Screen.programs.appending(path: "tutti")
    player.arguments = playing(try tone(seconds: 600)) + ["--json", "--position-every", "0.01"]
    (player.standardInput, player.standardOutput) = (FileHandle.nullDevice, pipe)
    player.standardError = FileHandle.nullDevice
    try player.runUnblocked()
    defer { player.terminate() }
    try receiver.program.line(with: "playing")
    // F_SETPIPE_SZ and F_GETPIPE_SZ of fcntl(2), which Swift does not import.
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    _ = fcntl(descriptor, 1031, 4_096)
    try waitUntilFull(descriptor, size: fcntl(descriptor, 1032))
    let status = try Program("tutti", ["status", "--json", "--state-dir", folder.file("player")])
    #expect(try status.exitCode() == 0, "\(status.lines)")
    let stop = try Program("tutti", ["stop", "--state-dir", folder.file("player")])
    #expect(try stop.exitCode() == 0, "\(stop.lines)")
    try receiver.program.line(with: "finished")
    player.waitUntilExit()
    #expect(player.terminationStatus == 0)
  }

  /// Waits until nobody could write another line.
  private func waitUntilFull(_ descriptor: Int32, size: Int32) throws {
    let until = Date.now + 120
    var count: Int32 = 0
    while count < size - 512 {
      try #require(Date.now < until)
      _ = ioctl(descriptor, UInt(FIONREAD), &count)
      sched_yield()
    }
  }

  @Test func `in the background it plays on, and in the foreground it takes keys`() throws {
    let script = #""$TUTTI" "$@" & read; fg; printf "ended with %d\nover\n" $?; read"#
    let shell = try Screen(
      "/bin/bash", ["-mc", script, "bash"] + playing(try tone(seconds: 600)),
      hasSession: true)
    defer { shell.hangUp() }
    try receiver.program.line(with: "playing")
    shell.press("\n")
    try shell.line { $0.hasPrefix("▶") }
    shell.press("]")
    try shell.line { $0.contains("×1.05") }
    shell.press("q")
    try shell.line { $0.contains("ended with 0") }
    try receiver.program.line(with: "finished")
  }

  @Test func `what strangers call their files does not reach the terminal raw`() throws {
    let name = "\u{1B}[2J\u{9B}x\u{202E}3pm.wav"
    let missing = "/no/such/\(name)"
    let list = try folder.write("#EXTM3U\n\(missing)\n".utf8, to: "list.m3u")
    for arguments in [playing(missing), playing(list)] {
      let player = try Program("tutti", arguments)
      #expect(try player.exitCode() != 0)
      let said = player.lines.joined()
      #expect(!said.isEmpty && said.unicodeScalars.allSatisfy(isHarmless), "\(player.lines)")
    }
    let other = try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "1\(name)")
    let player = try Program("tutti", playing(other))
    try receiver.program.line(with: "playing")
    for command in ["queue", "status"] {
      let shown = try Program("tutti", [command, "--state-dir", folder.file("player")])
      #expect(try shown.exitCode() == 0)
      let said = shown.lines.joined()
      #expect(said.contains("3pm.wav") && said.unicodeScalars.allSatisfy(isHarmless))
    }
    #expect(try player.stop() == 0)
    #expect(player.lines.joined().unicodeScalars.allSatisfy(isHarmless))
  }

  private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar.value != 0x202E
  }
}
