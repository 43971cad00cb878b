import Foundation
import TestSupport
import Testing

@testable import Clock

/// The estimates of the recorded networks, number by number: rooms of different versions agree only while they do not
/// change. Whoever changes them on purpose compares the figures of the other tests before and after, and keeps what this
/// test prints.
struct KeptEstimatesTests {
  @Test(arguments: ["wired", "wifi", "wifi_busy", "wifi_ps", "wired_step", "wifi_step"])
  func `the estimates of a recorded network are those that were kept`(network: String) throws {
    let url = try #require(
      Bundle.module.url(forResource: "estimates", withExtension: "csv", subdirectory: "Vectors"))
    let kept = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
    let made = try Self.estimates(network)
    let mine = kept.filter { $0.hasPrefix(network + ",") }
    guard made != mine else { return }
    let (one, other) = zip(made, mine).first { $0 != $1 } ?? ("\(made.count)", "\(mine.count)")
    Issue.record("\(one), kept is \(other)")
    print(made.joined(separator: "\n"))
  }

  /// A line for each eighth sample: the network, the sample, then what is said at its arrival and ten seconds later.
  private static func estimates(_ network: String) throws -> [String] {
    var filter = ClockFilter()
    var lines: [String] = []
    for (row, sample) in try recordedSamples(network) {
      let outcome = filter.insert(sample)
      if filter.isLocked { filter.isSmoothed = true }
      guard lines.count < 12 || Int(row[0]) % 8 == 0 || outcome != .inserted else { continue }
      let said = try [0, 10].map { try Self.words(filter, at: sample.arrival + .seconds($0)) }
      lines.append("\(network),\(Int(row[0])),\(outcome),\(said[0]),\(said[1])")
    }
    return lines
  }

  /// The offset and its bound in ns, the drift now and from one session to the next in parts of 10^12, and what is known.
  private static func words(_ filter: ClockFilter, at time: LocalTime) throws -> String {
    let estimate = try #require(filter.estimate(at: time))
    let offset = estimate.group.nanoseconds - time.nanoseconds
    let drifts = [estimate.drift, filter.drift].map { String(Int(($0 * 1e12).rounded())) }
    let known = [filter.isLocked, filter.isWandering, filter.isDriftKnown].map { $0 ? "1" : "0" }
    return
      "\(offset),\(estimate.errorBound.count),\(drifts.joined(separator: ",")),\(known.joined())"
  }
}
