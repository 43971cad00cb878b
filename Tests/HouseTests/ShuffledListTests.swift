import Clock
import TestSupport
import Testing

@testable import House

/// Tests of the order to which a shuffled list goes back.
@Suite struct ShuffledListTests {
  @Test func `new entries follow the entry before them, and those at the end stay there`() {
    #expect(ShuffledList.restored([3, 1, 4, 2], to: [1, 2, 3, 4]) == [1, 2, 3, 4])
    #expect(ShuffledList.restored([3, 8, 9, 1, 2], to: [1, 2, 3]) == [1, 2, 3, 8, 9])
    #expect(ShuffledList.restored([3, 1, 8, 9, 2], to: [1, 2, 3]) == [1, 8, 9, 2, 3])
    #expect(ShuffledList.restored([8, 3, 1, 2, 9], to: [1, 2, 3]) == [8, 1, 2, 3, 9])
    #expect(ShuffledList.restored([3, 1, 8], to: [1, 2, 3]) == [1, 3, 8])
    #expect(ShuffledList.restored([8, 9], to: [1, 2]) == [8, 9])
    #expect(ShuffledList.restored([], to: [1, 2]) == [])
  }

  /// Whatever order a file has, no entry is lost, and those that it names stand as it says.
  @Test(arguments: 1...20) func `no entry is lost or doubled`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let ids = Array(0..<Int.random(in: 0...12, using: &random)).shuffled(using: &random)
      let order = (0..<20).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
      let restored = ShuffledList.restored(ids, to: order)
      #expect(restored.sorted() == ids.sorted())
      #expect(restored.filter(order.contains) == order.filter(ids.contains))
      let new = ids.filter { !order.contains($0) }
      for (one, other) in zip(ids, ids.dropFirst()) where new.contains(one) && new.contains(other) {
        let place = restored.firstIndex(of: one) ?? 0
        #expect(place + 1 < restored.count && restored[place + 1] == other)
      }
    }
  }
}
