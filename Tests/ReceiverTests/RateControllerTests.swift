import Testing

@testable import Receiver

@Suite struct RateControllerTests {
  private let controller = RateController(SteeringTuning())

  @Test(arguments: [0, 1e-6, 3e-6, 40e-6])
  func `the longer clocks were steady the slower errors fade, up to a limit`(error: Double) {
    let tuning = SteeringTuning()
    let most = tuning.patientMemory * tuning.mostPatience.squareRoot()
    let memories = [0, tuning.patientMemory, 0.7 * most, most, 10 * most]
    let times = memories.map {
      controller.time(forError: error, watched: 1000, memory: $0, variance: (0, 0))
    }
    #expect(times[0] == times[1])
    #expect(times[1] < times[2] && times[2] < times[3])
    #expect(times[3] == times[4])
  }

  @Test func `an error that may be noise fades slowly, and a larger one soon`() {
    let tuning = SteeringTuning()
    #expect(
      controller.time(forError: 0, watched: 1000, memory: 0, variance: (0, 0)) == tuning.gentleTime)
    #expect(
      controller.time(forError: -20e-6, watched: 1000, memory: 0, variance: (0, 0))
        == tuning.quickTime)
  }

  @Test func `what the card's position is off by is no reason to hurry`() {
    let known = controller.time(forError: 5e-6, watched: 1000, memory: 0, variance: (0, 0))
    let vague = controller.time(forError: 5e-6, watched: 1000, memory: 0, variance: (0, 100e-12))
    #expect(known < 2)
    #expect(vague > 6)
  }

  @Test func `what the clock is off by is no reason to hurry where it is steady`() {
    func time(memory: Double, variance: Double) -> Double {
      controller.time(forError: 15e-6, watched: 1000, memory: memory, variance: (variance, 0))
    }
    #expect(time(memory: 0, variance: 400e-12) == time(memory: 0, variance: 0))
    #expect(time(memory: 60, variance: 400e-12) > 1.5 * time(memory: 60, variance: 0))
  }

  @Test func `a card that was just opened is followed soon, however steady the clock`() {
    let first = controller.time(forError: 0, watched: 0.2, memory: 60, variance: (0, 0))
    #expect(first == SteeringTuning().firstTime)
    #expect(controller.time(forError: 0, watched: 4, memory: 60, variance: (0, 0)) == 2)
  }

  @Test
  func
    `a rate is kept for an eighth of the time in which a small error fades, and never for a large one`()
  {
    #expect(controller.hold(forError: 0, time: 8) == 1)
    #expect(controller.hold(forError: -150e-6, time: 0.5) == 0.0625)
    #expect(controller.hold(forError: -250e-6, time: 8) == 0)
  }

  @Test func `steering turns against the error, by no more than half a cent`() {
    #expect(abs(controller.steering(error: 8e-6, time: 8) + 1e-6) < 1e-12)
    #expect(abs(controller.steering(error: -8e-6, time: 8) - 1e-6) < 1e-12)
    #expect(controller.steering(error: 0.9e-3, time: 0.5) == -300e-6)
    #expect(controller.steering(error: -1, time: 0.5) == 1000e-6)
  }
}
