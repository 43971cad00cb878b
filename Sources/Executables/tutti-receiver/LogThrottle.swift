import Clock

/// Keeps a peer that misbehaves a thousand times a second, or a card that comes and goes, from filling the disk:
/// of each kind of line only so many a minute are written.
struct LogThrottle {
  static let linesPerMinute = 10
  private static let minute = Nanoseconds.seconds(60)

  private struct Kind {
    var began: LocalTime
    var written = 0
    var leftOut = 0
  }

  /// One for each constant message of the program.
  private var kinds: [String: Kind] = [:]

  /// How many lines of this kind were left out before the one that may be written now; `nil` leaves out this one.
  mutating func admit(_ name: String, at now: LocalTime) -> Int? {
    var kind = kinds[name] ?? Kind(began: now)
    defer { kinds[name] = kind }
    let leftOut = kind.leftOut
    if now - kind.began >= Self.minute { kind = Kind(began: now) }
    guard kind.written < Self.linesPerMinute else {
      kind.leftOut += 1
      return nil
    }
    kind.written += 1
    kind.leftOut = 0
    return leftOut
  }
}
