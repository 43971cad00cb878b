import Foundation
import TestSupport
import Testing

/// Tests of the virtual sound card of the tests and the bench, which is used like any card.
@Suite(.timeLimit(.minutes(10))) struct VirtualCardTests {
  /// The card runs ten times slower than the clock, so that its ring lasts for ten seconds.
  @Test func `a program that polls before it writes is woken as by the kernel's cards`() throws {
    let card = try VirtualCard("PPM=-900000")
    let program = card.directory.appending(path: "polls-first").path
    #expect(try run("/usr/bin/cc", "-o", program, Self.source, "-lasound") == "")
    #expect(try run(program, card.device) == "")
    #expect(try card.heard(as: Int32.self) == Array(0..<48_960))
  }

  private static let source = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Support/virtual-card/polls_first.c").standardized.path

  /// Returns the program's output, or its exit code if it failed without output.
  private func run(_ program: String, _ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let words = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return words.isEmpty && process.terminationStatus != 0
      ? "exit code \(process.terminationStatus)" : words
  }
}
