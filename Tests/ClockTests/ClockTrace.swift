import Clock
import Foundation
import Simulation
import TestSupport

/// A receiver's clock that deviates from true time. The group's clock is true time.
struct LocalClockModel {
  private let step = 0.1
  private var ahead: [Double]
  private var jumps: [(at: Double, by: Double)] = []

  /// - Parameter drift: how much faster the local clock runs at the start. The drift wanders like that of
  ///   crystals at room temperature.
  init(
    seconds: Double, drift: Double, jumps: [(at: Double, by: Double)], random: inout SplitMix64
  ) {
    self.jumps = jumps
    var rate = drift
    var phase = 1234.567
    ahead = []
    let start = random.uniform(0...6.28)
    for index in 0..<Int(seconds / step) + 40 {
      ahead.append(phase)
      rate += random.normal(deviation: 1.5e-9 * step.squareRoot())
      let warmth = 0.3e-6 * sin(2 * Double.pi * Double(index) * step / 1800 + start)
      phase += (rate + warmth) * step + random.normal(deviation: 1e-9 * step.squareRoot())
    }
  }

  /// Local time minus group time, in seconds.
  func lead(at time: Double) -> Double {
    let position = time / step
    let index = min(Int(position), ahead.count - 2)
    let part = position - Double(index)
    let smooth = ahead[index] * (1 - part) + ahead[index + 1] * part
    return jumps.reduce(smooth) { time >= $1.at ? $0 + $1.by : $0 }
  }

  func local(at time: Double) -> LocalTime {
    LocalTime(nanoseconds: Int64(((time + lead(at: time)) * 1e9).rounded()))
  }
}

/// The samples that a receiver gets in virtual time, in order of arrival.
struct ClockTrace {
  struct Entry {
    /// When the answer arrived, in true seconds.
    var arrival: Double
    var sample: TimeSample
  }

  var entries: [Entry] = []
  let clock: LocalClockModel

  /// Probes follow `schedule`, or the given interval after 16 probes 20 ms apart.
  init(
    _ path: PathQuality, seconds: Double, seed: UInt64, interval: Double? = 0.25,
    drift: Double? = nil, jumps: [(at: Double, by: Double)] = []
  ) {
    var random = SplitMix64(seed: seed)
    let drift = drift ?? random.uniform(-50e-6...50e-6)
    clock = LocalClockModel(seconds: seconds, drift: drift, jumps: jumps, random: &random)
    var up = NetworkLink(path.up, random: SplitMix64(seed: seed, part: 1))
    var down = NetworkLink(path.down, random: SplitMix64(seed: seed, part: 2))
    var schedule = ProbeSchedule(startingAt: clock.local(at: 0.05))
    var time = 0.05
    var sent = 0
    while time < seconds - 1 {
      let (sentAt, isLost) = (TrueTime(seconds: time), up.isLost(at: TrueTime(seconds: time)))
      let received = up.arrival(ofDatagram: 64, at: sentAt).seconds
      let replied = received + 30e-6
      let repliedAt = TrueTime(seconds: replied)
      let answered = !isLost && !down.isLost(at: repliedAt)
      let arrival = down.arrival(ofDatagram: 64, at: repliedAt).seconds
      let sample = TimeSample(
        requestSentAt: clock.local(at: time), requestReceivedAt: group(received),
        answerSentAt: group(replied), answerReceivedAt: clock.local(at: arrival))
      if answered, let sample { entries.append(Entry(arrival: arrival, sample: sample)) }
      sent += 1
      if let interval {
        time += (sent < 16 ? 0.02 : interval) * random.uniform(0.8...1.2)
      } else {
        schedule.sent(
          at: clock.local(at: time), isWandering: false, random: random.next())
        time += (schedule.nextProbe - clock.local(at: time)).seconds
      }
    }
    entries.sort { $0.arrival < $1.arrival }
  }

  /// Feeds `filter`, and calls `look` every `interval` seconds of true time with the estimate's error in seconds
  /// and the bound that the filter gives for it.
  func play(
    into filter: inout ClockFilter, every interval: Double, until end: Double,
    look: (_ time: Double, _ error: Double, _ estimate: ClockEstimate, _ filter: ClockFilter) ->
      Void
  ) {
    var next = 0
    var time = interval
    while time < end {
      while next < entries.count, entries[next].arrival <= time {
        _ = filter.insert(entries[next].sample)
        next += 1
      }
      let local = clock.local(at: time)
      if let estimate = filter.estimate(at: local) {
        look(time, (estimate.group - group(time)).seconds, estimate, filter)
      }
      time += interval
    }
  }

  private func group(_ time: Double) -> GroupTime {
    GroupTime(nanoseconds: Int64((time * 1e9).rounded()))
  }
}
