import Clock
import Disturbances
import Sender

extension SimulatedGroup.Configuration {
  /// Gives the household a second daemon, on a machine with another clock.
  package mutating func addSecondDaemon() {
    var random = SplitMix64(seed: seed, part: 78)
    secondHost = .typical(&random)
  }
}

extension Scenario {
  /// Returns faults of both daemons. Each is over before what the rooms hold has sounded, and the rooms fill again before the
  /// next one.
  static func daemonFaults(
    seconds: Double, rooms: Int, _ random: inout SplitMix64
  ) -> [Disturbance] {
    var faults: [Disturbance] = []
    var time = 12.0
    // A fault lasts for 14 s, a room that was refused tries again after 5, and then the spread of the last 10 counts.
    while time < seconds - 36 {
      let span = min(14, random.exponential(mean: 5))
      let fault = daemonFault(rooms: rooms, &random)
      faults.append(
        .init(at: time, kind: .daemon(random.chance(0.5) ? 0 : 1, fault, seconds: span)))
      // Half of the splits lose rooms on both sides.
      if case .split(let lost, true) = fault, case .daemon(let number, _, _)? = faults.last?.kind,
        random.chance(0.5)
      {
        let rest = Set(0..<rooms).subtracting(lost)
        let other = Disturbance.DaemonFault.split(from: rest, alone: true)
        faults.append(.init(at: time, kind: .daemon(1 - number, other, seconds: span)))
      }
      time += span + 8 + random.exponential(mean: 6)
    }
    return faults
  }

  private static func daemonFault(
    rooms: Int, _ random: inout SplitMix64
  ) -> Disturbance.DaemonFault {
    switch random.next() % 8 {
    case 0: .killed
    case 1: .unplugged
    case 2: .cutOff
    default:
      .split(
        from: Set((0..<rooms).filter { _ in random.chance(0.5) }), alone: random.chance(0.8))
    }
  }
}

extension Disturbance.DaemonFault {
  /// Does nothing where the household has no daemon of that number, or only one.
  func happen(to number: Int, of group: SimulatedGroup, _ seconds: Double) {
    guard group.daemons.count > 1, group.daemons.indices.contains(number) else { return }
    switch self {
    case .killed: group.killDaemon(number)
    case .unplugged: group.pullPlug(number)
    case .cutOff:
      group.cutNetwork(of: number)
      // Nobody hears what it is told meanwhile.
      group.at(group.now.seconds + 3.5) { group in
        if group.isOutdated(number) { group.command(.pause, to: number) }
      }
    case .split(let lost, let alone): group.split(number, from: lost, alone: alone)
    }
    group.expectLeader(within: 5)
    group.at(group.now.seconds + seconds) { group in
      group.heal()
      group.powerOn(number)
    }
  }
}

extension SimulatedGroup {
  /// Expects that a daemon leads by then which reaches a room, if one can.
  func expectLeader(within seconds: Double) {
    let (fault, healed) = (now, healCount)
    at(now.seconds + seconds) { group in
      guard group.healCount == healed else { return }
      let able = group.daemons.filter { daemon in
        daemon.leadership != nil
          && group.rooms.indices.contains { !group.isCutOff($0, from: daemon.number) }
      }
      guard !able.isEmpty, !able.contains(where: { $0.sender != nil }) else { return }
      group.violated("nobody leads \(seconds) s after the fault at \(fault.seconds) s")
    }
  }

  /// Returns the first promise that is broken at the end: one daemon leads all rooms, and all of them have played on.
  func brokenHousehold(to end: Double) -> String? {
    guard leaders.count == 1, let leader = leaders.first else { return "\(leaders) lead" }
    let term = term(of: leader)
    if let room = rooms.first(where: { $0.welcomedTerm != term }) {
      return "room \(room.index) has term \(room.welcomedTerm), and not \(term)"
    }
    for room in rooms.indices {
      let share = microphone.soundingShare(of: room, from: 8, to: end)
      if share < 0.999 { return "room \(room) sounded \(share) of the time" }
    }
    let spread = microphone.spread(from: end - 10, to: end)
    if spread.p99 > 60 { return "not in sync at the end: \(spread)" }
    return microphone.breaks.first.map { "\($0)" }
  }
}
