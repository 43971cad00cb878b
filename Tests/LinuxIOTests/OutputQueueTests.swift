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
}
