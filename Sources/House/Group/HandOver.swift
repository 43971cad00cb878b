import Clock
import Sender
import WireProtocol

/// Rooms that a group's music leaves for others. They have left the group for everybody who asks, and sound until one of the
/// others does: nobody hears a gap.
struct HandOver {
  /// Longer than a room that is there takes until it sounds.
  static let timeout = Nanoseconds.seconds(10)

  var leaving: Set<String>
  var coming: [String]
  let deadline: LocalTime
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
    guard let handOver else { return }
    let sounds = handOver.coming.contains { playerRoom($0, status)?.status?.state == .playing }
    guard sounds || handOver.deadline <= now || status.state != .playing else { return }
    endHandOver()
  }

  /// The rooms that sound only until others do are silent now.
  func endHandOver() {
    guard let leaving = handOver?.leaving.sorted() else { return }
    handOver = nil
    for room in leaving { remove(room) }
  }
}
