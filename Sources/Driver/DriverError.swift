/// The reason why a group cannot play as asked, in one line for people.
package enum DriverError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The request itself is not possible.
  case usage(String)
  /// The system refused something.
  case system(String)

  package var description: String {
    switch self {
    case .usage(let line), .system(let line): line
    }
  }
}
