import TestSupport
import Testing

@testable import Receiver

@Suite struct DriftChangeTests {
  @Test func `a card at one temperature is steady`() {
    var change = DriftChange()
    var random = TestSupport.SplitMix64(seed: 3)
    for _ in 0..<12_000 { change.observe(-45e-6 + random.uniform(-50e-9, 50e-9), after: 0.01) }
    // One ppm would take more than four minutes.
    #expect(change.perSecond < 4e-9)
  }

  @Test func `a drift that changes steadily is told by how fast it does`() {
    var change = DriftChange()
    for step in 0..<20_000 { change.observe(0.3e-6 * 0.01 * Double(step), after: 0.01) }
    #expect(abs(change.perSecond / 0.3e-6 - 1) < 0.05)
  }

  @Test func `learning a card's drift does not count as change`() {
    var learned = DriftChange()
    var known = DriftChange()
    for step in 0..<3_000 {
      learned.observe(step < 400 ? Double(step) * 0.2e-6 : 80e-6, after: 0.01)
      known.observe(80e-6, after: 0.01)
    }
    #expect(learned.perSecond == known.perSecond)
  }
}
