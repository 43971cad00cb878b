import Sender

/// The music that an input has interrupted that began by itself.
struct InputVisit {
  /// Identity of the input in the queue.
  var entry: Int
  /// True if the queue did not have it before.
  var isNew: Bool
  var place: QueuePlace?
  var wasPlaying: Bool
}

extension HouseGroup {
  /// Plays the input at once. The queue goes on behind it, and where it was is remembered.
  package func begin(_ input: Entry) throws(Refusal) {
    guard !rooms.isEmpty, let name = input.title else {
      throw .unavailable("its group has no rooms")
    }
    let status = player.status
    let wasPlaying = isPlaying(status)
    let before = goal(status)
    let known = items.first { $0.location == input.location }?.id
    if let known, before?.entry == known, wasPlaying { return }
    var entry = known
    if entry == nil { entry = try insert([input], before.map { .after($0.entry) } ?? .next).first }
    guard let entry else { return }
    visits[name] = InputVisit(
      entry: entry, isNew: known == nil, place: before, wasPlaying: wasPlaying)
    try play(QueuePlace(entry: entry, seconds: 0))
  }

  /// Gives back what was interrupted, unless somebody has chosen something else meanwhile.
  package func end(_ input: String) throws(Refusal) {
    guard let visit = visits.removeValue(forKey: input) else { return }
    let status = player.status
    if goal(status)?.entry == visit.entry {
      // The entry may be gone meanwhile.
      let place = visit.place.flatMap { place in
        items.contains { $0.id == place.entry } ? place : nil
      }
      if visit.wasPlaying, isPlaying(status), let place {
        try play(place)
      } else {
        send(.halt)
        restingPlace = place
      }
    }
    if visit.isNew, items.contains(where: { $0.id == visit.entry }) {
      send(.edit(.remove([visit.entry])))
    }
  }
}
