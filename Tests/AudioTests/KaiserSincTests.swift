import Audio
import Glibc
import Testing

@Suite struct KaiserSincTests {
  @Test func `sines agree with the C library`() {
    for step in -4000...4000 {
      let x = Double(step) * 0.0173
      #expect(abs(sineOfHalfTurns(x) - sin(.pi * x)) < 1e-12)
    }
    #expect(abs(sineOfHalfTurns(0.5) - 1) < 1e-15)
    #expect(sineOfHalfTurns(1_000_000) == 0)
  }

  @Test func `the Bessel function agrees with tabulated values`() {
    // Abramowitz and Stegun, table 9.8 and 9.11, and the integral (1/π) ∫ exp(x cos t) dt.
    #expect(besselI0(0) == 1)
    for x in [0.5, 1, 5, 11, 12.8] {
      let steps = 4096
      let integral =
        (0..<steps).reduce(0.0) { $0 + exp(x * cos(2 * .pi * Double($1) / Double(steps))) }
        / Double(steps)
      #expect(abs(besselI0(x) / integral - 1) < 1e-12)
    }
  }

  @Test func `the response is symmetric, ends at its width and sums to one`() {
    let response = KaiserSinc(halfWidth: 16, cutoff: 0.9, beta: 9)
    for step in 0..<160 { #expect(response(Double(step) / 10) == response(-Double(step) / 10)) }
    #expect(response(16) == 0)
    #expect(response(-17.5) == 0)
    #expect(abs(response(0) - 0.9) < 1e-12)
    let sum = response.coefficients(count: 32, centre: 15.25).reduce(0, +)
    #expect(abs(sum - 1) < 1e-6)
  }
}
