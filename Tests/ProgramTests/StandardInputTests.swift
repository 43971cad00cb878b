import Foundation
import Glibc
import TestSupport
import Testing

/// What comes on standard input may come from anywhere: a process of its own decodes it.
@Suite struct StandardInputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A named pipe, which stays open as long as the handle.
  private func pipe() throws -> (path: String, writing: FileHandle) {
    let path = folder.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    return (path, try #require(FileHandle(forUpdatingAtPath: path)))
  }

  @Test func `a crash of what decodes standard input costs that, and the next item plays`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    let (path, writing) = try pipe()
    let next = try folder.write(Tone.wave(rate: 8_000, seconds: 2, channels: 1), to: "next.wav")
    let player = try Program(
      "tutti", ["play", "-", next, "--at", receiver.address, "--state-dir", folder.file("player")],
      input: path)
    let wave = Tone.wave(rate: 32_000, seconds: 15, channels: 1)
    try writing.write(contentsOf: wave[..<300_000])
    try receiver.program.line(with: "playing")
    for process in try confinedChildren(of: player.process.processIdentifier) {
      kill(process, SIGSEGV)
    }
    // Nobody may read it any more, and then a pipe that is full would keep the test for ever.
    _ = fcntl(writing.fileDescriptor, F_SETFL, O_NONBLOCK)
    try? writing.write(contentsOf: wave[300_000..<330_000])
    try player.line(with: "standard input: damaged: the program that decodes it crashed on it")
    #expect(try player.exitCode() == 65)
  }
}
