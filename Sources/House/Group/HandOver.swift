import Clock
import Sender
import WireProtocol

/// Rooms that a group's music leaves for others. They have left the group for everybody who asks, and sound until one of the
/// others does: nobody hears a gap.
struct HandOver {
  /// Longer than a room that is there takes until it sounds.
  static let timeout = Nanoseconds.seconds(10)
  /// A room says that it plays as soon as it renders: at most so long before anybody hears it.
  static let ahead = Nanoseconds.seconds(1)

  var leaving: Set<String>
  var coming: [String]
  var deadline: LocalTime
  /// True once a room that comes has said that it plays.
  var isTakenUp = false
}

extension HouseGroup {
  /// - Parameters:
  ///   - leaving: rooms that its player has.
  ///   - coming: rooms that its player tries.
  func handOver(from leaving: [String], to coming: [String], at now: LocalTime) {
    let leaving = handOver?.leaving.union(leaving) ?? Set(leaving)
    handOver = HandOver(leaving: leaving, coming: coming, deadline: now + HandOver.timeout)
  }

  /// True if the room sounds only until another one does.
  func isLeaving(_ room: String) -> Bool { handOver?.leaving.contains(room) ?? false }

  /// The room stays in the group.
  func keep(_ room: String) { handOver?.leaving.remove(room) }

  /// The room is wanted for something else, and leaves at once.
  func letGo(_ room: String) {
    guard handOver?.leaving.remove(room) != nil else { return }
    remove(room)
  }

  func lookAtHandOver(at now: LocalTime, _ status: GroupStatus) {
    guard var handOver else { return }
    let links = handOver.coming.map { playerRoom($0, status) }
    let plays = links.contains { $0?.status?.state == .playing }
    let isVain = links.allSatisfy { if case .away? = $0?.connection { true } else { false } }
    if plays, !handOver.isTakenUp {
      (handOver.isTakenUp, handOver.deadline) = (true, min(handOver.deadline, now + HandOver.ahead))
      self.handOver = handOver
    }
    guard handOver.deadline <= now || isVain || status.state != .playing else { return }
    endHandOver()
  }

  /// The rooms that sound only until others do are silent now.
  func endHandOver() {
    guard let leaving = handOver?.leaving.sorted() else { return }
    handOver = nil
    for room in leaving { remove(room) }
  }
}
