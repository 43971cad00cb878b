import Clock
import Sender
import TestSupport
import Testing

@testable import House

/// Tests of which parts of a queue are written after an edit.
@Suite struct QueueRecordTests {
  private static func details(_ id: Int) -> Order.NewEntry { .init(location: "/\(id)") }

  private static func follow(_ queue: inout QueueRecord, _ ids: [Int]) {
    queue.follow(ids.map { details($0).item($0) }) { details($0.id) }
  }

  private static func made(_ ids: [Int]) -> QueueRecord {
    var queue = QueueRecord()
    follow(&queue, ids)
    return queue
  }

  /// Returns the number of rows that differ.
  private static func written(_ before: QueueRecord, _ after: QueueRecord) -> Int {
    let known = Dictionary(uniqueKeysWithValues: before.entries.map { ($0.id, $0.rank) })
    let kept = Set(after.ids)
    return after.entries.count { known[$0.id] != $0.rank } + before.ids.count { !kept.contains($0) }
  }

  private static func expectOrder(_ queue: QueueRecord, _ ids: [Int]) {
    #expect(queue.ids == ids)
    let ranks = queue.entries.map(\.rank)
    #expect(zip(ranks, ranks.dropFirst()).allSatisfy { $0 < $1 })
    #expect(queue.entries.allSatisfy { $0.details == Self.details($0.id) })
  }

  @Test func `an edit of a long queue gives one entry a rank, wherever it is`() {
    let count = 10_000
    var ids = Array(0..<count)
    var queue = Self.made(ids)
    let places = [0, 1, count / 2, count - 2, count - 1]
    for place in places {
      for edit in 0..<3 + places.count {
        let before = queue
        switch edit {
        case 0: ids.insert(ids.count, at: place)
        case 1: ids.remove(at: place)
        case 2: ids.append(count + 10 + place)
        default: ids.insert(ids.remove(at: place), at: places[edit - 3])
        }
        Self.follow(&queue, ids)
        Self.expectOrder(queue, ids)
        #expect(Self.written(before, queue) <= 4, "edit \(edit) at \(place)")
      }
    }
  }

  @Test func `entries that are put in one place for ever find room among few neighbours`() {
    var ids = Array(0..<2_000)
    var queue = Self.made(ids)
    var most = 0
    var all = 0
    for id in 2_000..<4_000 {
      let before = queue
      ids.insert(id, at: 1_000)
      Self.follow(&queue, ids)
      let written = Self.written(before, queue)
      (most, all) = (max(most, written), all + written)
    }
    Self.expectOrder(queue, ids)
    #expect(most < 600, "\(most)")
    #expect(all < 4 * 2_000, "\(all)")
  }

  @Test(arguments: 1...10) func `whatever is done to a queue, its record says the same`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var ids: [Int] = []
    var next = 0
    var queue = QueueRecord()
    for _ in 0..<300 {
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: ids.shuffle(using: &random)
        case 1: ids = []
        case 2: ids.removeAll { _ in Bool.random(using: &random) }
        case 3, 4: if !ids.isEmpty { ids.remove(at: Int.random(in: ids.indices, using: &random)) }
        case 5, 6:
          guard !ids.isEmpty else { break }
          let id = ids.remove(at: Int.random(in: ids.indices, using: &random))
          ids.insert(id, at: Int.random(in: 0...ids.count, using: &random))
        default:
          let new = Array(next..<next + Int.random(in: 1...3, using: &random))
          ids.insert(contentsOf: new, at: Int.random(in: 0...ids.count, using: &random))
          next += new.count
        }
      }
      Self.follow(&queue, ids)
      Self.expectOrder(queue, ids)
    }
  }

  @Test func `ranks that no arithmetic holds are given anew`() {
    for ends in [(Int64.min, Int64.max), (Int64.max - 1, Int64.max), (5, 5), (-1 << 61, 1 << 61)] {
      var queue = QueueRecord([
        .init(id: 1, rank: ends.0, Self.details(1)), .init(id: 2, rank: ends.1, Self.details(2)),
      ])
      for id in 3..<100 {
        Self.follow(&queue, [id] + queue.ids)
        Self.follow(&queue, queue.ids + [id + 1000])
      }
      Self.expectOrder(queue, queue.ids)
    }
  }
}
