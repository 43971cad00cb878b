import Clock
import Pairing
import Testing
import WireProtocol

@Suite struct GuessLimitTests {
  private let start = LocalTime(nanoseconds: 1_000_000_000_000)

  @Test func `three guesses are free, then the delay doubles up to an hour`() {
    var limit = GuessLimit()
    var now = start
    for _ in 0..<3 {
      #expect(limit.wait(at: now) == .zero)
      limit.count(at: now)
    }
    for seconds in [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600] as [Int64] {
      #expect(limit.wait(at: now) == .seconds(seconds))
      #expect(limit.wait(at: now + .seconds(seconds - 1)) == .seconds(1))
      now = now + .seconds(seconds)
      #expect(limit.wait(at: now) == .zero)
      limit.count(at: now)
    }
  }

  @Test func `a right PIN makes three free again`() {
    var limit = GuessLimit(wrong: 9)
    limit.reset()
    #expect(limit.wait(at: start) == .zero)
    #expect(limit.wrong == 0)
  }

  @Test func `a restart shortens no delay`() {
    var limit = GuessLimit(wrong: 4)
    #expect(limit.wait(at: start) == .seconds(60))
    #expect(limit.wait(at: start + .seconds(60)) == .zero)
  }

  @Test func `a count from a damaged file does no harm`() {
    var limit = GuessLimit(wrong: .max)
    #expect(limit.wait(at: start) == .seconds(3600))
    limit.count(at: start)
    limit = GuessLimit(wrong: -5)
    #expect(limit.wait(at: start) == .zero)
  }
}

@Suite struct PairingsTests {
  private func pairing(_ number: UInt8, _ name: String = "study") throws -> Pairings.Pairing {
    .init(id: try #require(Identifier(Array(repeating: number, count: 16))), name: name)
  }

  @Test func `a sender that pairs again has its new name`() throws {
    var pairings = Pairings([try pairing(1), try pairing(2)])
    #expect(pairings.add(try pairing(1, "loft")))
    #expect(pairings.all == [try pairing(1, "loft"), try pairing(2)])
  }

  @Test func `no more are kept than the limit, and those that are there stay`() throws {
    var pairings = Pairings(try (0..<100).map { try pairing($0) })
    #expect(pairings.all.count == Pairings.limit)
    #expect(!pairings.add(try pairing(200)))
    #expect(pairings.add(try pairing(3, "still here")))
    #expect(pairings.remove(try pairing(5).id))
    #expect(pairings.add(try pairing(200)))
  }

  @Test func `who is removed is a stranger`() throws {
    var pairings = Pairings([try pairing(1)])
    #expect(pairings.remove(try pairing(1).id))
    #expect(!pairings.contains(try pairing(1).id))
    #expect(!pairings.remove(try pairing(1).id))
  }
}
