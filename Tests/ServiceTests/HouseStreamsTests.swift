import Clock
import Foundation
import LinuxIO
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import Service

/// Tests of the file from which the next process goes on with the music.
@Suite struct HouseStreamsTests {
  private let folder: TemporaryFolder
  private let me = Identifier([UInt8](repeating: 7, count: 16))
  private var path: String { folder.file("house.db") }
  private var file: StateFile { StateFile(path: path + ".streams") }

  init() throws { folder = try TemporaryFolder() }

  private static let record = StreamRecord(
    state: .playing, clockID: 5, clockLead: .seconds(3), generation: 2, nextSequence: 100,
    heldByAll: .zero + .seconds(100), heldByOne: .zero + .seconds(110),
    anchors: [
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 1), rate: .playing)
    ], segments: [.init(start: .zero, entry: 4, position: .zero)])

  /// - Parameter asleep: time that the machine has slept, in seconds.
  private func streams(_ lines: inout [String], asleep: Int64 = 10) throws -> HouseStreams {
    try HouseStreams(
      path: path, senderID: try #require(me), asleep: { .seconds(asleep) },
      tell: { lines.append($0) })
  }

  private func keepOne() throws {
    var lines: [String] = []
    let streams = try streams(&lines)
    streams.keep(Self.record, of: "a")
    #expect(streams.finish(within: 10_000))
    #expect(lines.isEmpty)
  }

  /// Expects that what stands in the file is passed over, with one line.
  private func expectIgnored(_ part: String, _ location: SourceLocation = #_sourceLocation) throws {
    var lines: [String] = []
    let streams = try streams(&lines)
    #expect(streams.left.isEmpty, sourceLocation: location)
    #expect(lines.count == 1 && lines[0].contains(part), "\(lines)", sourceLocation: location)
  }

  @Test func `what one process keeps, the next one has, until it keeps nothing`() throws {
    try keepOne()
    var lines: [String] = []
    let next = try streams(&lines)
    #expect(next.left == ["a": Self.record] && lines.isEmpty)
    next.keep(Self.record, of: "a")
    next.keep(nil, of: "a")
    #expect(next.finish(within: 10_000))
    #expect(try streams(&lines).left.isEmpty && lines.isEmpty)
  }

  @Test func `an answer waits for the file, and only for what it was to say`() throws {
    var lines: [String] = []
    let streams = try streams(&lines)
    var answers: [Int] = []
    streams.afterWriting { answers.append(0) }
    streams.keep(Self.record, of: "a")
    streams.afterWriting { answers.append(1) }
    streams.keep(nil, of: "a")
    streams.afterWriting { answers.append(2) }
    #expect(answers == [0])
    streams.wrote(1)
    #expect(answers == [0, 1])
    streams.endWaiting()
    #expect(answers == [0, 1, 2])
  }

  @Test func `the tables are written first`() throws {
    let written = DispatchSemaphore(value: 0)
    let count = Mutex(0)
    let streams = try HouseStreams(
      path: path, senderID: try #require(me), tell: { _ in },
      wrote: { _ in
        count.withLock { $0 += 1 }
        written.signal()
      })
    streams.saving(1)
    streams.keep(Self.record, of: "a")
    streams.post()
    streams.saving(2)
    streams.keep(Self.record, of: "b")
    streams.post()
    var isAnswered = false
    streams.afterWriting { isAnswered = true }
    #expect(try file.read(limit: 1 << 20) == nil)
    streams.decided(1)
    written.wait()
    #expect(try groups() == ["a"])
    streams.decided(2)
    written.wait()
    #expect(try groups() == ["a", "b"])
    #expect(count.withLock(\.self) == 2 && !isAnswered)
    streams.wrote(2)
    #expect(isAnswered)
    #expect(streams.held.isEmpty)
    // Nothing is on its way to the tables.
    streams.keep(nil, of: "a")
    streams.post()
    written.wait()
    #expect(try groups() == ["b"])
    streams.saving(3)
    streams.keep(nil, of: "b")
    streams.post()
    for number in 4..<100 as Range<UInt64> {
      streams.saving(number)
      streams.keep(number % 2 == 0 ? Self.record : nil, of: "b")
      streams.post()
    }
    #expect(streams.held.count == 2)
    // The disk of the tables hangs, and the program ends.
    #expect(streams.finish(within: 10_000))
    #expect(try groups() == [])
  }

  private func groups() throws -> [String] {
    let bytes = try #require(try file.read(limit: 1 << 20))
    return try StreamJournal(decoding: bytes).streams.map(\.group)
  }

  @Test func `a torn file is ignored with one line, wherever it ends`() throws {
    try keepOne()
    let bytes = try #require(try file.read(limit: 1 << 20))
    for count in [1, 7, 40, bytes.count / 2, bytes.count - 1] {
      try file.keep(Array(bytes.prefix(count)))
      try expectIgnored("damaged")
    }
  }

  @Test func `a file of another sender, or of another start of the machine, is ignored`() throws {
    try keepOne()
    var journal = try StreamJournal(
      decoding: try #require(try file.read(limit: 1 << 20)))
    journal.senderID = try #require(Identifier([UInt8](repeating: 8, count: 16)))
    try file.keep(journal.encoded())
    try expectIgnored("another sender")
    journal.senderID = try #require(me)
    journal.boot = journal.senderID
    try file.keep(journal.encoded())
    try expectIgnored("earlier start")
  }

  @Test func `time asleep since then counts`() throws {
    try keepOne()
    var lines: [String] = []
    #expect(try streams(&lines, asleep: 70).left["a"]?.clockLead == .seconds(63))
  }
}
