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
  /// Requests that tell nothing of the household.
  case anyone
  /// Requests that steer music, or show what one has to see for that.
  case guest
  /// Requests about what lasts or is private.
  case household
}
