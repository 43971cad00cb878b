package import Disturbances
package import Sender

/// The household as the record of what happens to it has it.
extension HouseSession {
  package var recordedGroups: [DisturbanceRecorder.Group] {
    groupsInOrder.map { group in
      let session = group.player.port.session
      return .init(
        id: group.id, name: name(ofGroup: group.id),
        isHalted: session.isHalted || !session.hasBegun,
        rooms: (plan.group(group.id)?.rooms ?? []).map(recorded))
    }
  }

  /// Nil if nobody records the event. The group is one of the plan: an alarm's player has rooms for a while.
  package func recorded(_ event: SenderEvent, of id: String) -> DisturbanceRecorder.Input? {
    guard case .room(let room, let change) = event, let group = groups[id],
      let known = group.rooms.first(where: { $0.value.number == room.id })?.key
    else { return nil }
    return .room(
      recorded(known), change, group: id,
      holds: change == .connected && group.player.port.session.holdsMusic(room.id))
  }

  private func recorded(_ room: String) -> DisturbanceRecorder.Room {
    .init(id: room, name: nameByItself(room))
  }
}
