import Sender

/// Rings at a time of the day in some rooms.
package struct Alarm: Codable, Hashable, Sendable {
  /// More than a household gets up.
  package static let limit = 64
  /// Entries of its music.
  package static let entryLimit = 200
  package static let roomLimit = 64
  package static let nameLimit = 100
  /// Seconds in which its volume rises.
  package static let rises = 0.0...1_800
  /// Seconds that it rings.
  package static let lengths = 10.0...10_800
  /// Seconds of quiet after somebody has snoozed it.
  package static let snoozes = 60.0...3_600

  package enum Music: Codable, Hashable, Sendable {
    /// A sound that comes with the program.
    case tone
    /// The queue of the first room's group, from where it stands.
    case queue
    /// From 1 to `entryLimit`.
    case entries([Order.NewEntry])
  }

  package let id: String
  package var name: String?
  /// The minute of the day, 0 to 1439.
  package var minute: Int
  /// In the order of the week; none if it rings once.
  package var days: [Weekday] = []
  /// At least one.
  package var roomIds: [String]
  package var music = Music.tone
  /// Within `RoomChange.volumes`.
  package var volume = 30.0
  /// Within `rises`; 0 is at once.
  package var riseS = 0.0
  /// Within `lengths`.
  package var lengthS = 1_800.0
  /// Within `snoozes`.
  package var snoozeS = 540.0
  package var isOn = true

  package init(id: String, minute: Int, roomIds: [String]) {
    (self.id, self.minute, self.roomIds) = (id, minute, roomIds)
  }

  /// Its time, such as `07:05`.
  package var timeText: String { Self.text(ofMinute: minute) }

  package static func text(ofMinute minute: Int) -> String {
    let (hour, minute) = minute.quotientAndRemainder(dividingBy: 60)
    return (hour < 10 ? "0" : "") + "\(hour)" + (minute < 10 ? ":0" : ":") + "\(minute)"
  }

  /// - Parameter text: such as `7:05`.
  /// - Returns: the minute of the day; nil if it is none.
  package static func minute(of text: some StringProtocol) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
      parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }
}

extension Alarm {
  /// All that can be changed, as it is.
  var settings: AlarmChange {
    var change = AlarmChange()
    (change.name, change.minute, change.days, change.roomIds) = (name, minute, days, roomIds)
    (change.music, change.volume, change.riseS) = (music, volume, riseS)
    (change.lengthS, change.snoozeS, change.isOn) = (lengthS, snoozeS, isOn)
    return change
  }
}

/// A change of an alarm. Fields that are nil leave it as it is.
package struct AlarmChange: Codable, Hashable, Sendable {
  /// An empty one takes the name away.
  package var name: String?
  package var minute: Int?
  package var days: [Weekday]?
  package var roomIds: [String]?
  package var music: Alarm.Music?
  package var volume: Double?
  package var riseS: Double?
  package var lengthS: Double?
  package var snoozeS: Double?
  package var isOn: Bool?
  /// True leaves the next one out; false does not.
  package var skipsNext: Bool?

  package init() {}

  /// Throws if a value is out of range.
  func applied(to alarm: Alarm) throws(Refusal) -> Alarm {
    var changed = alarm
    if let name { changed.name = try Self.checked(name) }
    if let minute {
      guard (0..<1_440).contains(minute) else {
        throw .invalid("an alarm's time is 00:00 to 23:59")
      }
      changed.minute = minute
    }
    if let days { changed.days = Weekday.allCases.filter(days.contains) }
    if let roomIds { changed.roomIds = try Self.checked(rooms: roomIds) }
    if let music { changed.music = try Self.checked(music) }
    changed.volume = try Self.checked(volume, in: RoomChange.volumes, "volume") ?? changed.volume
    changed.riseS = try Self.checked(riseS, in: Alarm.rises, "seconds to rise") ?? changed.riseS
    changed.lengthS =
      try Self.checked(lengthS, in: Alarm.lengths, "seconds to ring") ?? changed.lengthS
    changed.snoozeS =
      try Self.checked(snoozeS, in: Alarm.snoozes, "seconds to snooze") ?? changed.snoozeS
    changed.isOn = isOn ?? changed.isOn
    return changed
  }

  private static func checked(_ name: String) throws(Refusal) -> String? {
    guard name.count <= Alarm.nameLimit, name.utf8.count <= 4 * Alarm.nameLimit else {
      throw .invalid("an alarm's name has at most \(Alarm.nameLimit) characters")
    }
    let shown = ItemMetadata.shown(FileName.shown(name))
    return shown.allSatisfy(\.isWhitespace) ? nil : shown
  }

  private static func checked(rooms: [String]) throws(Refusal) -> [String] {
    var seen: [String] = []
    for room in rooms where !seen.contains(room) { seen.append(room) }
    guard (1...Alarm.roomLimit).contains(seen.count) else {
      throw .invalid("an alarm rings in 1 to \(Alarm.roomLimit) rooms")
    }
    return seen
  }

  private static func checked(_ music: Alarm.Music) throws(Refusal) -> Alarm.Music {
    guard case .entries(let entries) = music else { return music }
    guard let first = entries.first else {
      throw .invalid("there is nothing to play; choose other music")
    }
    guard !entries.contains(where: { LiveLocation.isNamed($0.location) }) else {
      throw .invalid(
        "an alarm cannot play \(first.title ?? "an input"): it must be known before it sounds")
    }
    return .entries(Array(entries.prefix(Alarm.entryLimit)))
  }

  private static func checked(
    _ value: Double?, in range: ClosedRange<Double>, _ what: String
  ) throws(Refusal) -> Double? {
    guard let value else { return nil }
    guard range.contains(value) else { throw .invalid("\(what): \(range.text)") }
    return value
  }
}
