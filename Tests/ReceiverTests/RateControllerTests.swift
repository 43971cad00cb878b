import Testing

@testable import Receiver

@Suite struct RateControllerTests {
  private func time(_ error: Double, cardVariance: Double = 0, watched: Double = 1000) -> Double {
    RateController.time(forError: error, cardVariance: cardVariance, watched: watched)
  }

  @Test func `an error that may be noise fades slowly, and a larger one soon`() {
    #expect(time(0) == RateController.gentleTime)
    #expect(time(-20e-6) == RateController.quickTime)
  }

  @Test func `what the card's position is off by is no reason to hurry`() {
    #expect(time(8e-6) < 2)
    #expect(time(8e-6, cardVariance: 225e-12) > 6)
  }

  @Test func `a card that was just opened is followed soon`() {
    #expect(time(0, watched: 0.2) == RateController.firstTime)
    #expect(time(0, watched: 4) == 2)
  }

  @Test
  func
    `a rate is kept for an eighth of the time in which a small error fades, and never for a large one`()
  {
    #expect(RateController.hold(forError: 0, time: 8) == 1)
    #expect(RateController.hold(forError: -150e-6, time: 0.5) == 0.0625)
    #expect(RateController.hold(forError: -250e-6, time: 8) == 0)
  }

  @Test func `steering turns against the error, by no more than half a cent`() {
    #expect(abs(RateController.steering(error: 8e-6, time: 8) + 1e-6) < 1e-12)
    #expect(abs(RateController.steering(error: -8e-6, time: 8) - 1e-6) < 1e-12)
    #expect(RateController.steering(error: 0.9e-3, time: 0.5) == -300e-6)
    #expect(RateController.steering(error: -1, time: 0.5) == 1000e-6)
  }
}
