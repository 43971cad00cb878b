import Sender

/// Keeps rooms with their volumes as scenes, and brings them back.
extension HouseSession {
  func carryOut(_ order: Order.SceneOrder) throws(Refusal) -> Done {
    switch order {
    case .show: return Done(said: scenesText)
    case .save(let group, let name): return try saveScene(of: group, as: name)
    case .recall(let id, let group): return try recall(try scenes.scene(id), in: group)
    case .remove(let id):
      let name = try scenes.scene(id).name
      scenes.remove(id)
      return Done(said: "\(name): removed")
    }
  }

  private func saveScene(of id: String, as name: String) throws(Refusal) -> Done {
    _ = try group(id)
    guard let name = try HouseName.checked(name) else { throw .invalid("a scene has a name") }
    let members = plan.group(id)?.rooms ?? []
    guard !members.isEmpty else {
      throw .unavailable("no room is in this group; add one, then save the scene")
    }
    guard members.count <= Scene.roomLimit else {
      throw .unavailable("a scene has \(Scene.roomLimit) rooms at most")
    }
    let rooms = members.map { id in Scene.Room(id: id, volume: halfShown(id)?.volume) }
    let scene = try scenes.save(rooms, as: name)
    return Done(scene: scene.id, said: text(of: scene))
  }

  /// Rooms that nobody knows any more are left out; those that are away join when they are back.
  private func recall(_ scene: Scene, in id: String?) throws(Refusal) -> Done {
    let known = Set(roomIDs)
    let found = scene.rooms.filter { known.contains($0.id) || Self.isAddress($0.id) }
    let volumes = shown(Scene(id: scene.id, name: scene.name, rooms: found)).rooms
    let rooms = volumes.flatMap { room in
      stereo.whole([room.id]).map { Scene.Room(id: $0, volume: room.volume) }
    }
    guard !rooms.isEmpty else {
      throw .unavailable("none of the rooms of \(scene.name) is known any more")
    }
    let ids = rooms.map(\.id)
    let group = if let id { try group(id) } else { try group(toHearIn: ids) }
    noteUse(of: group)
    _ = move(group, to: ids)
    for room in rooms {
      guard let volume = room.volume else { continue }
      alarms.debts[room.id, default: RoomChange()].merge(RoomChange(volume: volume))
    }
    return Done(group: group.id, said: text(of: scene))
  }

  /// The group that plays in one of the rooms, else the one that was used last, else a new one.
  private func group(toHearIn rooms: [String]) throws(Refusal) -> HouseGroup {
    let playing = rooms.compactMap(group(ofRoom:)).first { !$0.isResting }
    if let group = playing ?? (try? self.group(named: nil)) { return group }
    return try group(createGroup(rooms, name: nil))
  }

  // MARK: - Words

  private var scenesText: String {
    scenes.scenes.isEmpty
      ? "there are no scenes" : scenes.scenes.map(text(of:)).joined(separator: "\n")
  }

  private func text(of scene: Scene) -> String {
    let rooms = shown(scene).rooms.map { room in
      name(ofRoom: room.id) + (room.volume.map { " \(NumberText.short($0))" } ?? "")
    }
    return "\(scene.name): " + rooms.joined(separator: ", ")
  }
}
