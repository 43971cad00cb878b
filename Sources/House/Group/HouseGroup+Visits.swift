import Sender

/// The music that something else has interrupted.
struct Interruption {
  var place: QueuePlace?
  var wasPlaying: Bool
}

/// An input that began by itself.
struct InputVisit {
  /// Identity of the input in the queue.
  var entry: Int
  /// True if the queue did not have it before.
  var isNew: Bool
  var interrupted: Interruption
}

extension HouseGroup {
  private func interruption(_ status: GroupStatus) -> Interruption {
    Interruption(place: goal(status), wasPlaying: isPlaying(status))
  }

  private func goBack(to before: Interruption) throws(Refusal) {
    // The entry may be gone meanwhile.
    let place = before.place.flatMap { place in
      items.contains { $0.id == place.entry } ? place : nil
    }
    if before.wasPlaying, let place {
      try play(place)
    } else {
      send(.halt)
      restingPlace = place
    }
  }

  // MARK: - Alarms

  /// Lets something else sound in a room for a while. Music that nobody hears then waits.
  package func lend(_ room: String) {
    // Its player does not ask for it, and is told nothing of this.
    if lost.contains(room) {
      borrowed.insert(room)
      return
    }
    let status = player.status
    let before = interruption(status)
    let isHeard = playerRoom(room, status)?.status != nil
    remove(room)
    if rooms.isEmpty {
      if before.wasPlaying { lent = before }
    } else if isHeard, absence.lent(player.status) == .pause {
      send(.pause)
    }
  }

  /// The alarm is over in this room.
  func giveBack(_ room: String) { borrowed.remove(room) }

  /// Plays on once its rooms are back, unless somebody has chosen something else meanwhile.
  package func goOn() {
    guard let before = lent else { return }
    lent = nil
    guard isResting else { return }
    // A list that has become empty meanwhile stays so.
    try? goBack(to: before)
  }

  // MARK: - Inputs

  /// Plays the input at once. The queue goes on behind it, and where it was is remembered.
  package func begin(_ input: Entry) throws(Refusal) {
    guard !rooms.isEmpty, let name = input.title else {
      throw .unavailable("its group has no rooms")
    }
    let before = interruption(player.status)
    let known = items.first { $0.location == input.location }?.id
    if let known, before.place?.entry == known, before.wasPlaying { return }
    var entry = known
    if entry == nil {
      entry = try insert([input], before.place.map { .after($0.entry) } ?? .next).first
    }
    guard let entry else { return }
    visits[name] = InputVisit(entry: entry, isNew: known == nil, interrupted: before)
    try play(QueuePlace(entry: entry, seconds: 0))
  }

  /// Gives back what was interrupted, unless somebody has chosen something else meanwhile.
  package func end(_ input: String) throws(Refusal) {
    guard let visit = visits.removeValue(forKey: input) else { return }
    let status = player.status
    if goal(status)?.entry == visit.entry {
      var before = visit.interrupted
      before.wasPlaying = before.wasPlaying && isPlaying(status)
      try goBack(to: before)
    }
    // An alarm has the rooms meanwhile.
    if let waiting = lent, waiting.place?.entry == visit.entry {
      lent = visit.interrupted
      lent?.wasPlaying = waiting.wasPlaying && visit.interrupted.wasPlaying
    }
    if visit.isNew, items.contains(where: { $0.id == visit.entry }) {
      send(.edit(.remove([visit.entry])))
    }
  }
}
