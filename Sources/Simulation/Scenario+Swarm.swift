import Clock
import Disturbances

/// Kinds of faults, and of what people do, that the swarm draws.
private enum DrawnKind: CaseIterable {
  case seek, pause, partition, stall, unplug, restart, clockStep, sender, suspend, slowLink, move
  case visit, distrust, item

  /// A live source goes on while it is paused, and a sender that is away is heard where little is kept ahead.
  func occurs(in house: DrawnHousehold) -> Bool {
    switch self {
    case .seek, .pause: house.sound != .live
    case .item: house.items.count > 1
    case .sender: house.sound == .deep
    case .partition, .stall, .unplug, .restart, .clockStep, .suspend, .slowLink, .move, .visit,
      .distrust:
      true
    }
  }
}

extension Scenario {
  /// Returns faults. Some kinds do not occur, the others get random weights, so that rare combinations come up. All are over
  /// early enough for the rooms to settle.
  static func swarm(
    seconds: Double, rooms: Int, _ house: DrawnHousehold, _ random: inout SplitMix64
  ) -> [Disturbance] {
    let kinds = DrawnKind.allCases
    var weights = kinds.map { kind in
      let weight = random.chance(0.5) ? random.unit() : 0
      return kind.occurs(in: house) ? weight : 0
    }
    if house.hasSecondDaemon, let sender = kinds.firstIndex(of: .sender) { weights[sender] = 1 }
    let sum = weights.reduce(0, +)
    guard sum > 0 else { return [] }
    var faults: [Disturbance] = []
    var time = 5.0
    while time < seconds - settling {
      time += random.exponential(mean: 6)
      var choice = random.unit() * sum
      let index =
        weights.firstIndex {
          choice -= $0
          return choice < 0
        } ?? 0
      // The first room is left alone, as a reference.
      let room = rooms > 1 ? 1 + Int(random.next() % UInt64(rooms - 1)) : 0
      let drawn = drawn(kinds[index], at: time, room, of: rooms, house, &random)
      faults += drawn.allSatisfy { $0.settled <= seconds } ? drawn : []
    }
    if house.sound != .live {
      faults.append(Disturbance(at: max(0, seconds - 25), kind: .command(.resume)))
    }
    return faults
  }

  /// Rooms fill while they play, and nothing is asked of a sender that is away for longer than they hold.
  private static let longestAbsence = 6.0

  private static func drawn(
    _ kind: DrawnKind, at time: Double, _ room: Int, of rooms: Int, _ house: DrawnHousehold,
    _ random: inout SplitMix64
  ) -> [Disturbance] {
    switch kind {
    case .sender where house.hasSecondDaemon:
      return daemonFaults(at: time, for: random.exponential(mean: 5), rooms: rooms, &random)
    case .move:
      let back = time + random.exponential(mean: 4)
      return [
        Disturbance(at: time, kind: .leave(room)), Disturbance(at: back, kind: .join(room)),
      ]
    default: return [Disturbance(at: time, kind: fault(kind, room, house, &random))]
    }
  }

  private static func fault(
    _ kind: DrawnKind, _ room: Int, _ house: DrawnHousehold, _ random: inout SplitMix64
  ) -> Disturbance.Kind {
    switch kind {
    case .seek where random.chance(0.3):
      .command(.seekBy(.milliseconds(Int64(random.uniform(-20_000...20_000)))))
    case .seek: .command(.seek(to: .milliseconds(Int64(random.uniform(0...600_000)))))
    case .pause: .command(random.chance(0.4) ? .pause : .resume)
    case .item: .command([.next, .previous, .another][Int(random.next() % 3)])
    case .partition: .partition(room, seconds: random.exponential(mean: 5))
    case .stall: .stall(room, seconds: random.exponential(mean: 0.1))
    case .unplug: .unplug(room, seconds: random.exponential(mean: 2))
    case .restart: .restart(room, seconds: random.uniform(0.2...3))
    case .clockStep: .clockStep(room, seconds: random.exponential(mean: 0.01))
    case .sender where random.chance(0.3):
      .suspendSender(seconds: min(longestAbsence, random.exponential(mean: 4)))
    case .sender: .restartSender(seconds: min(longestAbsence, random.exponential(mean: 3)))
    case .suspend: .suspend(room, seconds: random.exponential(mean: 4))
    case .visit: .visit(room, seconds: random.exponential(mean: 3))
    case .distrust: .distrust(room, seconds: random.exponential(mean: 3))
    case .slowLink, .move:
      .slowLink(
        room, rate: house.byteRate * random.uniform(0.06...0.4),
        seconds: random.exponential(mean: 5))
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
