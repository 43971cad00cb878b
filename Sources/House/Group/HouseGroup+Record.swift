import Sender

/// Makes the record of a group that the disk keeps, and takes a group back to one.
extension HouseGroup {
  package func record(as plan: HousePlan.Group) -> HouseRecord.Group {
    let status = player.status
    var record = HouseRecord.Group(id: id, name: plan.name)
    (record.rooms, record.lastRoom) = (plan.rooms, plan.lastRoom)
    record.queue = queueToStore
    (record.undo, record.unshuffled, record.merge) = (undo, unshuffled, merge)
    record.nextEntry = player.playlist.nextID
    record.revision = queueRevision
    record.place = goal(status)
    record.isPlaying = isPlaying(status) || lent?.wasPlaying ?? false
    record.repetition = status.repetition
    record.effects = status.effects
    return record
  }

  /// Its list and settings as they were: what was done since could not be kept. What plays and is still there plays on.
  package func revert(to record: HouseRecord.Group) {
    let status = player.status
    if record.repetition != status.repetition {
      send(.edit(.setRepetition(record.repetition)))
    }
    if record.effects.problem == nil, record.effects != status.effects {
      send(.effects(record.effects))
    }
    let kept = record.queue.ids
    if items.map(\.id) != kept {
      if let undo, undo.queue.ids == kept {
        _ = try? bringBack()
      } else {
        restore(record, playing: place(status)?.entry)
      }
    }
    (undo, unshuffled, merge) = (record.undo, record.unshuffled, record.merge)
    for entry in record.undo?.queue.entries ?? [] where player.details[entry.id] == nil {
      player.details[entry.id] = entry.details
    }
  }

  private func restore(_ record: HouseRecord.Group, playing current: Int?) {
    let entries = record.queue.entries
    for entry in entries { player.details[entry.id] = entry.details }
    send(.edit(.restore(entries.map { $0.details.item($0.id) })))
    forgetDetails()
    guard !entries.contains(where: { $0.id == current }) else { return }
    send(.halt)
    restingPlace = record.place
    if record.isPlaying, !rooms.isEmpty { try? play(record.place) }
  }

  /// Brought into line once for each edit.
  var queueToStore: QueueRecord {
    guard queue.revision != queueRevision else { return queue.record }
    queue.record.follow(items) { item in
      var entry = player.details[item.id] ?? Entry(location: item.location)
      entry.reach = item.reach
      entry.title = entry.title ?? item.title
      return entry
    }
    queue.revision = queueRevision
    return queue.record
  }
}
