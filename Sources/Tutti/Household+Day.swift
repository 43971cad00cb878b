internal import Clock
internal import House
internal import Sender

/// Announcements, alarms and scenes: a household does more than play its queues.
extension Household {
  /// The household takes up to 20 s to speak the words or to read the media, before anything is heard; then it refuses.
  private static let announcementTimeout = Nanoseconds.seconds(30)

  /// Lets rooms hear words, spoken by the household's voice, over the music that plays there. Returns once they are about to be
  /// heard.
  ///
  /// - Parameters:
  ///   - text: up to 1000 characters.
  ///   - rooms: by name; all that are there if empty.
  ///   - volume: 0 to 1, within each room's limit; nil is as loud as each room.
  ///   - hasChime: two notes before the words.
  /// - Throws: `TuttiError.invalid` for a volume outside that range.
  public func say(
    _ text: String, inRooms rooms: [String] = [], volume: Double? = nil, hasChime: Bool = true
  ) async throws(TuttiError) {
    try await announce(
      .init(
        text: text, rooms: rooms, volume: try Self.percent(volume), hasChime: hasChime))
  }

  /// Lets rooms hear a sound over the music that plays there, as `say` does with words.
  ///
  /// - Parameter media: a file by its absolute path, or an address, of a minute at most.
  public func announce(
    _ media: Media, inRooms rooms: [String] = [], volume: Double? = nil, hasChime: Bool = false
  ) async throws(TuttiError) {
    let location = try Self.entries([media]).first?.location
    try await announce(
      .init(
        location: location, rooms: rooms, volume: try Self.percent(volume), hasChime: hasChime))
  }

  private func announce(_ request: HouseCall.Announcement) async throws(TuttiError) {
    _ = try await ask(
      .announce(request: request), of: nil, within: Self.announcementTimeout)
  }

  private static func percent(_ volume: Double?) throws(TuttiError) -> Double? {
    guard let volume else { return nil }
    guard (0...1).contains(volume) else { throw .invalid("a volume is 0 to 1, not \(volume)") }
    return volume * 100
  }

  // MARK: - Alarms and scenes

  /// An alarm of the household.
  public struct Alarm: Hashable, Sendable, Identifiable {
    public enum State: Hashable, Sendable {
      case off, waiting, ringing, snoozed
      /// It was to ring once, while the daemon or the machine was off.
      case missed
    }

    public let id: String
    public let name: String?
    /// The time of the day, in the household's zone, such as `07:05`.
    public let time: String
    /// The names of its rooms.
    public let rooms: [String]
    public let state: State
    /// When it rings next, or again after a snooze, in seconds since 1970; nil if it does not.
    public let ringsAt: Double?
  }

  /// Returns all alarms, in the order in which the household shows them.
  public func alarms() async throws(TuttiError) -> [Alarm] {
    try await ask(.alarms, of: nil).alarms?.map(Alarm.init) ?? []
  }

  /// Ends all alarms that ring or are snoozed.
  public func stopAlarms() async throws(TuttiError) {
    try await order(.endAlarm(nil, snoozes: false), in: nil)
  }

  /// Lets all alarms that ring be quiet for their minutes of snooze.
  public func snoozeAlarms() async throws(TuttiError) {
    try await order(.endAlarm(nil, snoozes: true), in: nil)
  }

  /// Brings the rooms of a scene together, each as loud as it was kept. The music of the group moves to them.
  ///
  /// - Parameters:
  ///   - scene: by its name.
  ///   - group: nil for the one that plays in one of these rooms, or else the one that was used last.
  public func recall(
    scene: String, for group: String? = nil
  ) async throws(TuttiError) {
    try await order(.scene(.recall(scene, group: group)), in: group)
  }
}

extension Household.Alarm {
  init(_ line: HouseAnswer.AlarmLine) {
    let alarm = line.alarm
    (id, name, time, rooms) = (alarm.id, alarm.name, alarm.time, line.rooms)
    ringsAt = alarm.snoozedUntilS ?? (alarm.isOn ? alarm.nextAtS : nil)
    state =
      switch alarm.state {
      case .off: .off
      case .waiting: .waiting
      case .ringing: .ringing
      case .snoozed: .snoozed
      case .missed: .missed
      }
  }
}
