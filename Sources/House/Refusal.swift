/// The reason why something was not done, or has ended: one sentence for people that says what to do. All surfaces show
/// the same sentence.
package enum Refusal: Error, Codable, Hashable, Sendable, CustomStringConvertible {
  /// The named thing does not exist, or does not exist any more.
  case noSuch(String)
  /// The request has a value that is not possible; the sentence says which are.
  case invalid(String)
  /// Guests may not do this.
  case forbidden(String)
  /// A PIN, secret or token is wrong.
  case wrong(String)
  /// Too many were wrong: the next one counts after so many seconds.
  case tooMany(String, retryAfterS: Int)
  /// The queue has changed; its revision is now this.
  case outdated(revision: UInt64)
  /// This cannot be done now, or a room or a part of the system is missing.
  case unavailable(String)
  /// This was not done because it could not be stored: the disk is full or broken.
  case notKept(String)
  /// This is not done yet; the same request may succeed a second later.
  case notYet(String)
  /// The list has no item that can be played.
  case nothingPlayable(String)
  /// The list was played, but a part of an item was missing; an event has named the item.
  case damaged

  package var description: String {
    switch self {
    case .noSuch(let line), .invalid(let line), .forbidden(let line), .wrong(let line),
      .tooMany(let line, _),
      .unavailable(let line), .notKept(let line), .notYet(let line), .nothingPlayable(let line):
      line
    case .outdated(let revision):
      "The queue has changed meanwhile, to revision \(revision); fetch it, and try again."
    case .damaged: "an item was damaged or incomplete"
    }
  }
}
