import Clock
import Sender

/// A household's other machine, as this one knows it.
package struct SecondMachine: Hashable, Sendable {
  /// Where it is, while it is there.
  package var host: String?
  /// Why it could not go on with the music; nil if it could, or if there is none.
  package var problem: String?

  package init(host: String? = nil, problem: String? = nil) {
    (self.host, self.problem) = (host, problem)
  }
}

/// Knows whether the household's other machine could go on, and whether it might have to: where this one hears it, and no room.
struct HouseSecond {
  /// Time without any room that is worth a word: rooms that begin anew are back before.
  private static let patience = Nanoseconds.seconds(10)

  var machine = SecondMachine()
  /// Since when music is to play, and no room is heard.
  private var deafSince: LocalTime?
  private var deafness: String?

  var problem: String? { machine.problem ?? (machine.host == nil ? nil : deafness) }

  /// Returns a line if this machine hears no room any more.
  ///
  /// Nobody here knows why: a household whose only room is unplugged looks the same. So it is said, and nothing is done.
  mutating func look(isDeaf: Bool, at now: LocalTime) -> String? {
    deafSince = isDeaf ? deafSince ?? now : nil
    let before = deafness
    deafness = sentence(at: now)
    return before == nil ? deafness : nil
  }

  private func sentence(at now: LocalTime) -> String? {
    guard let host = machine.host, let deafSince, deafSince + Self.patience <= now else {
      return nil
    }
    return
      "no room can be heard from this machine, while the household's other one at \(host) can: look at the network here; if only this machine is cut off, stop its daemon, and the other one goes on"
  }
}

extension HouseSession {
  func lookAtSecond() {
    if let line = second.look(isDeaf: isDeaf, at: now) { warn(line) }
  }

  /// True if music is to play, and no room of any group answers.
  private var isDeaf: Bool {
    guard second.machine.host != nil else { return false }
    let isWanted = groupsInOrder.contains { group in
      !group.rooms.isEmpty && group.isPlaying(group.player.status)
    }
    return isWanted && !plan.groups.contains { $0.rooms.contains(where: answers) }
  }

  /// True also for one that refuses.
  private func answers(_ room: String) -> Bool {
    switch state(ofRoom: room) {
    case .joining: false
    case .away(_, let reason): ![nil, .unreachable, .gone].contains(reason?.code)
    case .free, .playing, .taken, .notPaired, .noDevice: true
    }
  }
}
