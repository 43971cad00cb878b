import Clock
import WireProtocol

/// Reports rooms that starve because their network is too slow. That can be said only if the group has had enough to
/// send for a while. The room is not at fault if a cut, a change of its delay, or a late source leaves an instant
/// without sound.
extension RoomSet {
  mutating func received(_ status: RoomStatus, from index: Int, at now: LocalTime) {
    links[index].connected?.media?.delivered(until: status.bufferedUntil, at: now)
    var status = status
    if status.detail.isEmpty, links[index].withholdsCredit(at: now) {
      status.detail = "it has granted no credit for 10 s, so nothing can be sent to it"
    }
    links[index].connected?.told(status, at: now)
    hasReports = true
    // Starvation is reported only once nothing excuses it.
    let isTold = links[index].connected?.toldState?.state == .starved
    // On a slow network, the room plays between the holes and starves again. That is one trouble.
    let isBetweenHoles = isTold && status.state == .playing && links[index].isTooSlow(at: now)
    if isBetweenHoles { return }
    if status.state != .starved || isTold, links[index].connected?.isToldOf(at: now) == true {
      tellState(of: index)
    }
  }

  /// Reports rooms that starve because of their own network. `isSupplied` is true if the group has enough to send.
  mutating func tellOfStarvation(isSupplied: Bool, at now: LocalTime) {
    for index in links.indices {
      if !isSupplied { links[index].connected?.excuseStarvation(at: now) }
      if let time = links[index].starvationTime, time <= now { tellState(of: index) }
    }
  }

  mutating func tellState(of index: Int) {
    guard let status = links[index].connected?.status else { return }
    let state = ToldState(state: status.state, detail: status.detail)
    guard links[index].connected?.toldState != state else { return }
    links[index].connected?.toldState = state
    tellOf(links[index].id, .state(status.state, detail: status.detail))
  }
}

/// The state of a room that was reported last.
struct ToldState: Hashable {
  var state: RoomStatus.State
  var detail: String
}

extension RoomLink {
  /// The time at which to report that the room starves; nil if it does not, or if that was reported.
  var starvationTime: LocalTime? {
    guard let room = connected, room.status?.state == .starved, room.toldState?.state != .starved
    else { return nil }
    return room.starvationCountsFrom
  }
}
