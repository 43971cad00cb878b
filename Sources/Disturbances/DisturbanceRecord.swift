import WireProtocol

/// A file that says what happened to a household: a head, and a line for each disturbance. A daemon or the simulation writes
/// it, and the simulation plays it. See docs/testing.md.
package struct DisturbanceRecord: Hashable, Sendable {
  /// More than anybody reads, in bytes: some ten thousand lines.
  package static let byteLimit = 1 << 20
  /// As many as the simulation has.
  package static let roomLimit = 64
  package static let groupLimit = 64

  static let firstLine = "tutti record 1"

  /// The run of the simulation that wrote it.
  package struct Simulated: Hashable, Sendable {
    package var scenario: String
    package var seed: UInt64
    package var roomCount: Int
    /// How the rooms' cards tell their positions, in turn.
    package var cards: [String]

    package init(scenario: String, seed: UInt64, roomCount: Int, cards: [String]) {
      (self.scenario, self.seed, self.roomCount) = (scenario, seed, roomCount)
      self.cards = cards
    }
  }

  /// The version of the program that wrote it, and when that began; for people.
  package var program = ""
  package var began = ""
  package var simulated: Simulated?
  /// Names for people; the place of each is its number.
  package var groups: [String] = []
  package var rooms: [String] = []
  package var disturbances: [Disturbance] = []
  /// It reaches until here, in seconds; zero if it does not say.
  package var end = 0.0

  package init() {}

  /// Rooms that have a name, or to which something happens.
  package var roomCount: Int {
    let mentioned = disturbances.compactMap(\.kind.room).max().map { $0 + 1 } ?? 0
    return max(rooms.count, mentioned, simulated?.roomCount ?? 0)
  }

  package var text: String {
    let lines = head + disturbances.map(\.description) + (end > 0 ? [Self.running(end)] : [])
    return lines.map { $0 + "\n" }.joined()
  }

  private var head: [String] {
    var lines = [Self.firstLine]
    let (program, began) = (Self.name(program), Self.name(began))
    if !program.isEmpty { lines.append("program \(program)") }
    if !began.isEmpty { lines.append("began \(began)") }
    if let simulated {
      lines.append("scenario \(Self.name(simulated.scenario))")
      lines.append("seed \(simulated.seed)")
      if simulated.roomCount > 0 { lines.append("rooms \(simulated.roomCount)") }
      let cards = simulated.cards.map(Self.name).filter { !$0.isEmpty }
      if !cards.isEmpty { lines.append("cards " + cards.joined(separator: ",")) }
    }
    lines += groups.enumerated().map { Self.group($0, $1) }
    return lines + rooms.enumerated().map { Self.room($0, $1) }
  }

  // MARK: - Lines

  static func running(_ seconds: Double) -> String { "\(SecondsText.text(seconds)) s: running" }
  static func room(_ number: Int, _ name: String) -> String {
    "room \(number) is \(Self.name(name))"
  }
  static func group(_ number: Int, _ name: String) -> String {
    "group \(number) is \(Self.name(name))"
  }

  /// Returns a name as it is read again. Names come from receivers and from people: none is more than a part of its line.
  static func name(_ text: String) -> String {
    text.shownPlainly.plain(atMost: ProtocolLimits.name).split(separator: " ")
      .joined(separator: " ")
  }
}

extension DisturbanceRecord {
  /// Returns the record of one group: its rooms, numbered anew in the order in which they came, and what happened to them, to
  /// the group and to the sender. Where no line says that a room joins a group, all rooms are in it.
  package func only(group: Int) -> DisturbanceRecord {
    let isDivided = disturbances.contains { if case .join = $0.kind { true } else { false } }
    var record = self
    guard isDivided else {
      record.disturbances = ordered.filter { $0.group == group || !$0.kind.concernsGroup }
      return record.alone
    }
    var numbers: [Int: Int] = [:]
    for case (.join(let room), group) in ordered.map({ ($0.kind, $0.group) })
    where numbers[room] == nil { numbers[room] = numbers.count }
    record.disturbances = ordered.compactMap { $0.only(group: group, numbers) }
    record.rooms = numbers.sorted { $0.value < $1.value }.map { number, _ in
      number < rooms.count ? rooms[number] : ""
    }
    return record.alone
  }

  /// In the order of their times. In a file, a fault that was over later stands later.
  private var ordered: [Disturbance] {
    disturbances.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
      .map(\.element)
  }

  private var alone: DisturbanceRecord {
    var record = self
    for place in disturbances.indices { record.disturbances[place].group = 0 }
    return record
  }
}

extension Disturbance {
  fileprivate func only(group: Int, _ numbers: [Int: Int]) -> Disturbance? {
    guard self.group == group || !kind.concernsGroup else { return nil }
    guard let room = kind.room else { return self }
    guard let number = numbers[room] else { return nil }
    return Disturbance(at: at, kind: kind.moved(to: number), group: group)
  }
}

extension Disturbance.Kind {
  fileprivate func moved(to room: Int) -> Self {
    switch self {
    case .join: .join(room)
    case .leave: .leave(room)
    case .partition(_, let seconds): .partition(room, seconds: seconds)
    case .stall(_, let seconds): .stall(room, seconds: seconds)
    case .suspend(_, let seconds): .suspend(room, seconds: seconds)
    case .clockStep(_, let seconds): .clockStep(room, seconds: seconds)
    case .unplug(_, let seconds): .unplug(room, seconds: seconds)
    case .restart(_, let seconds): .restart(room, seconds: seconds)
    case .slowLink(_, let rate, let seconds): .slowLink(room, rate: rate, seconds: seconds)
    case .visit(_, let seconds): .visit(room, seconds: seconds)
    case .distrust(_, let seconds): .distrust(room, seconds: seconds)
    case .command, .killSender, .restartSender, .suspendSender, .daemon: self
    }
  }
}
