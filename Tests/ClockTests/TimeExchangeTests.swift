import Clock
import Testing

struct TimeExchangeTests {
  @Test func `an exchange bounds the offset from both sides`() throws {
    // The group is 1000 ns ahead; the request takes 30 ns, the answer 50 ns, and it is held for 20 ns.
    let sample = try #require(exchange(100, 1130, 1150, 200))
    #expect(sample.upperOffset == Nanoseconds(1030))
    #expect(sample.lowerOffset == Nanoseconds(950))
    #expect(sample.roundTrip == Nanoseconds(80))
    #expect(sample.midpoint == LocalTime(nanoseconds: 160))
  }

  @Test func `an exchange may take no time`() {
    #expect(exchange(5, 7, 7, 5)?.roundTrip == .zero)
  }

  @Test func `stamps out of order or out of range are no exchange`() {
    #expect(exchange(100, 1000, 999, 200) == nil)
    #expect(exchange(100, 1000, 1200, 200) == nil)
    #expect(exchange(200, 1000, 1000, 100) == nil)
    #expect(exchange(0, 0, 0, 1_000_000_000) != nil)
    #expect(exchange(0, 0, 0, 1_000_000_001) == nil)
    #expect(exchange(0, 0, 2_000_000_000, 2_500_000_000) == nil)
    let extremes: [Int64] = [.min, .max, 1 << 60, -(1 << 60), 0]
    for t1 in extremes {
      for t2 in extremes {
        for t3 in extremes {
          for t4 in extremes where (t1, t2, t3, t4) != (0, 0, 0, 0) {
            #expect(exchange(t1, t2, t3, t4) == nil)
          }
        }
      }
    }
  }

  private func exchange(_ t1: Int64, _ t2: Int64, _ t3: Int64, _ t4: Int64) -> TimeSample? {
    TimeSample(
      requestSentAt: LocalTime(nanoseconds: t1), requestReceivedAt: GroupTime(nanoseconds: t2),
      answerSentAt: GroupTime(nanoseconds: t3), answerReceivedAt: LocalTime(nanoseconds: t4))
  }
}
