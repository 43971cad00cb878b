import Audio
import Clock
package import Disturbances
import Sender

/// A group, the disturbances that happen to it, and the limits that it must keep.
package struct Scenario: Sendable {
  package var name: String
  package var seconds: Double
  /// Limit of the spread's 99th percentile in microseconds, from `settled` on, among the undisturbed rooms.
  package var limit: Float
  package var settled = 20.0
  package var configuration: SimulatedGroup.Configuration
  package var disturbances: [Disturbance] = []
  /// The household that was drawn, in words; nil where none was.
  package private(set) var drawn: String?

  package static let names = [
    "wired", "switches", "wander", "wifi", "wifi-bad", "mixed", "house", "usb", "seek",
    "filling", "live", "source", "outage", "sender-killed", "restart", "clock", "device", "swarm",
    "second",
  ]

  /// How many rooms there are if nobody says.
  package static func usualRoomCount(_ name: String, seed: UInt64) -> Int {
    name == "swarm" ? DrawnHousehold.roomCount(seed) : 4
  }

  /// Returns nil if there is no scenario of that name. Rooms get `cards` in turn; `cards` is not empty.
  package init?(
    _ name: String, seed: UInt64, rooms: Int, hours: Double?,
    cards: [CardQuality.Granularity] = [.fine, .edge]
  ) {
    self.init(name, seed: seed, rooms: rooms, seconds: hours.map { $0 * 3600 } ?? 60, cards: cards)
  }

  init?(
    _ name: String, seed: UInt64, rooms: Int, seconds: Double, cards: [CardQuality.Granularity]
  ) {
    guard Self.names.contains(name) else { return nil }
    var random = SplitMix64(seed: seed, part: 77)
    (self.name, self.seconds) = (name, seconds)
    limit = 15
    var drawn = DrawnHousehold(seed)
    var paths = [PathQuality](repeating: .wired, count: rooms)
    switch name {
    case "switches", "wander": paths = Array(repeating: .switches, count: rooms)
    case "wifi":
      paths = Array(repeating: .wifi, count: rooms)
      limit = 60
    case "wifi-bad":
      paths = Array(repeating: .wifiBad, count: rooms)
      limit = 250
    case "house":
      paths = (0..<rooms).map { $0.isMultiple(of: 4) ? .wifi : .wired }
      limit = 60
    case "filling": paths = Array(repeating: .slowRadio, count: rooms)
    case "swarm":
      paths = drawn.paths(rooms)
      // A radio takes tens of seconds to follow the crystal of another daemon.
      limit = drawn.hasSecondDaemon ? 1000 : 250
    case "mixed":
      let kinds: [PathQuality] = [.wired, .wifi, .wifiBad, .wiredLoad]
      paths = (0..<rooms).map { kinds[$0 % 4] }
      limit = 250
    default: break
    }
    configuration = .house(paths, seed: seed, cards: cards)
    if name == "live" { configuration.profile = .live }
    if name == "filling" { configuration.fillLong() }
    if name == "wander" { configuration.letCrystalsWander() }
    if name == "usb" {
      limit = 60
      for room in configuration.rooms.indices { configuration.rooms[room].card.granularity = .usb }
    }
    if name == "source" { configuration.delivery = Self.delivery(seconds: seconds, &random) }
    // While two lead, each in rooms of its own, their clocks run apart.
    if name == "second" { limit = 1000 }
    if name == "second" { configuration.addSecondDaemon() }
    if name == "swarm" {
      drawn.furnish(&configuration)
      self.drawn = "\(drawn)"
    }
    if seconds > 600 { configuration.suitHours() }
    disturbances = Self.disturbances(
      name, seconds: seconds, rooms: rooms, drawn, &random
    ).map(\.asWritten)
  }

  private static func disturbances(
    _ name: String, seconds: Double, rooms: Int, _ drawn: DrawnHousehold,
    _ random: inout SplitMix64
  ) -> [Disturbance] {
    let room = rooms - 1
    switch name {
    case "seek":
      return stride(from: 4.0, to: seconds - 4, by: 5).map {
        .init(
          at: $0 + random.uniform(0...3),
          kind: .command(.seek(to: .milliseconds(Int64(random.uniform(0...600_000))))))
      }
    case "outage": return [.init(at: 20, kind: .partition(room, seconds: 25))]
    case "sender-killed": return [.init(at: 30, kind: .killSender)]
    case "restart": return [.init(at: 25, kind: .restart(room, seconds: 1))]
    case "clock": return [.init(at: 25, kind: .clockStep(room, seconds: 0.02))]
    case "device":
      return [
        .init(at: 22, kind: .stall(room, seconds: 0.3)),
        .init(at: 35, kind: .unplug(room, seconds: 4)),
      ]
    case "second": return daemonFaults(seconds: seconds, rooms: rooms, &random)
    case "swarm": return swarm(seconds: seconds, rooms: rooms, drawn, &random)
    default: return []
    }
  }

  /// Returns a station that falls silent again and again.
  private static func delivery(seconds: Double, _ random: inout SplitMix64) -> SimulatedDelivery {
    var stalls: [SimulatedDelivery.Stall] = []
    var time = 0.0
    while time < seconds - 25 {
      time += random.exponential(mean: 8)
      stalls.append(.init(at: time, seconds: min(15, random.exponential(mean: 3))))
    }
    return SimulatedDelivery(.live, rate: 1, piece: random.uniform(0.02...0.5), stalls: stalls)
  }

  /// Rooms with an audible disturbance, or that may miss a command because the network falls apart.
  private var troubledRooms: Set<Int> {
    disturbances.reduce(into: []) { rooms, disturbance in
      if let room = disturbance.kind.room { rooms.insert(room) }
      guard hasCommands, case .daemon(_, let fault, _) = disturbance.kind else { return }
      rooms.formUnion(fault.lostRooms)
    }
  }
}

extension Scenario {
  package struct Result {
    package var group: SimulatedGroup
    package var spread: Figures
    /// Change of the rate of playback, in 1e-9 per second: see `RateTrace`.
    package var rateChange: Float
    /// Spread of all rooms that sound, over the last ten seconds.
    package var finalSpread: Figures
    /// The first broken promise in plain words; nil if all were kept.
    package var firstBroken: String?
  }

  /// Plays the scenario. Calls `progress` with the seconds played after each virtual hour except the last.
  package func play(progress: (Double) -> Void = { _ in }) -> Result {
    let group = SimulatedGroup(configuration)
    group.watch()
    for disturbance in disturbances {
      group.at(disturbance.at) { disturbance.kind.happen(to: $0) }
    }
    for hour in stride(from: 3600, to: seconds, by: 3600) {
      group.run(until: hour)
      progress(hour)
    }
    group.run(until: seconds)
    let troubled = troubledRooms
    let calm = configuration.rooms.indices.filter { !troubled.contains($0) }
    let microphone = group.microphone
    let spread = microphone.spread(
      from: min(settled, seconds / 2), to: seconds, rooms: calm.count > 1 ? calm : nil)
    let final = microphone.spread(from: seconds - 10, to: seconds)
    let forgetting = timeOfForgetting ?? .infinity
    let calmBreak = microphone.breaks.first {
      calm.contains($0.room) && !mayMissCommands($0.room) && $0.at.seconds < forgetting
    }
    var broken = group.violations.first
    if let calmBreak { broken = broken ?? "\(calmBreak)" }
    if configuration.secondHost != nil { broken = broken ?? group.brokenLeadership() }
    if name == "second" { broken = broken ?? group.brokenMusic(to: seconds) }
    if let ghost = microphone.ghosts.first { broken = broken ?? "\(ghost)" }
    if calm.count > 1, spread.p99 > limit { broken = broken ?? "spread \(spread)" }
    if final.count > 0, final.p99 > min(4 * limit, 1000) {
      broken = broken ?? "not in sync again: \(final)"
    }
    return Result(
      group: group, spread: spread,
      rateChange: microphone.rateChange(from: min(settled, seconds / 2), to: seconds),
      finalSpread: final, firstBroken: broken)
  }
}

extension Scenario {
  /// True if a radio may bring a command too late for that room to play every frame once.
  private func mayMissCommands(_ room: Int) -> Bool {
    configuration.rooms[room].path.down.loss > 0 && hasCommands
  }

  /// The first time at which a sender dies before its disk has a command, or from which on the daemons are apart while
  /// somebody commands one of them: who goes on knows nothing of it. Nil if there is none.
  private var timeOfForgetting: Double? {
    let commands = disturbances.filter { if case .command = $0.kind { true } else { false } }
    let times = disturbances.compactMap { fault -> Double? in
      let span: ClosedRange<Double>
      switch fault.kind {
      case .restartSender, .daemon(_, .killed, _), .daemon(_, .unplugged, _):
        span = fault.at - configuration.keepingTime.seconds - Self.commandTime...fault.at
      case .daemon(_, _, let seconds):
        span = fault.at - Self.commandTime...fault.at + seconds + 5
      default: return nil
      }
      return commands.contains { span.contains($0.at) } ? fault.at : nil
    }
    return times.min()
  }

  /// A command is carried out, and a daemon takes over, within this time in seconds.
  private static let commandTime = 1.0

  private var hasCommands: Bool {
    disturbances.contains { if case .command = $0.kind { true } else { false } }
  }
}

extension Disturbance.Kind {
  func happen(to group: SimulatedGroup) {
    func later(_ seconds: Double, _ action: @escaping (SimulatedGroup) -> Void) {
      group.at(group.now.seconds + seconds, action)
    }
    if let room {
      var end = TrueTime(seconds: group.now.seconds + span)
      // Its sender has left out what it did not expect to arrive in time.
      if case .slowLink = self { end = end + MediaDelivery.longestDelay }
      group.rooms[room].troubledUntil = max(group.rooms[room].troubledUntil, end)
      group.rooms[room].fineAt = group.now
    }
    switch self {
    case .command(let command): group.carryOut(command)
    case .join(let room): group.addRoom(room)
    case .leave(let room): group.removeRoom(room)
    case .partition(let room, let seconds):
      group.partition(room)
      later(seconds) { $0.repair(room) }
    case .stall(let room, let seconds): group.stall(room, for: Nanoseconds(seconds: seconds))
    case .suspend(let room, let seconds): group.suspend(room, for: Nanoseconds(seconds: seconds))
    case .clockStep(let room, let seconds):
      group.stepClock(of: room, by: Nanoseconds(seconds: seconds))
    case .unplug(let room, let seconds):
      group.unplug(room)
      later(seconds) { $0.plug(room) }
    case .restart(let room, let seconds):
      group.killReceiver(room)
      // Another kill may have ended before.
      later(seconds) { if $0.rooms[room].session == nil { $0.restartReceiver(room) } }
    case .suspendSender(let seconds): group.suspendSender(for: Nanoseconds(seconds: seconds))
    case .visit(let room, let seconds):
      guard group.rooms[room].host.frozenUntil <= group.now else { return }
      let visit = group.beginVisit(room, as: 1, priority: .max)
      later(seconds) { group in visit.map { group.endVisit($0) } }
    case .distrust(let room, let seconds):
      group.distrust(room)
      later(seconds) { $0.trustAgain(room) }
    case .daemon(let number, let fault, let seconds): group.disturb(number, fault, for: seconds)
    case .killSender: group.killSender()
    case .restartSender(let seconds):
      // Nothing is killed, and nothing starts, while the machine sleeps.
      guard group.sender != nil, group.senderHost.value.frozenUntil <= group.now else { return }
      group.killSender()
      later(seconds) { $0.restartSenderWhenAwake() }
    case .slowLink(let room, let rate, let seconds):
      let usual = group.configuration.rooms[room].path
      var slow = usual
      // A record may say that it carries nothing.
      slow.down.rate = max(rate, 100)
      // The rest stays with its sender, and goes at the usual rate afterwards.
      slow.down.queue = .milliseconds(200)
      group.change(room, to: slow)
      later(seconds) { $0.change(room, to: usual) }
    }
  }
}
