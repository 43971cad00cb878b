import Clock

/// Has a small encoding made while a link of the group is weak, beside what is produced.
extension GroupSession {
  mutating func serveWeakLinks(at now: LocalTime) {
    guard let codec = configuration.smallCodec else { return }
    rooms.judgeLinks(timeline, small: codec, at: now)
    let needs = live.item == nil ? rooms.smallNeeds : nil
    if let order = small.order(from: &store, for: needs) { emit(.makeSmall(order)) }
  }

  mutating func measured(_ id: RoomID, waiting: Int, at now: LocalTime) {
    guard live.item == nil else { return }
    rooms.measured(id, waiting: waiting, needed: store.byteRate, at: now)
  }

  /// Where the group is about to begin, if links may be probed meanwhile.
  var awaitedStart: MediaTime? {
    guard case .starting(let place) = timeline.state, configuration.smallCodec != nil,
      !start.isHeld
    else { return nil }
    return place
  }

  /// True while measurements are awaited (`Input.measured`).
  var isProbing: Bool { rooms.isProbing }

  /// True if a small encoding is made beside the other one.
  package var makesSmall: Bool { small.isActive }
}
