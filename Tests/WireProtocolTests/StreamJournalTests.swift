import Clock
import TestSupport
import Testing

@testable import WireProtocol

@Suite struct StreamJournalTests {
  private func example(_ name: String) throws -> [UInt8] {
    try #require(Specification.examples().first { $0.name == name }?.bytes)
  }

  @Test func `a torn journal is refused, wherever it ends`() throws {
    let bytes = try example("journal.playing")
    for count in bytes.indices {
      #expect(throws: DecodeError.self) {
        try StreamJournal(decoding: Array(bytes.prefix(count)))
      }
    }
    #expect(throws: DecodeError.self) { try StreamJournal(decoding: bytes + [0]) }
    for place in bytes.indices {
      var torn = bytes
      torn[place] ^= 1
      #expect(throws: DecodeError.self) { try StreamJournal(decoding: torn) }
    }
  }

  @Test func `a journal with something behind its streams is refused`() throws {
    let bytes = try example("journal.playing")
    let longer = Array(bytes.dropLast(8)) + [0]
    let hash = SipHash.hash(longer[...], key: ClockKey([]))
    let tag = (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0))) }
    #expect(throws: DecodeError.badLength(longer.count + 8, limit: StreamJournal.byteLimit)) {
      try StreamJournal(decoding: longer + tag)
    }
  }

  @Test func `a journal of a later version says so`() throws {
    var bytes = try example("journal.empty")
    bytes[5] = 2
    #expect(throws: DecodeError.unsupportedVersion(2)) { try StreamJournal(decoding: bytes) }
  }

  @Test func `an item that was being opened may begin where it was left`() throws {
    var journal = try StreamJournal(decoding: example("journal.paused"))
    journal.streams[0].record.beginning?.resumes = true
    #expect(try StreamJournal(decoding: journal.encoded()) == journal)
  }

  @Test func `what is out of order is refused`() throws {
    var journal = try StreamJournal(decoding: example("journal.paused"))
    journal.streams[0].record.anchors.reverse()
    #expect(throws: DecodeError.self) { try StreamJournal(decoding: journal.encoded()) }
    journal.streams[0].record.anchors = []
    #expect(throws: DecodeError.self) { try StreamJournal(decoding: journal.encoded()) }
  }

  @Test func `the largest journal fits its limit, and comes back whole`() throws {
    let text = String(repeating: "x", count: ProtocolLimits.itemText)
    var journal = try StreamJournal(decoding: example("journal.playing"))
    let segment = StreamRecord.Segment(
      start: .zero, entry: 1, position: .zero,
      description: ItemDescription(title: text, artist: text, album: text))
    journal.streams[0].record.segments = Array(
      repeating: segment, count: StreamRecord.segmentLimit)
    journal.streams = (0..<StreamJournal.streamLimit).map {
      .init(group: "g\($0)", record: journal.streams[0].record)
    }
    let bytes = journal.encoded()
    #expect(bytes.count <= StreamJournal.byteLimit)
    #expect(try StreamJournal(decoding: bytes) == journal)
  }
}
