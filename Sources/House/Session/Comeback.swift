package import Clock
package import Sender
package import WireProtocol

/// The music that the process before has left.
package struct LeftMusic {
  /// Streams that rooms may still play, by their groups.
  package var streams: [String: StreamRecord]
  /// As `keepDeaths` said last, in this start of the machine.
  package var deaths: Int

  package init(streams: [String: StreamRecord] = [:], deaths: Int = 0) {
    (self.streams, self.deaths) = (streams, deaths)
  }
}

/// Decides which groups go on with what their rooms still play, and which begin anew. None does where that has ended the
/// process again and again.
package struct Comeback {
  /// Streams that go on as the rooms have them, by their groups.
  package private(set) var successions: [String: StreamSuccession]
  /// The record of each of them, also of those that were taken.
  let claims: [String: StreamRecord]
  /// Groups that begin anew, each at its place.
  package private(set) var beginning: [HouseRecord.Group] = []

  package init(_ record: HouseRecord, after left: LeftMusic, at now: LocalTime) {
    var successions: [String: StreamSuccession] = [:]
    let isAllowed = left.deaths < Resumption.deathLimit
    for group in record.groups {
      let fate = left.streams[group.id].flatMap { record in
        group.isChosen(after: record)
          ? nil : StreamFate(of: record, in: group.playlist, effects: group.effects, at: now)
      }
      var group = group
      switch fate {
      case .goesOn(let succession):
        guard isAllowed else { break }
        successions[group.id] = succession
        continue
      case .over: continue
      case .beginsAnew(let entry, let position):
        group.place =
          position.map { .init(entry: entry, seconds: $0.seconds) } ?? .init(turnOf: entry)
      case .unknown, nil: break
      }
      if group.isPlaying { beginning.append(group) }
    }
    (self.successions, claims) = (successions, successions.mapValues(\.claim))
  }

  /// Returns the stream that the group goes on with; nil if there is none, and if it was taken before.
  mutating func take(_ group: String) -> StreamSuccession? {
    successions.removeValue(forKey: group)
  }
}

extension HouseRecord.Group {
  /// True if the entry whose turn it is was chosen after `stream` was kept: the tables are written first.
  fileprivate func isChosen(after stream: StreamRecord) -> Bool {
    guard let place, place.resumes else { return false }
    let entries = stream.segments.map(\.entry) + [stream.beginning?.entry].compactMap(\.self)
    return !entries.contains(UInt64(clamping: place.entry))
  }
}
