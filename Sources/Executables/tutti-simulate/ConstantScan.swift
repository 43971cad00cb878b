import ArgumentParser
import Foundation
import Simulation

/// Plays the same groups with other values of a constant, and prints how far apart their rooms were and how much their
/// rates changed: being close and being even are bought from each other.
struct ConstantScan {
  /// What shows how exact the clocks are: each in its own way.
  private static let scenarios = ["switches", "wander", "wifi", "wifi-bad", "usb"]
  private static let minutes = 2.0

  var constants: [(constant: TunedConstant, values: [Double])]
  var seeds: Range<UInt64>
  var rooms: Int
  var cards: [CardQuality.Granularity]

  /// `all`, a constant's name, or `NAME=VALUE,VALUE`.
  static func constants(
    _ text: String
  ) throws -> [(constant: TunedConstant, values: [Double])] {
    if text == "all" { return TunedConstant.all.map { ($0, $0.others) } }
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard let name = parts.first, let constant = TunedConstant.named(name) else {
      let names = TunedConstant.all.map(\.name).joined(separator: ", ")
      throw ValidationError("there is no constant \(text): it may be all, \(names)")
    }
    guard parts.count == 2 else { return [(constant, constant.others)] }
    let values = try parts[1].split(separator: ",").map { text in
      guard let value = Double(text), constant.range.contains(value) else {
        let (low, high) = (constant.range.lowerBound, constant.range.upperBound)
        throw ValidationError("\(text) is no value for \(name): it may be \(low) to \(high)")
      }
      return value
    }
    guard !values.isEmpty else {
      throw ValidationError("there are no values; give them as \(name)=\(constant.usual)")
    }
    return [(constant, values)]
  }

  func run() async {
    let names = Self.scenarios.map { pad($0, 14) }.joined()
    print("p99 of the spread in µs / change of the rate in ppb a second, from 20 s on,")
    print("mean of \(seeds.count) seeds, \(rooms) rooms")
    print(pad("", -30) + names)
    let usual = await figures(nil)
    line("as it is", usual)
    for (constant, values) in constants {
      for value in values {
        line("\(constant.name) \(value)", await figures((constant, value)))
      }
    }
  }

  private func line(_ title: String, _ figures: [Outcome]) {
    print(pad(title, -30) + figures.map { pad("\($0)", 14) }.joined())
    fflush(nil)
  }

  private struct Outcome: CustomStringConvertible {
    var spread: Float = 0
    var rateChange: Float = 0

    var description: String { String(format: "%.1f / %.0f", spread, rateChange) }
  }

  /// Of each scenario.
  private func figures(_ change: (constant: TunedConstant, value: Double)?) async -> [Outcome] {
    let runs = Self.scenarios.indices.flatMap { index in seeds.map { (index, $0) } }
    return await withTaskGroup(of: (Int, Outcome).self) { group in
      for (index, seed) in runs {
        group.addTask { (index, play(Self.scenarios[index], seed: seed, change)) }
      }
      var means = [Outcome](repeating: Outcome(), count: Self.scenarios.count)
      for await (index, outcome) in group {
        means[index].spread += outcome.spread / Float(seeds.count)
        means[index].rateChange += outcome.rateChange / Float(seeds.count)
      }
      return means
    }
  }

  private func play(
    _ name: String, seed: UInt64, _ change: (constant: TunedConstant, value: Double)?
  ) -> Outcome {
    let hours = Self.minutes / 60
    let named = Scenario(name, seed: seed, rooms: rooms, hours: hours, cards: cards)
    guard var scenario = named else {
      return Outcome(spread: .nan, rateChange: .nan)
    }
    scenario.configuration.isExact = false
    if let change {
      scenario.configuration = change.constant.applied(change.value, to: scenario.configuration)
    }
    let result = scenario.play()
    return Outcome(spread: result.spread.p99, rateChange: result.rateChange)
  }

  /// To the right, or to the left if `width` is negative.
  private func pad(_ text: String, _ width: Int) -> String {
    let room = String(repeating: " ", count: max(1, abs(width) - text.count))
    return width < 0 ? text + room : room + text
  }
}
