extension HouseState {
  /// An alarm, and when it rings.
  package struct Alarm: Codable, Hashable, Sendable {
    package enum State: String, Codable, CaseIterable, Sendable {
      case off, waiting, ringing, snoozed
      /// It was to ring once, while the daemon or the machine was off.
      case missed
    }

    package struct Music: Codable, Hashable, Sendable {
      package enum Kind: String, Codable, CaseIterable, Sendable {
        case tone, queue, items
      }

      package var kind: Kind
      /// The title of the first item.
      package var title: String?
      package var count: Int?

      package init(kind: Kind) { self.kind = kind }
    }

    package var id: String
    package var name: String?
    /// The time of the day, such as `07:05`.
    package var time: String
    /// None if it rings once.
    package var days: [Weekday]
    package var roomIds: [String]
    package var music: Music
    package var volume: Double
    /// Seconds in which it becomes as loud as that.
    package var riseS: Double
    /// Seconds after which it ends by itself.
    package var lengthS: Double
    package var snoozeS: Double
    package var isOn: Bool
    package var state: State
    /// True if the next one is left out.
    package var skipsNext = false
    /// When it rings next by the calendar, in seconds since 1970.
    package var nextAtS: Double?
    /// Rooms that hold its music and know when to begin: they ring though the daemon is gone.
    package var readyRoomIds: [String] = []
    /// When it rings again after a snooze, in seconds since 1970.
    package var snoozedUntilS: Double?

    package init(_ alarm: House.Alarm, state: State) {
      (id, name, time, days) = (alarm.id, alarm.name, alarm.timeText, alarm.days)
      (roomIds, music, volume) = (alarm.roomIds, Music(alarm.music), alarm.volume)
      (riseS, lengthS, snoozeS) = (alarm.riseS, alarm.lengthS, alarm.snoozeS)
      (isOn, self.state) = (alarm.isOn, state)
    }
  }
}

extension HouseState.Alarm.Music {
  fileprivate init(_ music: Alarm.Music) {
    switch music {
    case .tone: self.init(kind: .tone)
    case .queue: self.init(kind: .queue)
    case .entries(let entries):
      self.init(kind: .items)
      title = entries.first.map {
        ItemName.text(title: $0.title, artist: $0.artist, location: $0.location)
      }
      count = entries.count
    }
  }
}
