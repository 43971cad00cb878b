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

  private static func tuned(
    _ name: String,
    _ path: any WritableKeyPath<SimulatedGroup.Configuration, Double> & Sendable
  ) -> Self {
    let usual = SimulatedGroup.Configuration.house([], seed: 0)[keyPath: path]
    return Self(
      name: name, usual: usual, others: [usual / 2, usual * 2], range: usual / 100...usual * 100
    ) {
      $0[keyPath: path] = $1
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
    tuned("shortestInterval", \.clockTuning.shortestInterval),
    tuned("longestInterval", \.clockTuning.longestInterval),
    tuned("roundTripsApart", \.clockTuning.roundTripsApart),
    tuned("sufficientDeviation", \.clockTuning.sufficientDeviation),
    tuned("tolerableDeviation", \.clockTuning.tolerableDeviation),
    tuned("ageing", \.clockTuning.ageing), tuned("noiseShare", \.clockTuning.noiseShare),
    tuned("deviationFloor", \.clockTuning.deviationFloor),
    tuned("stampError", \.clockTuning.stampError),
    tuned("gapFactor", \.clockTuning.gapFactor),
    tuned("expectedWander", \.clockTuning.expectedWander),
    tuned("steadySpan", \.clockTuning.steadySpan),
    tuned("biasMargin", \.clockTuning.biasMargin),
    tuned("changingMemory", \.clockTuning.changingMemory),
    tuned("trendTime", \.clockTuning.trendTime),
    tuned("steadyWander", \.clockTuning.steadyWander), judgingLane,
    tuned("inflation", \.clockTuning.inflation),
    tuned("solutionsPerMemory", \.clockTuning.solutionsPerMemory),
    tuned("fastestInterval", \.clockTuning.fastestInterval),
    tuned("fastPart", \.clockTuning.fastPart),
    tuned("toleratedDistance", \.clockTuning.toleratedDistance),
    tuned("longestSmoothing", \.clockTuning.longestSmoothing),
    tuned("edgeDeviation", \.steeringTuning.edgeDeviation),
    tuned("fineDeviation", \.steeringTuning.fineDeviation),
    tuned("coarseDeviation", \.steeringTuning.coarseDeviation),
    tuned("wander", \.steeringTuning.wander),
    tuned("coarseWander", \.steeringTuning.coarseWander),
    tuned("leastDoubt", \.steeringTuning.leastDoubt),
    tuned("cardDoubt", \.steeringTuning.cardDoubt),
    tuned("clockDoubt", \.steeringTuning.clockDoubt),
    tuned("gentleTime", \.steeringTuning.gentleTime),
    tuned("quickTime", \.steeringTuning.quickTime),
    tuned("patientMemory", \.steeringTuning.patientMemory),
    tuned("mostPatience", \.steeringTuning.mostPatience),
    tuned("steadyCard", \.steeringTuning.steadyCard),
    tuned("firstTime", \.steeringTuning.firstTime),
    tuned("holdPart", \.steeringTuning.holdPart),
    tuned("outdatedError", \.steeringTuning.outdatedError),
  ]

  package static func named(_ name: String) -> Self? { all.first { $0.name == name } }
}
