import Foundation
import TestSupport
import Testing

/// Tests of the receiver's message and exit code when it cannot do what it was told.
@Suite struct ReceiverStartTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func receiver(_ arguments: String...) throws -> Program {
    try Program("tutti-receiver", ["--no-mdns"] + arguments)
  }

  @Test(arguments: [
    (["--name", ""], "--name must have 1 to 63 bytes and no control characters"),
    (["--name", "a\nb"], "--name must have 1 to 63 bytes and no control characters"),
    (["--name", String(repeating: "é", count: 32)], "--name must have 1 to 63 bytes"),
    (["--port", "65536"], "--port must be 0 to 65535"),
    (["--start-volume", "101"], "--start-volume must be 0 to 100"),
    (["--volume-limit", "0"], "--volume-limit must be 1 to 100"),
    (["--buffer", "0"], "--buffer must be 1 to 4096 MiB"),
    (["--buffer-minutes", "601"], "--buffer-minutes must be 1 to 600"),
    (["--idle", "0"], "--idle must be 1 to 86400 seconds"),
    (["--output", "mp3"], "--output mp3 is not known; allowed are: alsa, null, wav:PATH"),
    (["--output", "wav:"], "--output wav: needs a path"),
    (["--format", "s8"], "--format s8 is not known; allowed are: s32, s24, s24_3le, float, s16"),
    (["--access", "closed"], "--access closed is not known"),
    (["--log-level", "loud"], "--log-level loud is not known; allowed are: error"),
  ])
  func `a wrong option is named, with what is allowed`(arguments: [String], line: String) throws {
    let receiver = try Program(
      "tutti-receiver", arguments + ["--no-mdns", "--state-dir", folder.file("state")])
    #expect(try receiver.exitCode() == 64)
    #expect(receiver.lines.count == 1)
    #expect(receiver.lines.first?.hasPrefix("tutti-receiver: \(line)") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
  }

  @Test func `a port in use is named`() throws {
    let other = try TestPeer { _ in }
    let receiver = try receiver("--port", "\(other.port)", "--state-dir", folder.file("state"))
    #expect(try receiver.exitCode() == 69)
    #expect(
      receiver.lines == [
        "tutti-receiver: port \(other.port) is in use by another program; choose another with --port"
      ])
  }

  @Test func `a recording that cannot be made is known before the music`() throws {
    let receiver = try receiver(
      "--output", "wav:/no/such/a.wav", "--state-dir", folder.file("state"))
    #expect(try receiver.exitCode() == 73)
    #expect(
      receiver.lines == [
        "tutti-receiver: cannot write /no/such/a.wav: No such file or directory; choose another file "
          + "with --output wav:PATH"
      ])
  }

  @Test func `a filter that is none, or is too long a file, is refused`() throws {
    let text = try folder.write(Array("no filter".utf8), to: "text.wav")
    let long = try folder.write([UInt8](repeating: 0, count: 2 << 20 + 1), to: "long.wav")
    for (path, code, line) in [
      (text, 64, "\(text) cannot be the filter of --fir: it is not a WAV file"),
      (long, 69, "cannot read the filter of --fir: "),
      (folder.file("none"), 69, "there is no file"),
    ] as [(String, Int32, String)] {
      let receiver = try receiver("--fir", path, "--state-dir", folder.file("state"))
      #expect(try receiver.exitCode() == code)
      #expect(receiver.lines.first?.hasPrefix("tutti-receiver: \(line)") == true)
      #expect(receiver.lines.count == 1)
    }
  }

  @Test func `a state directory that is a file is named`() throws {
    let file = try folder.write([], to: "file")
    let receiver = try receiver("--state-dir", file)
    #expect(try receiver.exitCode() == 69)
    #expect(receiver.lines.count == 1)
    #expect(receiver.lines.first?.contains("\(file): Not a directory") == true)
  }

  @Test func `two receivers do not share a state directory`() throws {
    let first = try ReceiverProgram("a", in: folder)
    let second = try receiver("--port", "0", "--state-dir", folder.file("state-a"))
    #expect(try second.exitCode() == 69)
    #expect(second.lines.count == 1)
    #expect(second.lines.first?.contains("another tutti-receiver keeps its state in") == true)
    #expect(try first.program.stop() == 0)
  }

  @Test func `damaged state is named and made anew`() throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("state-a"), withIntermediateDirectories: true)
    _ = try folder.write([1, 2, 3], to: "state-a/receiver-key.pem")
    _ = try folder.write("volume 400\nvolume 4000\n\u{0}\u{1}".utf8, to: "state-a/memory")
    let receiver = try ReceiverProgram("a", in: folder)
    #expect(receiver.program.lines(with: "receiver-key.pem was damaged").count == 1)
    #expect(receiver.program.lines(with: "2 of 3 lines are damaged").count == 1)
    #expect(try receiver.program.stop() == 0)

    let again = try ReceiverProgram("a", in: folder)
    #expect(again.program.lines(with: "receiver-key.pem was damaged").isEmpty)
  }

  @Test func `an absent sound device is named, and the receiver is there all the same`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--device", "hw:77,7")
    let line = try receiver.program.line(with: "no sound device: ")
    #expect(line.contains("there is no sound device \"hw:77,7\"; `aplay -L` lists those"))
    #expect(receiver.program.lines(with: "hw:77,7").count == 1)
    #expect(try receiver.program.stop() == 0)
  }

  @Test func `a full disk ends a recording with what is known`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "wav:/dev/full")
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 3), to: "tone.wav")
    let player = try player([tone], at: [receiver.address], in: folder)
    #expect(try receiver.program.exitCode() == 74)
    #expect(
      receiver.program.lines.last
        == "tutti-receiver: cannot write /dev/full: No space left on device; what was recorded is complete"
    )
    // The reason for the end of a connection whose other side has gone depends on the data that was
    // under way.
    try player.line(with: "a: gone (")
    _ = try player.stop()
  }
}
