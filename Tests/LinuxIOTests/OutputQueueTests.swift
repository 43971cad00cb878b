import Clock
import TestSupport
import Testing

@testable import LinuxIO

struct OutputQueueTests {
  @Test func `what goes in comes out, in whatever pieces`() {
    var queue = OutputQueue()
    var generator = SplitMix64(seed: 1)
    let all = pattern(50_000)
    var put = 0
    var taken: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 700, alignment: 1)
    defer { buffer.deallocate() }
    while taken.count < all.count {
      let size = min(Int(generator.next() % 400), all.count - put)
      queue.append([UInt8](all[put..<put + size]))
      put += size
      let available = queue.copyPrefix(into: buffer)
      #expect(available == min(buffer.count, put - taken.count))
      let count = available == 0 ? 0 : Int(generator.next() % UInt64(available + 1))
      taken += buffer[..<count]
      queue.removePrefix(count)
      #expect(queue.count == put - taken.count)
    }
    #expect(taken == all)
    #expect(queue.isEmpty)
  }

  @Test func `many small messages take little more than their bytes`() {
    var queue = OutputQueue()
    for number in 0..<10_000 { queue.append([UInt8](repeating: UInt8(number % 251), count: 22)) }
    #expect(queue.count == 220_000)
    #expect(queue.chunkCount <= queue.count / OutputQueue.joinedSize + 2)
    // The order is kept even if a chunk grows of which a part was already sent.
    var expected = (0..<10_000).flatMap { Array(repeating: UInt8($0 % 251), count: 22) }[...]
    var buffer = [UInt8](repeating: 0, count: 1000)
    while !queue.isEmpty {
      let taken = buffer.withUnsafeMutableBytes { queue.copyPrefix(into: $0) }
      #expect(Array(buffer[..<taken]) == Array(expected.prefix(taken)))
      expected = expected.dropFirst(taken)
      queue.removePrefix(taken)
      if queue.count == 100_000 || queue.count == 99_000 {
        queue.append([1, 2, 3])
        expected += [1, 2, 3]
      }
    }
    #expect(expected.isEmpty)
  }
}
