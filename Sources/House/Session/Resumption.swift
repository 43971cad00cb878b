package import Clock

/// Groups that played when the last process ended play on, unless they have ended the process twice soon after its
/// start: that would go on for ever. The number of such deaths in a row is kept over the death.
package enum Resumption {
  /// Deaths soon after a start, in a row.
  package static let deathLimit = 2
  /// Music that has played for so long after a start does not end the process.
  package static let proof = Nanoseconds.seconds(10)

  static let refusal =
    "what played has ended this program twice as it began; the groups wait: play something else, or try again"

  case none
  /// Plays at this time, when the number is kept.
  case waiting([HouseRecord.Group], deaths: Int, at: LocalTime)
  /// Proven at this time.
  case proving(until: LocalTime)

  package init(_ groups: [HouseRecord.Group], after deaths: Int, at now: LocalTime) {
    self = deaths < Self.deathLimit ? .waiting(groups, deaths: deaths + 1, at: now) : .none
  }

  /// The number to keep. 0 after a refusal: a person has seen the line by then, so that the next start tries again.
  package var deaths: Int { if case .waiting(_, let deaths, _) = self { deaths } else { 0 } }

  var due: [HouseRecord.Group]? {
    if case .waiting(let groups, _, _) = self { groups } else { nil }
  }

  mutating func begin(at now: LocalTime) { self = .proving(until: now + Self.proof) }

  func isProven(at now: LocalTime) -> Bool {
    if case .proving(let end) = self { end <= now } else { false }
  }

  var deadline: LocalTime? {
    switch self {
    case .none: nil
    case .waiting(_, _, let time), .proving(let time): time
    }
  }
}
