import Testing

@testable import Clock

struct ClockEstimateTests {
  @Test(arguments: [-200e-6, 0, 200e-6], [-3_600, 0, 3_600])
  func `the local time of a group time is the one that it came from`(
    drift: Double, seconds: Int64
  ) {
    let estimate = ClockEstimate(
      local: LocalTime(nanoseconds: 7_000_000_000), group: GroupTime(nanoseconds: 90_000_000_000),
      drift: drift, errorBound: .zero)
    let time = estimate.groupTime(of: estimate.local + .seconds(seconds))
    let ahead = Int64((Double(seconds) * (1 + drift) * 1e9).rounded())
    #expect((time - estimate.group - Nanoseconds(ahead)).magnitude.count <= 2)
    #expect(
      (estimate.localTime(of: time) - estimate.local - .seconds(seconds)).magnitude.count <= 2)
  }
}
