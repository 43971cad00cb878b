import Audio
import Clock
import Dispatch
import FFmpegSource
import Foundation
import Glibc
import LinuxIO
import Synchronization
import TestSupport
import Testing

@testable import Driver
@testable import Sender

/// Inputs whose sound comes from a program, with scripts in the place of those that others have written.
@Suite struct InputProgramTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Lines and events that came from the program's thread.
  private final class Heard: Sendable {
    let lines = Mutex<[String]>([])
    let events = Mutex<[InputEvent]>([])
    let news = DispatchSemaphore(value: 0)

    func tell(_ line: String) {
      lines.withLock { $0.append(line) }
      news.signal()
    }

    func hear(_ event: InputEvent) {
      events.withLock { $0.append(event) }
      news.signal()
    }

    func wait(until isSo: () -> Bool) throws {
      while !isSo() {
        try #require(news.wait(timeout: .now() + 60) == .success, "\(lines.withLock { $0 })")
      }
    }
  }

  private static let raw = RawFormat(
    audio: AudioFormat(sampleRate: 8_000, channelCount: 1), sampleType: .int16)

  private func inputs(_ script: String, _ events: InputProgram.Events = .json) throws -> LiveInputs
  {
    let path = try folder.write(Array(("#!/bin/sh\n" + script).utf8), to: "script")
    chmod(path, 0o700)
    let program = InputProgram.Settings(
      command: [path], raw: Self.raw, events: events, memoryMiB: 256)
    return LiveInputs([.init(name: "Phone", source: .program(program), raw: Self.raw)])
  }

  /// - Parameter whenTold: called on the program's thread with each line.
  private func start(
    _ inputs: LiveInputs, _ heard: Heard, whenTold: @escaping @Sendable () -> Void = {}
  ) {
    inputs.startPrograms(
      tell: {
        whenTold()
        heard.tell($0)
      },
      hears: {
        #expect($0 == "Phone")
        heard.hear($1)
      })
  }

  private func process() throws -> Int32 {
    try #require(Int32(String(decoding: folder.bytes(of: "pid"), as: UTF8.self).dropLast()))
  }

  /// 1 kHz.
  private func writeTone() throws {
    let period: [Int16] = [0, 11_585, 16_384, 11_585, 0, -11_585, -16_384, -11_585]
    let samples = (0..<8_000).flatMap { place in
      let sample = UInt16(bitPattern: period[place % 8])
      return [UInt8(sample & 0xff), UInt8(sample >> 8)]
    }
    try folder.write(samples, to: "tone")
  }

  @Test(.timeLimit(.minutes(2)))
  func `a program that sounds again after its pause plays, though it does not say so`() throws {
    try writeTone()
    let inputs = try inputs(
      """
      cd \(folder.path)
      cat tone
      echo '{"state":"paused"}' >&3
      sleep 1.5
      while :; do cat tone; done
      """)
    defer { inputs.awaitEnd() }
    defer { inputs.stop() }
    let heard = Heard()
    start(inputs, heard)
    try heard.wait { heard.events.withLock { !$0.isEmpty } }
    #expect(heard.events.withLock { $0 } == [.paused])
    try heard.wait { heard.events.withLock { $0.count > 1 } }
    #expect(heard.events.withLock { $0 } == [.paused, .playing])
  }

  @Test(.timeLimit(.minutes(2)))
  func `its sound is heard, its title is shown, and killed it is back after one line`() throws {
    try writeTone()
    let inputs = try inputs(
      """
      cd \(folder.path); echo $$ > pid
      echo '{"title":"Song","artist":"Singer","state":"playing","volume":20}' >&3
      while :; do cat tone; done
      """)
    let heard = Heard()
    start(inputs, heard)
    defer {
      inputs.stop()
      inputs.awaitEnd()
    }
    let source = try inputs.open("Phone", interruption: ReadInterruption()) { _ in }
    for round in 1...2 {
      try heard.wait { heard.events.withLock { $0.count } == 2 * round }
      var frames: [Float] = []
      while source.metadata.title != "Song" || (frames.suffix(800).max() ?? 0) < 0.3 {
        frames.removeAll()
        try source.read(8_000, appendingTo: &frames)
      }
      #expect(source.metadata.artist == "Singer")
      guard round == 1 else { break }
      kill(try process(), SIGKILL)
      while (inputs.level("Phone") ?? 0) > -60 || source.metadata.title != "Phone" {
        frames.removeAll()
        try source.read(80, appendingTo: &frames)
      }
    }
    #expect(heard.events.withLock { $0.suffix(2) } == [.volume(20), .playing])
    #expect(
      heard.lines.withLock { $0 } == [
        "Phone: was ended by signal 9; it is started again, at the latest every 60 s"
      ])
  }

  @Test(.timeLimit(.minutes(2)))
  func `orders come to it as lines, and no more wait than the limit`() throws {
    let inputs = try inputs(
      "while read line; do echo \"{\\\"volume\\\":${#line}}\" >&3; done; exit 3")
    let program = try #require(inputs.program("Phone"))
    for _ in 0..<100 { program.order(.next) }
    program.order(.volume(5))
    let heard = Heard()
    start(inputs, heard)
    try heard.wait { heard.events.withLock { !$0.isEmpty } }
    #expect(heard.events.withLock { $0.first } == .volume(Double(#"{"do":"next"}"#.utf8.count)))
    #expect(InputProgram.orderLimit == 16)
    inputs.stop()
    inputs.awaitEnd()
  }

  @Test(.timeLimit(.minutes(2)))
  func `the end of the daemon is its end, though it ignores that it is asked to`() throws {
    let inputs = try inputs(
      """
      trap '' TERM; cd \(folder.path); echo $$ > pid
      echo '{"state":"playing"}' >&3; while :; do sleep 1000; done
      """)
    let heard = Heard()
    start(inputs, heard)
    try heard.wait { heard.events.withLock { !$0.isEmpty } }
    let process = try process()
    #expect(kill(process, 0) == 0)
    inputs.stop()
    inputs.awaitEnd()
    #expect(kill(process, 0) != 0)
    #expect(heard.lines.withLock { $0.isEmpty })
  }

  @Test(.timeLimit(.minutes(2)))
  func `why it has ended is told in its own last words, cut and cleaned`() throws {
    let inputs = try inputs(
      "printf 'first\\nno card \\033[2J here\\n' >&2; exit 4", .none)
    let heard = Heard()
    let problem = Mutex<String?>(nil)
    // A moment later it is started again, and has no problem.
    start(inputs, heard) { problem.withLock { $0 = inputs.program("Phone")?.problem } }
    try heard.wait { heard.lines.withLock { !$0.isEmpty } }
    let line = heard.lines.withLock { $0[0] }
    #expect(
      line
        == "Phone: has ended with code 4: no card  [2J here; it is started again, at the latest every 60 s"
    )
    #expect(problem.withLock { $0?.hasPrefix("has ended with code 4") ?? false })
    inputs.stop()
    inputs.awaitEnd()
  }
}
