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

struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
