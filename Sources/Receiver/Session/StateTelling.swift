import Clock
import WireProtocol

/// Decides which states of a room are news for its sender and the log.
struct StateTelling {
  private(set) var last: RoomStatus.State?
  /// Until this time, a gap may be the effect of the last command.
  var gapsAreExpectedUntil: LocalTime?
  private var starvationWasTold = false

  mutating func isNews(_ state: RoomStatus.State) -> Bool {
    defer { last = state }
    return state != last
  }

  /// True for starvation, except in a gap after a cut, a start or a change of the delay: it is audible too, but nobody
  /// needs to look for its cause.
  mutating func isStarvationNews(_ state: RoomStatus.State, at now: LocalTime) -> Bool {
    guard state == .starved else {
      starvationWasTold = false
      return false
    }
    guard !starvationWasTold, gapsAreExpectedUntil.map({ $0 <= now }) ?? true else { return false }
    starvationWasTold = true
    return true
  }
}
