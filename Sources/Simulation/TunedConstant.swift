import Clock
import Receiver

/// A constant of the clock's estimate or of the steering, by its name, with the values that are worth comparing.
package struct TunedConstant: Sendable {
  package let name: String
  /// The one in use.
  package let usual: Double
  /// Half as much and twice as much, but where that means nothing.
  package let others: [Double]
  /// What it may be set to.
  package let range: ClosedRange<Double>
  private let set: @Sendable (inout SimulatedGroup.Configuration, Double) -> Void

  /// The same group, with another value out of `range`.
  package func applied(
    _ value: Double, to configuration: SimulatedGroup.Configuration
  ) -> SimulatedGroup.Configuration {
    var other = configuration
    set(&other, value)
    return other
  }

  private static func clock(
    _ name: String, _ path: any WritableKeyPath<ClockTuning, Double> & Sendable
  ) -> Self {
    let usual = ClockTuning()[keyPath: path]
    return Self(
      name: name, usual: usual, others: [usual / 2, usual * 2], range: usual / 100...usual * 100
    ) {
      $0.clockTuning[keyPath: path] = $1
    }
  }

  private static func steering(
    _ name: String, _ path: any WritableKeyPath<SteeringTuning, Double> & Sendable
  ) -> Self {
    let usual = SteeringTuning()[keyPath: path]
    return Self(
      name: name, usual: usual, others: [usual / 2, usual * 2], range: usual / 100...usual * 100
    ) {
      $0.steeringTuning[keyPath: path] = $1
    }
  }

  private static let judgingLane = Self(
    name: "judgingLane", usual: Double(ClockTuning().judgingLane), others: [2, 3, 5, 6],
    range: 1...6
  ) {
    $0.clockTuning.judgingLane = Int($1)
  }

  /// In the order in which the figures come about.
  package static let all: [Self] = [
    clock("shortestInterval", \.shortestInterval), clock("longestInterval", \.longestInterval),
    clock("roundTripsApart", \.roundTripsApart),
    clock("sufficientDeviation", \.sufficientDeviation),
    clock("tolerableDeviation", \.tolerableDeviation),
    clock("ageing", \.ageing), clock("noiseShare", \.noiseShare),
    clock("deviationFloor", \.deviationFloor), clock("stampError", \.stampError),
    clock("gapFactor", \.gapFactor), clock("expectedWander", \.expectedWander), judgingLane,
    clock("inflation", \.inflation), clock("fastestInterval", \.fastestInterval),
    clock("fastPart", \.fastPart), clock("clearlyLess", \.clearlyLess),
    clock("toleratedDistance", \.toleratedDistance),
    clock("longestSmoothing", \.longestSmoothing),
    steering("edgeDeviation", \.edgeDeviation), steering("fineDeviation", \.fineDeviation),
    steering("coarseDeviation", \.coarseDeviation), steering("wander", \.wander),
    steering("coarseWander", \.coarseWander), steering("leastDoubt", \.leastDoubt),
    steering("mostDoubt", \.mostDoubt), steering("doubtShare", \.doubtShare),
    steering("gentleTime", \.gentleTime), steering("quickTime", \.quickTime),
    steering("firstTime", \.firstTime), steering("ratePart", \.ratePart),
    steering("outdatedError", \.outdatedError),
  ]

  package static func named(_ name: String) -> Self? { all.first { $0.name == name } }
}
