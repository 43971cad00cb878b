import Clock
import Foundation
import Simulation
import TestSupport

/// A network of lanes that keep the order of packets: one lane of the sender, always a wire with a switch, and one
/// of the receiver. Delays are independent from packet to packet, unlike those of `NetworkModel`.
struct LaneNetwork {
  enum Kind: CaseIterable {
    /// 50 µs plus a uniform delay of up to 100 µs, symmetric and light-tailed.
    case wired
    /// 1 ms plus a gamma-distributed delay of 0.7 ms, with spikes and stalls.
    case wifi
    /// 2 ms plus a gamma-distributed delay of 3 ms, with more spikes and stalls.
    case farWifi
    /// A wire with 4 ms more towards the receiver.
    case asymmetric
    /// The only delay is the time that busy machines take to pass a packet on; the receiver's machine takes
    /// longer.
    case busyMachines
  }

  private struct Lane {
    var delay: Double
    var uniform = 0.0
    var gammaScale = 0.0
    var spikeChance = 0.0
    var spikeLeast = 0.0
    var spikeShape = 1.0
    var spikeMost = 0.0
    var lastArrival = 0.0

    mutating func pass(at time: Double, notBefore: Double, _ random: inout SplitMix64) -> Double {
      var delay = delay + random.uniform(0...uniform)
      if gammaScale > 0 { delay += random.gamma(shape: 2, scale: gammaScale) }
      if spikeChance > 0, random.unit() < spikeChance {
        delay += min(spikeMost, spikeLeast * (1 + random.pareto(shape: spikeShape)))
      }
      lastArrival = max(time + delay, notBefore, lastArrival)
      return lastArrival
    }
  }

  private var up: [Lane]
  private var down: [Lane]
  /// Mean seconds between two stalls of the receiver's lane; zero for none.
  private let stallInterval: Double
  private var nextStall = Double.infinity
  private var stalledUntil = 0.0

  init(_ kind: Kind, random: inout SplitMix64) {
    let wire = Lane(delay: 50e-6, uniform: 100e-6)
    // The lanes of the sender and of the receiver, towards the receiver.
    var near = wire
    var far = wire
    var stallInterval = 0.0
    switch kind {
    case .wired:
      up = [wire, wire]
    case .wifi:
      far = Lane(
        delay: 1e-3, gammaScale: 350e-6, spikeChance: 0.01, spikeLeast: 3e-3, spikeShape: 1.3,
        spikeMost: 80e-3)
      up = [far, wire]
      stallInterval = 40
    case .farWifi:
      far = Lane(
        delay: 2e-3, gammaScale: 1.5e-3, spikeChance: 0.03, spikeLeast: 5e-3, spikeShape: 1.1,
        spikeMost: 150e-3)
      up = [far, wire]
      stallInterval = 15
    case .asymmetric:
      far.delay = 200e-6
      up = [far, wire]
      far.delay += 4e-3
    case .busyMachines:
      near = Lane(
        delay: 10e-6, gammaScale: 5e-6, spikeChance: 0.1, spikeLeast: 20e-6, spikeShape: 0.7,
        spikeMost: 2e-3)
      far = near
      up = [far, near]
      far.gammaScale = 10e-6
      far.spikeChance = 0.15
    }
    down = [near, far]
    self.stallInterval = stallInterval
    if stallInterval > 0 { nextStall = random.exponential(mean: stallInterval) }
  }

  /// Returns the time in true seconds at which a request that leaves at `time` arrives.
  mutating func request(at time: Double, _ random: inout SplitMix64) -> Double {
    let held = stall(at: time, &random)
    let middle = up[0].pass(at: time, notBefore: held, &random)
    return up[1].pass(at: middle, notBefore: 0, &random)
  }

  mutating func answer(at time: Double, _ random: inout SplitMix64) -> Double {
    let middle = down[0].pass(at: time, notBefore: 0, &random)
    let held = stall(at: middle, &random)
    return down[1].pass(at: middle, notBefore: held, &random)
  }

  private mutating func stall(at time: Double, _ random: inout SplitMix64) -> Double {
    if time > nextStall {
      stalledUntil = nextStall + random.uniform(0.1...0.3)
      nextStall = stalledUntil + random.exponential(mean: stallInterval)
    }
    return stalledUntil
  }
}

/// A receiver on a `LaneNetwork`, with the schedule's probes and a filter that smooths from 0.3 s on.
struct LaneRoom {
  enum Wander { case none, slowSine, walk, quickSine }

  struct Look {
    /// Seconds since the first probe.
    var time: Double
    /// Error of the estimate, in microseconds.
    var error: Double
    var estimate: ClockEstimate
    var isLocked: Bool
  }

  /// The state of the filter every 50 ms, once it has an estimate.
  private(set) var looks: [Look] = []

  private let lead: [Double]
  private static let step = 0.05

  init(_ kind: LaneNetwork.Kind, wander: Wander = .none, seconds: Double, seed: UInt64) {
    var random = SplitMix64(seed: seed &* 7919 &+ 13)
    lead = Self.lead(wander, seconds: seconds + 5, &random)
    var network = LaneNetwork(kind, random: &random)
    var filter = ClockFilter()
    var schedule = ProbeSchedule(startingAt: local(0))
    var answers: [(arrival: Double, sample: TimeSample)] = []
    var probe = 0.0
    var lookAt = Self.step
    while lookAt < seconds {
      if let first = answers.first, first.arrival <= min(probe, lookAt) {
        _ = filter.insert(answers.removeFirst().sample)
      } else if probe < lookAt {
        let received = network.request(at: probe, &random)
        let arrival = network.answer(at: received + 30e-6, &random)
        if let sample = sample(probe, received, received + 30e-6, arrival) {
          answers.append((arrival, sample))
        }
        schedule.sent(
          at: local(probe), isWandering: filter.isWandering, random: random.next())
        probe += (schedule.nextProbe - local(probe)).seconds
      } else {
        if filter.isLocked, lookAt > 0.3 { filter.isSmoothed = true }
        if let estimate = filter.estimate(at: local(lookAt)) {
          let error = (estimate.group - group(lookAt)).seconds * 1e6
          looks.append(
            Look(time: lookAt, error: error, estimate: estimate, isLocked: filter.isLocked))
        }
        lookAt += Self.step
      }
    }
  }

  private static func lead(_ wander: Wander, seconds: Double, _ random: inout SplitMix64)
    -> [Double]
  {
    var rate = random.uniform(-50e-6...50e-6)
    let phase = random.uniform(0...2 * Double.pi)
    var lead = 1234.5
    return (0..<Int(seconds / step)).map { index in
      let turn = 2 * Double.pi * Double(index) * step
      var extra = 0.0
      switch wander {
      case .none: break
      case .slowSine: extra = 3e-6 * sin(turn / 90 + phase)
      case .quickSine: extra = 2e-6 * sin(turn / 45 + phase)
      case .walk: rate += random.normal(deviation: 0.3e-6 * step.squareRoot())
      }
      defer { lead += (rate + extra) * step }
      return lead
    }
  }

  private func local(_ time: Double) -> LocalTime {
    let index = min(Int(time / Self.step), lead.count - 2)
    let part = time / Self.step - Double(index)
    let ahead = lead[index] * (1 - part) + lead[index + 1] * part
    return LocalTime(nanoseconds: Int64(((time + ahead) * 1e9).rounded()))
  }

  private func group(_ time: Double) -> GroupTime {
    GroupTime(nanoseconds: Int64((time * 1e9).rounded()))
  }

  private func sample(_ t1: Double, _ t2: Double, _ t3: Double, _ t4: Double) -> TimeSample? {
    TimeSample(
      requestSentAt: local(t1), requestReceivedAt: group(t2), answerSentAt: group(t3),
      answerReceivedAt: local(t4))
  }
}
