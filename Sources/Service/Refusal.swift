package import LinuxIO

/// Why something was not done, or has ended, in one sentence for people that says what to do. All surfaces give the same.
package enum Refusal: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  /// What was named is not there, or not any more.
  case noSuch(String)
  /// Something was asked for that cannot be had; the line says what can.
  case invalid(String)
  /// Guests may not do that.
  case forbidden(String)
  /// A PIN, secret or token that does not fit.
  case wrong(String)
  /// Too many wrong ones: the next counts after so many seconds.
  case tooMany(String, retryAfterS: Int)
  /// The queue has this revision by now.
  case outdated(revision: UInt64)
  /// It cannot be done now; or a room, or something of the system, is not there.
  case unavailable(String)
  /// It was not done, for it could not be kept: the disk is full or broken.
  case notKept(String)
  /// It is not done yet; the same request in a second may have its answer.
  case notYet(String)
  /// There is nothing in the list that can be played.
  case nothingPlayable(String)
  /// The list was played, but a part of an item was missing; an event has said which.
  case damaged

  package var description: String {
    switch self {
    case .noSuch(let line), .invalid(let line), .forbidden(let line), .wrong(let line),
      .tooMany(let line, _),
      .unavailable(let line), .notKept(let line), .notYet(let line), .nothingPlayable(let line):
      line
    case .outdated(let revision):
      "The queue has changed meanwhile, to revision \(revision); fetch it, and try again."
    case .damaged: "an item was damaged, or ended early"
    }
  }

  package init(_ error: IOError) { self = .unavailable("\(error)") }
}
