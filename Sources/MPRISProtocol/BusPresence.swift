/// Decides when a player tries again to reach the bus, and under which name it is there.
package struct BusPresence: Hashable, Sendable {
  /// A bus that has just begun anew is soon there.
  static let firstDelayMs = 1_000.0
  /// A bus that hung has to end the connection before, which has the name: it is asked so often for it.
  package static let nameAttempts = 50
  /// The delay doubles up to this.
  package static let longestDelayMs = 30_000.0

  private enum State: Hashable {
    /// There is no connection; it is tried at this time.
    case away(untilMs: Double)
    /// Connected, and this name is asked for.
    case asking(String)
    case named(String)
    /// Both names are another program's. It is there without one.
    case nameless
  }

  private let usualName: String
  private let process: Int32
  private var state: State
  private var delayMs = firstDelayMs
  /// Number of times that it still asks again for a name that was its own.
  private var asks = 0

  package init(name: String, process: Int32, at nowMs: Double) {
    (usualName, self.process, state) = (name, process, .away(untilMs: nowMs))
  }

  /// When to connect; nil while it is connected.
  package var nextAttemptMs: Double? {
    guard case .away(let untilMs) = state else { return nil }
    return untilMs
  }

  package var isNamed: Bool {
    guard case .named = state else { return false }
    return true
  }

  /// The connection was opened. Returns the name to ask for.
  package mutating func opened() -> String {
    state = .asking(usualName)
    return usualName
  }

  /// The bus has answered. Returns the next name to ask for, if the one before is another program's.
  package mutating func answered(isOurs: Bool) -> String? {
    guard case .asking(let name) = state else { return nil }
    if isOurs {
      (state, delayMs) = (.named(name), Self.firstDelayMs)
      asks = name == usualName ? Self.nameAttempts : 0
      return nil
    }
    if asks > 0 {
      asks -= 1
      return name
    }
    guard name == usualName else {
      state = .nameless
      return nil
    }
    let other = BusName.instance(usualName, process: process)
    state = .asking(other)
    return other
  }

  package var name: String? {
    guard case .named(let name) = state else { return nil }
    return name
  }

  package var isNameless: Bool { state == .nameless }

  /// The connection is lost, or could not be opened.
  package mutating func lost(at nowMs: Double) {
    state = .away(untilMs: nowMs + delayMs)
    delayMs = min(delayMs * 2, Self.longestDelayMs)
  }
}
