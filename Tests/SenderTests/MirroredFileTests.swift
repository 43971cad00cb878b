import Clock
import TestSupport
import Testing

@testable import Sender

/// A file of the leader's, and the follower's copy of it.
@Suite struct MirroredFileTests {
  private static let block = 4 << 10

  /// One side's knowledge of the file.
  private final class Side {
    private var file = MirroredFile()
    var bytes: [UInt8] { file.bytes }
    var isWhole: Bool { file.isWhole }

    func messages(to next: [UInt8]) -> [DaemonMessage] { file.messages(to: next, file: 3) }
    func take(_ piece: [UInt8], at offset: Int) -> Bool { file.take(piece, at: offset) }
    func end(size: Int) -> Bool { file.end(size: size) }
  }

  /// Hands all messages to the other side.
  private static func pass(_ messages: [DaemonMessage], to copy: Side) {
    for message in messages {
      switch message {
      case .piece(file: 3, let offset, let bytes):
        #expect(copy.take(bytes, at: offset))
        #expect(!copy.isWhole)
      case .end(file: 3, let size):
        #expect(copy.end(size: size))
        #expect(copy.isWhole)
      default: Issue.record("\(message)")
      }
    }
  }

  /// Changes, grows, shrinks or replaces a file.
  private static func edit(_ file: inout [UInt8], _ random: inout SplitMix64) {
    switch random.next() % 6 {
    case 0: file = []
    case 1: file += random.bytes(Int.random(in: 1...3 * block, using: &random))
    case 2: file.removeLast(Int.random(in: 0...file.count, using: &random))
    case 3: file = random.bytes(random.pick(0...5 * block))
    case 4:
      guard !file.isEmpty else { return }
      for _ in 0..<3 { file[Int.random(in: file.indices, using: &random)] ^= 1 }
    default: break
    }
  }

  @Test(arguments: seeds(30, of: 1_000))
  func `the copy is as the leader's file after each end`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let (mine, copy) = (Side(), Side())
    var file: [UInt8] = []
    for _ in 0..<20 {
      let messages = mine.messages(to: file)
      #expect(messages.allSatisfy { $0.encoded().count <= DaemonMessage.limit })
      Self.pass(messages, to: copy)
      #expect(copy.bytes == file && copy.isWhole)
      #expect(mine.bytes == file && mine.isWhole)
      Self.edit(&file, &random)
    }
  }

  @Test func `an empty file is there, too`() {
    let (mine, copy) = (Side(), Side())
    #expect(mine.messages(to: []) == [.end(file: 3, size: 0)])
    #expect(!copy.isWhole)
    #expect(copy.end(size: 0) && copy.isWhole && copy.bytes == [])
    #expect(mine.messages(to: []).isEmpty)
  }

  @Test func `only blocks that have changed are sent`() {
    let mine = Side()
    var file = [UInt8](repeating: 7, count: 10 * Self.block + 5)
    #expect(mine.messages(to: file).count == 12)
    #expect(mine.messages(to: file).isEmpty)
    file[7 * Self.block + 9] = 8
    let changed = Array(file[7 * Self.block..<8 * Self.block])
    #expect(
      mine.messages(to: file) == [
        .piece(file: 3, offset: 7 * Self.block, changed), .end(file: 3, size: file.count),
      ])
    file.removeLast(Self.block)
    // The new last block is as the beginning of the one that was there.
    #expect(mine.messages(to: file) == [.end(file: 3, size: file.count)])
    file += [1]
    let last = Array(file[9 * Self.block..<file.count])
    #expect(
      mine.messages(to: file) == [
        .piece(file: 3, offset: 9 * Self.block, last), .end(file: 3, size: file.count),
      ])
  }

  @Test func `a piece beyond a gap is refused, and changes nothing`() {
    let copy = Side()
    #expect(!copy.take([1], at: 1))
    #expect(copy.take([1, 2], at: 0) && copy.take([3], at: 2))
    #expect(!copy.take([5], at: 4))
    #expect(!copy.take([5], at: DaemonMessage.fileLimit))
    #expect(copy.bytes == [1, 2, 3])
    #expect(copy.take([9, 9], at: 1) && copy.bytes == [1, 9, 9])
    #expect(copy.take([], at: 3) && copy.bytes == [1, 9, 9])
  }

  @Test func `a file whose end is beyond its bytes is not whole`() {
    let copy = Side()
    #expect(copy.take([1, 2], at: 0))
    #expect(!copy.end(size: 3) && !copy.isWhole)
    #expect(copy.end(size: 1) && copy.isWhole && copy.bytes == [1])
    #expect(copy.take([2], at: 1) && !copy.isWhole)
  }

  @Test func `a file beyond the limit is not sent, nor taken`() {
    let (mine, copy) = (Side(), Side())
    let most = [UInt8](repeating: 1, count: DaemonMessage.fileLimit)
    #expect(mine.messages(to: most + [1]).isEmpty && !mine.isWhole)
    #expect(copy.take(most, at: 0))
    #expect(!copy.take([1], at: DaemonMessage.fileLimit))
    #expect(!copy.take([1, 1], at: DaemonMessage.fileLimit - 1))
    #expect(copy.bytes.count == DaemonMessage.fileLimit && copy.end(size: most.count))
  }
}
