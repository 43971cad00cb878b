import Clock
package import Disturbances
import Sender

extension Scenario {
  /// Rooms are in step again this long after a fault, in seconds.
  static let settling = 30.0
  /// Rooms that come so soon, in seconds, were there at the beginning.
  private static let opening = 1.0

  /// Plays the record of one group, in the surroundings of the scenario `name`. A run of the simulation plays as it
  /// did; the record of a daemon plays until its last fault has settled. Returns nil if there is no such scenario.
  ///
  /// - Parameter seconds: how long to play; nil for as long as the record says.
  package init?(
    replaying record: DisturbanceRecord, in name: String, seed: UInt64, rooms: Int,
    seconds: Double?, cards: [CardQuality.Granularity]
  ) {
    let settled = record.disturbances.map(\.settled).max() ?? 0
    let isRun = record.simulated != nil && record.end > 0
    let length = seconds ?? (isRun ? record.end : max(record.end, settled, 2 * Self.settling))
    self.init(
      name, seed: seed, rooms: rooms, seconds: min(length, Disturbance.longest), cards: cards)
    disturbances = Self.withLateRooms(record.disturbances)
    guard configuration.items.count < 2, record.disturbances.contains(where: \.isAboutItems)
    else { return }
    // Two items that never end, in turn.
    configuration.items = [nil, nil]
    (configuration.repeatsPlaylist, configuration.endsWithPlaylist) = (true, false)
  }

  /// The simulation begins with all rooms, so those that come later leave first.
  private static func withLateRooms(_ disturbances: [Disturbance]) -> [Disturbance] {
    var seen: Set<Int> = []
    var (first, rest): ([Disturbance], [Disturbance]) = ([], [])
    for disturbance in disturbances {
      guard case .join(let room) = disturbance.kind, seen.insert(room).inserted else {
        rest.append(disturbance)
        continue
      }
      guard disturbance.at > opening else { continue }
      first.append(Disturbance(at: 0, kind: .leave(room)))
      rest.append(disturbance)
    }
    return first + rest
  }

  /// The record of this run.
  package func record(seed: UInt64, cards: [CardQuality.Granularity]) -> DisturbanceRecord {
    var record = DisturbanceRecord()
    record.simulated = .init(
      scenario: name, seed: seed, roomCount: configuration.rooms.count, cards: cards.map(\.rawValue)
    )
    (record.disturbances, record.end) = (disturbances, seconds)
    return record
  }
}

extension Disturbance {
  /// When it is over and the rooms are in step again, in seconds.
  package var settled: Double { at + kind.span + Scenario.settling }

  fileprivate var isAboutItems: Bool {
    switch kind {
    case .command(.next), .command(.previous), .command(.another), .command(.halt): true
    default: false
    }
  }
}

extension Disturbance.Kind {
  /// How long it lasts, in seconds.
  var span: Double {
    switch self {
    case .partition(_, let seconds), .stall(_, let seconds), .suspend(_, let seconds),
      .unplug(_, let seconds), .restart(_, let seconds), .slowLink(_, _, let seconds),
      .restartSender(let seconds), .suspendSender(let seconds), .visit(_, let seconds),
      .distrust(_, let seconds), .daemon(_, _, let seconds):
      seconds
    case .command, .join, .leave, .clockStep, .killSender: 0
    }
  }
}

extension SimulatedGroup {
  func carryOut(_ order: Disturbance.Command) {
    switch order {
    case .pause: command(.pause)
    case .resume: command(.resume)
    case .seek(let position): command(.seek(to: position))
    case .seekBy(let span): command(.seekBy(span))
    case .next: command(.next)
    case .previous: command(.previous)
    case .halt: command(.halt)
    case .another:
      guard let items = sending?.session.playlist.items, let first = items.first else { return }
      let chosen = groupStatus?.chosen?.id
      command(.jump(to: (items.first { $0.id != chosen } ?? first).id, at: .zero))
    }
  }
}
