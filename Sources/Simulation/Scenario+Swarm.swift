import Clock
import Disturbances

extension Scenario {
  /// Returns faults. Some kinds do not occur, the others get random weights, so that rare combinations come up. All are over
  /// early enough for the rooms to settle.
  static func swarm(
    seconds: Double, rooms: Int, daemons: Int, _ random: inout SplitMix64
  ) -> [Disturbance] {
    var weights = (0..<kindsOfFaults).map { _ in random.chance(0.5) ? random.unit() : 0 }
    if daemons > 1 { weights[kindOfSenders] = 1 }
    let sum = weights.reduce(0, +)
    guard sum > 0 else { return [] }
    var faults: [Disturbance] = []
    var time = 5.0
    while time < seconds - settling {
      time += random.exponential(mean: 6)
      var choice = random.unit() * sum
      let kind =
        weights.firstIndex {
          choice -= $0
          return choice < 0
        } ?? 0
      // The first room is left alone, as a reference.
      let room = rooms > 1 ? 1 + Int(random.next() % UInt64(rooms - 1)) : 0
      let drawn =
        kind == kindOfSenders && daemons > 1
        ? daemonFaults(at: time, for: random.exponential(mean: 5), rooms: rooms, &random)
        : [Disturbance(at: time, kind: fault(kind, room, &random))]
      faults += drawn.filter { $0.settled <= seconds }
    }
    faults.append(Disturbance(at: max(0, seconds - 25), kind: .command(.resume)))
    return faults
  }

  private static let kindsOfFaults = 10
  private static let kindOfSenders = 7

  /// A fourth of the households have two.
  static func drawsSecondDaemon(_ seed: UInt64) -> Bool {
    var random = SplitMix64(seed: seed, part: 79)
    return random.chance(0.25)
  }

  private static func fault(
    _ kind: Int, _ room: Int, _ random: inout SplitMix64
  ) -> Disturbance.Kind {
    switch kind {
    case 0: .command(.seek(to: .milliseconds(Int64(random.uniform(0...600_000)))))
    case 1: .command(random.chance(0.4) ? .pause : .resume)
    case 2: .partition(room, seconds: random.exponential(mean: 5))
    case 3: .stall(room, seconds: random.exponential(mean: 0.1))
    case 4: .unplug(room, seconds: random.exponential(mean: 2))
    case 5: .restart(room, seconds: random.uniform(0.2...3))
    case 6: .clockStep(room, seconds: random.exponential(mean: 0.01))
    case 7: .restartSender(seconds: random.exponential(mean: 3))
    case 8: .suspend(room, seconds: random.exponential(mean: 4))
    default:
      .slowLink(room, rate: random.uniform(10_000...60_000), seconds: random.exponential(mean: 5))
    }
  }
}

extension Scenario {
  /// Returns this scenario with the fewest disturbances that still break a promise, as far as leaving out goes; nil if all
  /// promises are kept. Calls `progress` with the number of those left, after each that is found.
  package func shrunk(progress: (Int) -> Void = { _ in }) -> Scenario? {
    guard play().firstBroken != nil else { return nil }
    var shrunk = self
    shrunk.disturbances = Shrinking.fewest(of: disturbances) { left in
      var scenario = self
      scenario.disturbances = left
      guard scenario.play().firstBroken != nil else { return false }
      progress(left.count)
      return true
    }
    return shrunk
  }
}

/// Finds what matters among things that fail together.
package enum Shrinking {
  /// Returns as few of `items`, in their order, as still fail: none of those can be left out. All of them fail together.
  ///
  /// It leaves out halves, then quarters and so on down to single ones, so that it takes about `k * log(n)` trials to find `k`
  /// of `n`.
  package static func fewest<Item>(of items: [Item], that fail: ([Item]) -> Bool) -> [Item] {
    var left = items
    var size = max(1, left.count / 2)
    while !left.isEmpty {
      var start = 0
      var isShorter = false
      while start < left.count {
        var rest = left
        rest.removeSubrange(start..<min(start + size, left.count))
        if fail(rest) {
          left = rest
          isShorter = true
        } else {
          start += size
        }
      }
      // One that had to stay may be left out, now that others are gone.
      if size == 1, !isShorter { break }
      size = max(1, size / 2)
    }
    return left
  }
}
