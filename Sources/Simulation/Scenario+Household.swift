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
      faults += daemonFaults(at: time, for: span, rooms: rooms, &random)
      time += span + 8 + random.exponential(mean: 6)
    }
    return faults
  }

  /// Returns a fault of one daemon, or a split that loses rooms on both sides.
  static func daemonFaults(
    at time: Double, for span: Double, rooms: Int, _ random: inout SplitMix64
  ) -> [Disturbance] {
    let fault = daemonFault(rooms: rooms, &random)
    let number = random.chance(0.5) ? 0 : 1
    let first = Disturbance(at: time, kind: .daemon(number, fault, seconds: span))
    guard case .split(let lost, true) = fault, random.chance(0.5) else { return [first] }
    let other = Disturbance.DaemonFault.split(
      from: Set(0..<rooms).subtracting(lost), alone: true)
    return [first, Disturbance(at: time, kind: .daemon(1 - number, other, seconds: span))]
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

extension SimulatedGroup {
  /// Does nothing where the household has no daemon of that number, or only one.
  func disturb(_ number: Int, _ fault: Disturbance.DaemonFault, for seconds: Double) {
    guard daemons.count > 1, daemons.indices.contains(number) else { return }
    faultCount += 1
    let count = faultCount
    daemonFaults[count] = (number, fault)
    switch fault {
    case .killed: killDaemon(number)
    case .unplugged: pullPlug(number)
    case .cutOff:
      // Nobody hears what it is told meanwhile.
      at(now.seconds + 3.5) { group in
        if group.isOutdated(number) { group.command(.pause, to: number) }
      }
    case .split: break
    }
    applyDaemonFaults()
    at(now.seconds + seconds) { group in
      group.daemonFaults[count] = nil
      group.applyDaemonFaults()
      for room in group.rooms.indices { group.release(room) }
    }
  }

  /// Faults may overlap: a daemon is on, and reaches a room, where none of them says otherwise.
  private func applyDaemonFaults() {
    isLinkCut = daemonFaults.values.contains { $0.fault.cutsLink }
    for daemon in daemons {
      let own = daemonFaults.values.filter { $0.daemon == daemon.number }.map(\.fault)
      daemon.isPartitioned = own.contains(.cutOff)
      daemon.lostRooms = own.reduce(into: []) { $0.formUnion($1.lostRooms) }
      if !own.contains(.killed), !own.contains(.unplugged) { powerOn(daemon.number) }
    }
  }

  /// Looks again and again that a daemon leads within 5 s where one reaches a room, and that rooms sound which it reaches.
  func watch() {
    let sound = Nanoseconds.seconds(1)
    let able = daemons.filter { daemon in
      daemon.isOn && rooms.contains { isWell($0) && !isCutOff($0.index, from: daemon.number) }
    }
    // A room hears a leader that was killed as long as a slow link brings what that had sent.
    let isLed =
      able.contains { $0.sender != nil } || rooms.contains { $0.down.value.isClogged(at: now) }
    for daemon in daemons {
      if isLed || !able.contains(where: { $0 === daemon }) { daemon.fineAt = now }
      guard now > daemon.fineAt + .seconds(5) else { continue }
      violated("nobody leads, and daemon \(daemon.number) reaches a room for 5 s")
      daemon.fineAt = now
    }
    let leader = daemons[leading]
    let plays = leader.sender != nil && microphone.isToPlay(at: now)
    for room in rooms {
      let last = microphone.records[room.index].lastSound ?? .zero
      let isMute =
        plays && isWell(room) && !isCutOff(room.index, from: leader.number)
        && !isHeldPaused(room, behind: leader)
      if !isMute || now < last + sound { room.fineAt = now }
      guard now > room.fineAt + .seconds(8) else { continue }
      violated("room \(room.index) is silent, and daemon \(leader.number) reaches it for 8 s")
      room.fineAt = now
    }
    at(now.seconds + 0.25) { $0.watch() }
  }

  /// True if the room still hears the daemon that has led before, and which somebody has paused.
  private func isHeldPaused(_ room: SimulatedRoom, behind leader: SimulatedDaemon) -> Bool {
    daemons.contains { daemon in
      guard daemon !== leader, let sender = daemon.sender, sender.term == room.welcomedTerm,
        !isCutOff(room.index, from: daemon.number)
      else { return false }
      return sender.session.status(at: daemon.host.value.local(at: now)).state != .playing
    }
  }

  private func isWell(_ room: SimulatedRoom) -> Bool {
    // A link that was slow still has to bring what it was given.
    room.session != nil && room.isPlugged && room.isMember && room.troubledUntil <= now
      && !room.down.value.isClogged(at: now)
  }

  /// Returns the first promise of two daemons that is broken at the end: one leads all rooms.
  func brokenLeadership() -> String? {
    guard leaders.count == 1, let leader = leaders.first else { return "\(leaders) lead" }
    let term = term(of: leader)
    let room = rooms.first { $0.welcomedTerm != term }
    return room.map { "room \($0.index) has term \($0.welcomedTerm), and not \(term)" }
  }

  /// Returns the first room that has not played on, where nobody has told it to stop.
  func brokenMusic(to end: Double) -> String? {
    for room in rooms.indices {
      let share = microphone.soundingShare(of: room, from: 8, to: end)
      if share < 0.999 { return "room \(room) sounded \(share) of the time" }
    }
    let spread = microphone.spread(from: end - 10, to: end)
    if spread.p99 > 60 { return "not in sync at the end: \(spread)" }
    return microphone.breaks.first.map { "\($0)" }
  }
}

extension Disturbance.DaemonFault {
  fileprivate var cutsLink: Bool { if case .split(_, true) = self { true } else { false } }

  var lostRooms: Set<Int> { if case .split(let rooms, _) = self { rooms } else { [] } }
}
