import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon that plays in one room, while sources attack another group.
private struct BesiegedDaemon {
  let folder: TemporaryFolder
  let daemon: Daemon
  private let recorder: ReceiverProgram
  private let victim: ReceiverProgram

  /// Returns once music plays.
  init() throws {
    folder = try TemporaryFolder()
    recorder = try ReceiverProgram("a", in: folder)
    victim = try ReceiverProgram("b", in: folder, "--output", "null")
    daemon = try Daemon(in: folder)
    // One item that lasts longer than the attacks, so that one process decodes it, and none is started for a next one.
    let music = try folder.write(Tone.wave(rate: 8_000, seconds: 900, channels: 1), to: "music.wav")
    _ = try daemon.run("play", music, "--at", recorder.address)
    try recorder.program.line(with: "playing")
  }

  func play(_ sources: [String]) throws {
    let last = try folder.write(Tone.wave(rate: 8_000, seconds: 2, channels: 1), to: "last.wav")
    _ = try daemon.run(["play"] + sources + [last, "--at", victim.address])
  }

  /// Expects that the item after the hostile ones plays, that those are never heard, and that the music in the other
  /// room has not lost a frame.
  func expectAllIsWell() throws {
    try victim.program.line(with: "playing")
    #expect(try daemon.rooms("--group", "a") == ["a": "playing"])
    #expect(try daemon.stop() == 0)
    #expect(try recorder.program.stop() == 0)
    let recording = try ToneRecording(folder.file("a.wav"))
    // A missing frame would be a jump within a block. A busy machine steers by more than usual.
    expectOneTone(recording, seconds: recording.seconds, flaw: 1e-3, steering: 0.2)
  }

  /// Returns the process that decodes an address: the oldest one without an open file. The process that waits for the
  /// next item is younger.
  func decoderOfAddress() throws -> pid_t {
    let daemon = self.daemon.program.process.processIdentifier
    return try #require(confinedChildren(of: daemon).first { !hasFile($0) })
  }

  private func hasFile(_ process: pid_t) -> Bool {
    let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    return (open ?? []).contains { number in
      let place = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(process)/fd/\(number)")
      return place?.hasSuffix(".wav") == true
    }
  }
}

/// Tests of strangers' sources that attack the process that decodes them, while the daemon plays.
@Suite struct HostileDaemonTests {
  @Test func `a crash of the process that decodes costs the item, and the next one plays`() throws {
    let besieged = try BesiegedDaemon()
    let isDead = DispatchSemaphore(value: 0)
    let server = try HostileServer { _ in
      isDead.wait()
      isDead.signal()
      return .file([UInt8](repeating: 1, count: 100_000))
    }
    try besieged.play([server.url("crash.mp3")])
    server.waitUntilAsked()
    kill(try besieged.decoderOfAddress(), SIGSEGV)
    isDead.signal()
    try besieged.daemon.program.line("a crash") {
      $0.contains("crash.mp3") && $0.contains("the program that decodes it crashed on it")
    }
    try besieged.expectAllIsWell()
  }
}

/// These tests take a minute.
@Suite struct HostileDaemonLongTests {
  @Test func `hostile sources are refused or survived, and the music stays whole`() throws {
    let besieged = try BesiegedDaemon()
    let isStopped = DispatchSemaphore(value: 0)
    let server = try HostileServer(Self.answer)
    let hanging = try HostileServer { _ in
      isStopped.wait()
      isStopped.signal()
      return .file([UInt8](repeating: 1, count: 100_000))
    }
    let served = Attack.lists.enumerated().map { "\($0)/\($1.files[0].name)" } + Self.others
    let sources = try files(in: besieged.folder) + served.map(server.url)
    try besieged.play(sources + [hanging.url("hang.mp3")])
    for source in sources { try besieged.daemon.program.line(with: source) }
    hanging.waitUntilAsked()
    kill(try besieged.decoderOfAddress(), SIGSTOP)
    isStopped.signal()
    try besieged.daemon.program.line("a hang") {
      $0.contains("hang.mp3") && $0.contains("gave no answer for 20 s")
    }
    try besieged.expectAllIsWell()
    #expect(server.requestCount < sources.count * 260)
  }

  /// Leaves lists to the server that the command line would read itself.
  private func files(in folder: TemporaryFolder) throws -> [String] {
    try Attack.lists.enumerated().compactMap { number, attack in
      for file in attack.files {
        try folder.write(Array(file.text.utf8), to: "\(number)/\(file.name)")
      }
      let name = attack.files[0].name
      return name.hasSuffix(".m3u8") ? nil : folder.file("\(number)/\(name)")
    }
  }

  private static let others = [
    "qualities/0.m3u8", "many.m3u8", "tags.mp3", "zeros.mp3", "loop.mp3", "passwd.mp3", "gone.mp3",
  ]

  private static func answer(_ path: String) -> HostileServer.Answer? {
    let parts = path.split(separator: "/").map(String.init)
    switch parts.first {
    case "qualities":
      let next = (Int(parts[1].prefix { $0.isNumber }) ?? 0) + 1
      return .file(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(next).m3u8\n".utf8))
    case "many.m3u8":
      let lines = (0..<10_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\n\($0)\n" }
      return .file(Array(("#EXTM3U\n" + lines.joined()).utf8))
    case "tags.mp3":
      // A tag of 255 MB, which contains a picture of the same size.
      let tag = Array("ID3".utf8) + [4, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F]
      let picture = Array("APIC".utf8) + [0x7F, 0x7F, 0x7F, 0x70, 0, 0]
      return .endless(tag + picture, [UInt8](repeating: 0x20, count: 65_536))
    case "zeros.mp3": return .endless([], [UInt8](repeating: 0, count: 65_536))
    case "loop.mp3": return .redirect("/loop.mp3")
    case "passwd.mp3": return .redirect("file:///etc/passwd")
    default:
      guard parts.count == 2, let number = Int(parts[0]), Attack.lists.indices.contains(number)
      else { return nil }
      return Attack.lists[number].files.first { $0.name == parts[1] }
        .map { .file(Array($0.text.utf8)) }
    }
  }
}
