package import LinuxIO

/// Why a player cannot do what it was asked for, or has ended. `description` is one line for people.
package enum ServiceError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  /// Something was asked for that cannot be had; the line says what can.
  case invalid(String)
  /// A room, or something of the system, is not there.
  case unavailable(String)
  /// It was not done, for it could not be kept: the disk is full or broken.
  case notKept(String)
  /// There is nothing in the list that can be played.
  case nothingPlayable(String)
  /// The list was played, but a part of an item was missing; an event has said which.
  case damaged

  package var description: String {
    switch self {
    case .invalid(let line), .unavailable(let line), .notKept(let line),
      .nothingPlayable(let line):
      line
    case .damaged: "an item was damaged, or ended early"
    }
  }

  package init(_ error: IOError) { self = .unavailable("\(error)") }
}
