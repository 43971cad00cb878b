import Testing

@testable import Clock

/// Each kind of time has its own operators, so that none is mixed with another.
struct TimelinesTests {
  @Test(arguments: [(-7, 7), (3, 4), (4, 4), (5, 4)] as [(Int64, Int64)])
  func `times are compared as their numbers are`(a: Int64, b: Int64) {
    let wanted = Self.comparisons(a, b)
    #expect(Self.comparisons(MediaTime(flicks: a), MediaTime(flicks: b)) == wanted)
    #expect(Self.comparisons(MediaDuration(flicks: a), MediaDuration(flicks: b)) == wanted)
    #expect(Self.comparisons(GroupTime(nanoseconds: a), GroupTime(nanoseconds: b)) == wanted)
    #expect(Self.comparisons(LocalTime(nanoseconds: a), LocalTime(nanoseconds: b)) == wanted)
    #expect(Self.comparisons(Nanoseconds(a), Nanoseconds(b)) == wanted)
  }

  @Test(arguments: [(9, 2), (-9, 2), (9, -2)] as [(Int64, Int64)])
  func `times are moved as their numbers are`(a: Int64, b: Int64) {
    let (media, span) = (MediaTime(flicks: a), MediaDuration(flicks: b))
    #expect((media + span).flicks == a + b)
    #expect((media - span).flicks == a - b)
    #expect((media - MediaTime(flicks: b)).flicks == a - b)
    var moved = media
    moved += span
    #expect(moved.flicks == a + b)
    #expect((MediaDuration(flicks: a) + span).flicks == a + b)
    #expect((MediaDuration(flicks: a) - span).flicks == a - b)
    let (group, local) = (GroupTime(nanoseconds: a), LocalTime(nanoseconds: a))
    #expect((group + Nanoseconds(b)).nanoseconds == a + b)
    #expect((group - Nanoseconds(b)).nanoseconds == a - b)
    #expect((group - GroupTime(nanoseconds: b)).count == a - b)
    #expect((local + Nanoseconds(b)).nanoseconds == a + b)
    #expect((local - Nanoseconds(b)).nanoseconds == a - b)
    #expect((local - LocalTime(nanoseconds: b)).count == a - b)
  }

  @Test func `nothing is zero, and what is no number as well`() {
    #expect(MediaTime.zero.flicks == 0)
    #expect(MediaDuration.zero.flicks == 0)
    #expect(Nanoseconds.zero.count == 0)
    #expect(Nanoseconds(ofSeconds: .nan).count == 0)
  }

  @Test func `a span is scaled to the nearest flick, and not at all where nothing changes`() {
    let span = MediaDuration(flicks: 1_001)
    #expect(span.scaled(by: 2) == MediaDuration(flicks: 2_002))
    #expect(span.scaled(by: 0.5) == MediaDuration(flicks: 501))
    #expect(MediaDuration(flicks: -1_001).scaled(by: 0.5) == MediaDuration(flicks: -501))
    // A `Double` cannot hold this number.
    let long = MediaDuration(flicks: (1 << 53) + 1)
    #expect(long.scaled(by: 1) == long)
    // Files and programs give factors, and none of them may crash the sender.
    #expect(MediaDuration(flicks: .max).scaled(by: 4) == .zero)
    #expect(span.scaled(by: .nan) == .zero)
  }

  private static func comparisons<T: Comparable>(_ a: T, _ b: T) -> [Bool] {
    [a < b, a <= b, a > b, a >= b, a == b]
  }
}
