import Clock
import WireProtocol

/// A room that has nothing to play has a network that is too slow only where the group has had enough to send for a
/// while. What a cut, a change of a room's delay or a late source leaves without sound for an instant is no fault of it.
extension RoomSet {
  mutating func received(_ status: RoomStatus, from index: Int, at now: LocalTime) {
    links[index].live?.media?.delivered(until: status.bufferedUntil, at: now)
    var status = status
    if status.detail.isEmpty, links[index].withholdsCredit(at: now) {
      status.detail = "it has not let itself be sent anything for 10 s"
    }
    links[index].live?.told(status, at: now)
    // A starving room is told of once nothing excuses it.
    let isTold = links[index].live?.toldState?.state == .starved
    // Between the holes that a slow network leaves it plays, and starves again: that is one trouble.
    let isBetweenHoles = isTold && status.state == .playing && links[index].isTooSlow(at: now)
    if isBetweenHoles { return }
    if status.state != .starved || isTold, links[index].live?.isToldOf(at: now) == true {
      tellState(of: index)
    }
  }

  /// Tells of rooms that starve by their own network; `isSupplied` says whether the group has enough to send.
  mutating func tellOfStarvation(isSupplied: Bool, at now: LocalTime) {
    for index in links.indices {
      if !isSupplied { links[index].live?.excuseStarvation(at: now) }
      if let time = links[index].starvationTime, time <= now { tellState(of: index) }
    }
  }

  mutating func tellState(of index: Int) {
    guard let status = links[index].live?.status else { return }
    let state = ToldState(state: status.state, detail: status.detail)
    guard links[index].live?.toldState != state else { return }
    links[index].live?.toldState = state
    outputs.append(.event(.roomState(links[index].id, status.state, detail: status.detail)))
  }
}

/// What was said of a room last.
struct ToldState: Hashable {
  var state: RoomStatus.State
  var detail: String
}

extension RoomLink {
  /// When to tell that the room starves; nil where it does not, or where that was told.
  var starvationTime: LocalTime? {
    guard let live, live.status?.state == .starved, live.toldState?.state != .starved else {
      return nil
    }
    return live.starvationCountsFrom
  }
}
