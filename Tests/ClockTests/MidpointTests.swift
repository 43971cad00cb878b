import Testing

@testable import Clock

struct MidpointTests {
  @Test func `the fastest packets of an interval make one midpoint`() throws {
    // Offset 0; in each sample one of the packets is fast.
    let samples = try [
      sample(at: 0.1, up: 900, down: 100), sample(at: 0.3, up: 100, down: 700),
      sample(at: 1.2, up: 300, down: 300), sample(at: 1.6, up: 400, down: 100),
    ]
    let line = try #require(CorridorLine(through: samples, prior: .cold))
    let midpoints = samples.map { Midpoint($0, relativeTo: line) }
    let phase = -(samples[3].midpoint - LocalTime(nanoseconds: 1_000_000_000)).seconds
    let fastest = midpoints.ofFastest(0.05, every: 1, phase: phase)
    #expect(fastest.count == 2)
    #expect(fastest.map { Int(($0.roundTrip * 1e6).rounded()) } == [200, 400])
    #expect(fastest.map(\.upper) == [midpoints[1].upper, midpoints[2].upper])
    #expect(fastest.map(\.lower) == [midpoints[0].lower, midpoints[3].lower])
    #expect(fastest[0].time == 0.5 * (midpoints[0].time + midpoints[1].time))
  }

  @Test func `the fastest twentieth of each direction counts`() throws {
    // Requests take 100, 101 ... 139 µs, answers the same in the opposite order.
    let samples = try (0..<40).map {
      try sample(at: 0.01 * Double($0), up: 100 + Int64($0), down: 139 - Int64($0))
    }
    let line = try #require(CorridorLine(through: samples, prior: .cold))
    let midpoints = samples.map { Midpoint($0, relativeTo: line) }
    let fastest = try #require(midpoints.ofFastest(0.05, every: 1, phase: -0.5).first)
    #expect(abs(fastest.roundTrip - 201e-6) < 1e-9)
    #expect(abs(fastest.time - 0.5 * (midpoints[0].time + midpoints[39].time)) < 1e-9)
  }

  @Test func `nothing makes nothing`() {
    let none: [Midpoint] = []
    #expect(none.ofFastest(0.05, every: 1, phase: 0).isEmpty)
  }

  /// With delays in microseconds.
  private func sample(at time: Double, up: Int64, down: Int64) throws -> TimeSample {
    let sent = Int64(time * 1e9)
    let received = GroupTime(nanoseconds: sent + up * 1000)
    return try #require(
      TimeSample(
        requestSentAt: LocalTime(nanoseconds: sent), requestReceivedAt: received,
        answerSentAt: received,
        answerReceivedAt: LocalTime(nanoseconds: sent + (up + down) * 1000)))
  }
}
