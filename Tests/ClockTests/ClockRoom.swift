import Clock
import Foundation
import Simulation

/// Networks that keep the order of packets. Delays are independent from packet to packet: no traffic fills a queue.
extension PathQuality {
  private static var orderedWire: PathQuality {
    var link = LinkQuality()
    link.delay = .microseconds(100)
    link.jitter = .microseconds(200)
    link.noise = (1, 0)
    link.spikes = []
    link.keepsOrder = true
    return PathQuality(up: link, down: link)
  }

  private static func orderedRadio(
    _ delay: Nanoseconds, scale: Double, spikes: [(chance: Double, mean: Double)], stalls: Double
  ) -> PathQuality {
    var link = PathQuality.orderedWire.up
    link.delay = delay
    link.noise = (2, scale)
    link.spikes = spikes
    link.stallInterval = stalls
    return PathQuality(up: link, down: link)
  }

  /// 0.1 ms and evenly up to 0.2 ms more, symmetric.
  static let even = orderedWire
  /// 1 ms and a gamma of 0.7 ms, with spikes and stalls.
  static let radio = orderedRadio(
    .milliseconds(1), scale: 350e-6, spikes: [(0.01, 10e-3)], stalls: 40)
  /// 2 ms and a gamma of 3 ms, with more of both.
  static let farRadio = orderedRadio(
    .milliseconds(2), scale: 1.5e-3, spikes: [(0.03, 15e-3)], stalls: 15)
  /// A wire with 4 ms more towards the receiver.
  static let asymmetric: PathQuality = {
    var path = orderedWire
    path.down.delay = path.up.delay + .milliseconds(4)
    return path
  }()
  /// No delay but what busy machines take to pass a packet on, and the receiver's takes more.
  static let busyMachines: PathQuality = {
    var path = orderedWire
    path.up.delay = .microseconds(20)
    path.up.jitter = .zero
    path.up.noise = (4, 5e-6)
    path.up.spikes = [(0.15, 60e-6), (0.03, 0.5e-3)]
    path.down = path.up
    path.down.noise = (4, 7.5e-6)
    path.down.spikes = [(0.2, 60e-6), (0.04, 0.5e-3)]
    return path
  }()
}

/// A receiver on such a network, with the schedule's probes and a filter that is smoothed from 0.3 s on.
struct ClockRoom {
  enum Wander { case none, slowSine, walk, quickSine }

  struct Look {
    /// Seconds since the first probe.
    var time: Double
    /// Error of the estimate, in microseconds.
    var error: Double
    var estimate: ClockEstimate
    var isLocked: Bool
  }

  /// Looks of every 50 ms at the filter, once it has an estimate.
  private(set) var looks: [Look] = []

  private let lead: [Double]
  private static let step = 0.05

  init(_ path: PathQuality, wander: Wander = .none, seconds: Double, seed: UInt64) {
    var random = SplitMix64(seed: seed &* 7919 &+ 13)
    lead = Self.lead(wander, seconds: seconds + 5, &random)
    var up = NetworkLink(path.up, random: SplitMix64(seed: seed, part: 1))
    var down = NetworkLink(path.down, random: SplitMix64(seed: seed, part: 2))
    var filter = ClockFilter()
    var schedule = ProbeSchedule(startingAt: local(0))
    var answers: [(arrival: Double, sample: TimeSample)] = []
    var probe = 0.0
    var lookAt = Self.step
    while lookAt < seconds {
      if let first = answers.first, first.arrival <= min(probe, lookAt) {
        _ = filter.insert(answers.removeFirst().sample)
      } else if probe < lookAt {
        let received = up.arrival(ofDatagram: 64, at: TrueTime(seconds: probe)).seconds
        let replied = TrueTime(seconds: received + 30e-6)
        let arrival = down.arrival(ofDatagram: 64, at: replied).seconds
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
