/// Who asks something of the household, over HTTP.
package enum Asker: Hashable, Sendable {
  /// Somebody at this machine itself.
  case machine
  /// A paired one, by its id.
  case browser(String)
  /// A program that knows the token of the configuration.
  case token
  /// Anybody else, while guests may steer music.
  case guest
  /// Anybody else.
  case stranger

  package func may(_ permission: Permission) -> Bool {
    switch self {
    case .machine, .browser, .token: true
    case .guest: permission != .household
    case .stranger: permission == .anyone
    }
  }
}

/// Who may ask for something.
package enum Permission: String, CaseIterable, Sendable {
  /// What tells nothing of the household.
  case anyone
  /// What steers music, and what one has to see for that.
  case guest
  /// What lasts, and what is private.
  case household
}
