package import Clock

/// Limits how many lines of each kind are written a minute, so that a peer that misbehaves a thousand times a
/// second, or a card that comes and goes, cannot fill the disk.
package struct LogThrottle: Sendable {
  /// A room that plays well writes none a minute, and one in trouble a few of each kind.
  static let linesPerMinute = 10
  private static let minute = Nanoseconds.seconds(60)

  private struct Kind {
    var began: LocalTime
    var written = 0
    var leftOut = 0
  }

  /// One entry for each constant message of the program.
  private var kinds: [String: Kind] = [:]

  package init() {}

  /// Returns the number of lines of this kind that were left out since the last one, or nil if this line must be
  /// left out as well.
  package mutating func admit(_ name: String, at now: LocalTime) -> Int? {
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
