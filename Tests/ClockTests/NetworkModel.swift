import Clock
import Foundation
import Simulation
import TestSupport

/// Delays of a network with queues that fill and empty, and noise per packet, in true time from 0 on. Paths are
/// symmetric except for the queues.
struct NetworkModel {
  enum Kind: CaseIterable {
    /// An idle switch and the kernel's stamps.
    case wired
    /// Radio with contention, retries and other stations.
    case wifi
    /// Radio whose downlink is full for ten seconds at a time.
    case wifiBusy
    /// Radio that lets six of ten answers wait for the next beacon.
    case wifiPowerSave
  }

  let kind: Kind
  private let step = 0.005
  private let base: Double
  private let uplink: [Double]
  private let downlink: [Double]

  init(_ kind: Kind, seconds: Double, random: inout SplitMix64) {
    self.kind = kind
    let count = Int(seconds / step) + 400
    switch kind {
    case .wired:
      base = 50e-6
      uplink = [Double](repeating: 0, count: count)
      downlink = uplink
    case .wifi, .wifiPowerSave:
      base = 0.9e-3
      let load = onOff(count, on: 3 / step, off: 6 / step, &random).map { $0 * 0.6 + 0.4 }
      downlink = queue(load.map { $0 * 0.10 }, work: 6e-3, step: step, &random)
      uplink = queue(load.map { $0 * 0.04 }, work: 5e-3, step: step, &random)
    case .wifiBusy:
      base = 0.9e-3
      let load = onOff(count, on: 10 / step, off: 15 / step, &random)
      let episodes = queue(load.map { $0 * 0.45 }, work: 10.6e-3, step: step, &random)
      let rest = queue(load.map { _ in 0.08 }, work: 5e-3, step: step, &random)
      downlink = zip(episodes, rest).map(+)
      uplink = queue(load.map { ($0 * 0.9 + 0.1) * 0.25 }, work: 6e-3, step: step, &random)
    }
  }

  func up(at time: Double, _ random: inout SplitMix64) -> Double {
    base + uplink[Int(time / step)] + packetNoise(&random)
  }

  func down(at time: Double, _ random: inout SplitMix64) -> Double {
    let delay = base + downlink[Int(time / step)] + packetNoise(&random)
    guard kind == .wifiPowerSave, random.unit() < 0.6 else { return delay }
    var beacon = ((time + delay) / 0.1024).rounded(.up) * 0.1024
    if random.unit() < 0.2 { beacon += 0.1024 }
    return beacon - time + random.gamma(shape: 1.2, scale: 0.3e-3)
  }

  private func packetNoise(_ random: inout SplitMix64) -> Double {
    if kind == .wired {
      var delay = random.gamma(shape: 2, scale: 3e-6)
      let rare = random.unit()
      if rare < 0.02 {
        delay += random.exponential(mean: 40e-6)
      } else if rare < 0.021 {
        delay += random.exponential(mean: 300e-6)
      }
      return delay
    }
    var delay = random.gamma(shape: 1.2, scale: 0.5e-3)
    let rare = random.unit()
    if rare < 0.03 {
      delay += random.exponential(mean: 5e-3)
    } else if rare < 0.035 {
      delay += min(0.1, 20e-3 * (1 + random.pareto(shape: 1.5)))
    }
    return delay
  }
}

private func onOff(_ count: Int, on: Double, off: Double, _ random: inout SplitMix64) -> [Double] {
  var states: [Double] = []
  var isOn = false
  while states.count < count {
    let length = Int(random.exponential(mean: isOn ? on : off)) + 1
    states.append(contentsOf: [Double](repeating: isOn ? 1 : 0, count: length))
    isOn.toggle()
  }
  return Array(states.prefix(count))
}

/// Waiting times in a work-conserving queue. `arrivals` is the chance of new work per step, `work` its mean in
/// seconds.
private func queue(
  _ arrivals: [Double], work: Double, step: Double, _ random: inout SplitMix64
) -> [Double] {
  let shape = 1.8
  var waiting = 0.0
  return arrivals.map { chance in
    if random.unit() < chance {
      waiting += work * (shape - 1) / shape * (1 + random.pareto(shape: shape))
    }
    waiting = min(max(waiting - step, 0), 0.1)
    return waiting
  }
}
