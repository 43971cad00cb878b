import ALSAOutput
import Clock
import Testing

/// A time in µs after some fixed instant.
private func at(_ microseconds: Int64) -> LocalTime {
  LocalTime(nanoseconds: 1_000_000_000 + microseconds * 1000)
}

@Suite struct StepForecastTests {
  /// A card that moves every 10 ms, and was seen to move at 0.
  private func forecast(width: Int64 = 1) -> StepForecast {
    var forecast = StepForecast(step: .milliseconds(10))
    _ = forecast.moved(at: at(0), width: .microseconds(width))
    return forecast
  }

  @Test func `no move is forecast before one was seen`() {
    #expect(StepForecast(step: .milliseconds(10)).window(from: at(0)) == nil)
  }

  @Test(arguments: [(1, 10_000), (10_000, 10_000), (10_001, 20_000), (97_000, 100_000)])
  func `the next move is expected a whole number of steps later`(
    from: Int64, move: Int64
  ) throws {
    let window = try #require(forecast().window(from: at(from)))
    #expect(window.begin < at(move))
    #expect(window.begin > at(move - 200))
    #expect(window.end > at(move))
    #expect(window.end < at(move + 200))
  }

  @Test func `an uncertain move widens the window for the next one`() throws {
    let rough = try #require(forecast(width: 90).window(from: at(9000)))
    let exact = try #require(forecast().window(from: at(9000)))
    #expect(rough.end - rough.begin >= exact.end - exact.begin + .microseconds(2 * 89))
  }

  @Test func `moves that cannot be told apart are not forecast`() {
    #expect(forecast(width: 5000).window(from: at(9000)) == nil)
    #expect(forecast(width: 495).window(from: at(9000)) == nil)
    #expect(forecast().window(from: at(1_000_000)) == nil)
  }

  @Test func `an even step is as certain as it was watched`() {
    var forecast = forecast()
    let uncertainties = [10_001, 40_001].map {
      forecast.moved(at: at($0), width: .microseconds(2))
    }
    #expect(uncertainties == [.microseconds(2), .microseconds(2)])
  }

  @Test func `steps are as uncertain as the last ones were off the forecast`() {
    var forecast = forecast()
    let uncertainties = [10_300, 20_300, 30_300, 2_030_300].map {
      forecast.moved(at: at($0), width: .microseconds(2)).count
    }
    // A crystal's error may explain a three-thousandth of a step. Observations from long ago are
    // worthless.
    #expect(abs(uncertainties[0] - 296_567) < 1000)
    #expect(abs(uncertainties[1] - 287_300) < 1000)
    #expect(abs(uncertainties[2] - 278_320) < 1000)
    #expect(uncertainties[3] == 2000)
  }

  @Test func `a move found without a forecast does not measure how even steps are`() {
    var forecast = forecast(width: 100)
    let uncertainty = forecast.moved(at: at(10_090), width: .microseconds(2))
    #expect(uncertainty == .microseconds(2))
  }

  @Test func `a move is sought four times a second`() {
    var forecast = StepForecast(step: .milliseconds(10))
    let answers = [0, 10_000, 20_000, 30_000, 40_000, 999_999, 1_000_000].map {
      forecast.mayBeSought(at: at($0))
    }
    #expect(answers == [true, true, true, true, false, false, true])
  }

  @Test func `while a first move is sought, one may be found soon`() {
    var forecast = StepForecast(step: .milliseconds(10))
    let answers = (0..<5 as Range<Int64>).map { index in
      defer { _ = forecast.mayBeSought(at: at(index * 10_000)) }
      return forecast.isPromising(at: at(index * 10_000))
    }
    #expect(answers == [true, true, true, true, false])
    #expect(self.forecast().isPromising(at: at(999_999)))
    #expect(!self.forecast().isPromising(at: at(1_000_000)))
  }
}
