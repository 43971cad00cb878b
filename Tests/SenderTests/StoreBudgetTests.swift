import Clock
import TestSupport
import Testing

@testable import Sender

@Suite struct StoreBudgetTests {
  @Test func `one group has all of it, and several that play have equal shares`() {
    #expect(StoreBudget.shares(held: [1 << 20]) == [StoreBudget.bytes])
    #expect(
      StoreBudget.shares(held: [1 << 20, 2 << 20, 3 << 20])
        == [Int](repeating: StoreBudget.bytes / 3, count: 3))
  }

  @Test func `groups that hold nothing take nothing from the others`() {
    #expect(StoreBudget.shares(held: [1 << 20, 0, 0])[0] == StoreBudget.bytes)
    #expect(StoreBudget.shares(held: []) == [])
  }

  @Test func `a group that begins late still holds half a minute of music`() {
    let full = StoreBudget.bytes / 2
    #expect(StoreBudget.shares(held: [full, full, 0])[2] == StoreBudget.least)
    // It gets more as the others play what they hold.
    #expect(StoreBudget.shares(held: [full, full / 2, 1 << 20])[2] == full / 2)
  }

  /// Groups fill up, are paused, play on and stop at random.
  @Test(arguments: 0..<20) func `all groups together hold no more than the budget`(seed: Int) {
    let portion = 1 << 20
    var random = SplitMix64(seed: UInt64(seed))
    var held = [Int](repeating: 0, count: 8)
    for _ in 0..<1_000 {
      let group = Int(random.next() % 8)
      switch random.next() % 8 {
      case 0: held[group] = 0
      case 1: held[group] /= 2
      default:
        while held[group] < StoreBudget.shares(held: held)[group] { held[group] += portion }
      }
      let beyond = held.count * (StoreBudget.least + portion)
      #expect(held.reduce(0, +) <= StoreBudget.bytes + beyond)
    }
  }

  @Test func `a group produces as much as its share, and more once that is larger`() {
    var group = TestGroup(["8000x1:8000000"])
    group.limitStore(to: 4 << 20)
    group.joinReady(with: .test(bytes: 1 << 60, span: MediaDuration(flicks: 1 << 60)))
    group.advance(by: .seconds(1))
    #expect((4 << 20..<9 << 19).contains(group.session.store.heldBytes))
    group.limitStore(to: 8 << 20)
    group.advance(by: .seconds(1))
    #expect((8 << 20..<17 << 19).contains(group.session.store.heldBytes))
    group.limitStore(to: 4 << 20)
    let before = group.session.store.end
    group.advance(by: .seconds(5))
    #expect(group.session.store.end == before)
  }
}
