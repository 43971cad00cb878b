import Clock
import Sender

/// Carries out requests, through whatever door they come: the rules of a group are those of `HouseGroup`.
extension HouseSession {
  /// The result of an order, as far as it is known before the state is made.
  struct Done {
    var group: String?
    var room: String?
    var alarm: String?
    var scene: String?
    var queue: Answer.Queue?
    var said: String?

    func answer(_ state: HouseState) -> Answer {
      var answer = Answer(revision: state.revision)
      answer.group = state.groups.first { $0.id == group }
      answer.room = state.rooms.first { $0.id == room }
      answer.alarm = state.alarms.first { $0.id == alarm }
      answer.scene = state.scenes.first { $0.id == scene }
      (answer.queue, answer.said) = (queue, said)
      return answer
    }
  }

  func carryOut(_ request: Request) throws(Refusal) -> Done {
    releaseWaiting(rooms(movedBy: request))
    switch request {
    case .order(let order): return try carryOut(order)
    case .play(let request, let entries, let group): return try play(entries, request, in: group)
    case .silence(let rooms): return Done(said: silence(rooms))
    // Answered later, and not by this.
    case .announce: return Done()
    }
  }

  private func carryOut(_ order: Order) throws(Refusal) -> Done {
    switch order {
    case .createGroup(let rooms, let name):
      return Done(group: try createGroup(rooms, name: name))
    case .deleteGroup(let id):
      _ = try group(id)
      delete(id)
      return Done()
    case .change(let id, let change):
      let said = try set(change, of: id)
      if change.rooms.volume != nil { steerVolume(of: try group(id)) }
      return Done(group: id, said: said)
    case .transport(let id, let transport):
      noteMove()
      let group = try used(group(id))
      if let said = steer(group, transport) { return Done(group: id, said: said) }
      return Done(group: id, said: try group.transport(transport))
    case .stopEverywhere(let sleepInS):
      guard let sleepInS else { return Done(said: try stopEverywhere()) }
      return Done(said: try sleepEverywhere(in: sleepInS))
    case .seek(let id, let seconds, let isRelative):
      noteMove()
      return Done(
        group: id, said: try used(group(id)).seek(seconds, isRelative: isRelative))
    case .join(let id, let room, let takes):
      return Done(group: id, said: try join(room, id, takes: takes))
    case .leave(let id, let rooms): return Done(group: id, said: try leave(rooms, id))
    case .merge(let id, let other): return Done(group: id, said: try merge(other, into: id))
    case .edit(let id, let edit, let expected):
      let group = try used(group(id))
      if let expected, expected != group.queueRevision {
        throw .outdated(revision: group.queueRevision)
      }
      if case .undo = edit, let merge = standingMerge(of: id) {
        let said = try part(merge, from: id)
        return Done(group: id, queue: .init(revision: group.queueRevision, added: []), said: said)
      }
      let done = try group.edit(edit)
      return Done(
        group: id, queue: .init(revision: group.queueRevision, added: done.added), said: done.said)
    case .set(let rooms, let change): return try set(change, of: rooms)
    case .identify(let room):
      try identify(room)
      return Done(said: "\(name(ofRoom: room)) shows itself")
    case .addAlarm(let change): return try add(change)
    case .changeAlarm(let id, let change): return try self.change(id, change)
    case .removeAlarm(let id): return try removeAlarm(id)
    case .endAlarm(let id, let snoozes): return try end(id, snoozes: snoozes)
    case .night(let night): return try carryOut(night)
    case .scene(let order): return try carryOut(order)
    case .setUp(let order): return try carryOut(order)
    case .stereo(let order): return try carryOut(order)
    }
  }

  package func group(_ id: String) throws(Refusal) -> HouseGroup {
    guard let group = groups[id] else { throw .noSuch("there is no such group any more") }
    return group
  }

  func used(_ group: HouseGroup) -> HouseGroup {
    noteUse(of: group)
    return group
  }

  /// Somebody has chosen another place in the music, which is to be kept as an edit is.
  func noteMove() { disk.isMoved = true }

  /// The group that somebody means who names none, if nothing plays: the one that was used last.
  func noteUse(of group: HouseGroup) {
    group.lastUse = 1 + (groups.values.map(\.lastUse).max() ?? 0)
    takeBackFreed()
  }
}
