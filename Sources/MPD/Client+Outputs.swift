import House
import MPDProtocol
import Service

/// Outputs are rooms, and partitions are groups.
extension Client {
  mutating func outputs() async throws {
    let (state, group) = try await view()
    await household.hub.note(rooms: state.rooms.map(\.id))
    let book = await household.hub.book
    let rooms = state.rooms.compactMap { room in
      book.number(ofRoom: room.id).map { (number: $0, room: room) }
    }
    for (number, room) in rooms.sorted(by: { $0.number < $1.number }) {
      reply.pair("outputid", number)
      reply.pair("outputname", room.name)
      reply.pair("plugin", "tutti")
      reply.pair("outputenabled", group != nil && room.groupId == group?.id ? 1 : 0)
      if let volume = room.volume { reply.pair("attribute", "volume=\(Int(volume.rounded()))") }
    }
  }

  private func room(_ text: String, _ state: HouseState) async throws -> HouseState.Room {
    let number = try Argument.number(text)
    guard let id = await household.hub.book.room(number),
      let room = state.rooms.first(where: { $0.id == id })
    else { throw Ack.noExist("No such audio output") }
    return room
  }

  func enable(_ text: String) async throws {
    let (state, group) = try await view()
    try await enable(try await room(text, state), group, state)
  }

  private func enable(
    _ room: HouseState.Room, _ group: HouseState.Group?, _ state: HouseState
  ) async throws {
    guard room.groupId == nil || room.groupId != group?.id else { return }
    if let other = state.groups.first(where: { $0.id == room.groupId }), other.state.word == .play {
      throw Ack(
        .system, "\(room.name) plays in \(other.name); take it with: moveoutput \"\(room.name)\"")
    }
    try await join(room, group, takes: false)
  }

  private func join(
    _ room: HouseState.Room, _ group: HouseState.Group?, takes: Bool
  ) async throws {
    guard let group else {
      // The queue of a group that has lost its last room goes on in this one.
      if let id = await household.hub.lastGroup(ofListener: number),
        (try? await perform(.join(group: id, room: room.id, takes: takes))) != nil
      {
        return
      }
      _ = try await perform(.createGroup(rooms: [room.id], name: nil))
      return
    }
    _ = try await perform(.join(group: group.id, room: room.id, takes: takes))
  }

  func disable(_ text: String) async throws {
    let (state, group) = try await view()
    try await disable(try await room(text, state), group)
  }

  private func disable(_ room: HouseState.Room, _ group: HouseState.Group?) async throws {
    guard let group, room.groupId == group.id else { return }
    _ = try await perform(.leave(group: group.id, rooms: [room.id]))
  }

  func toggle(_ text: String) async throws {
    let (state, group) = try await view()
    let room = try await room(text, state)
    if let group, room.groupId == group.id {
      try await disable(room, group)
    } else {
      try await enable(room, group, state)
    }
  }

  func setOutput(_ text: String, _ name: String, _ value: String) async throws {
    let room = try await room(text, try await state())
    guard name == "volume" else { throw Ack.argument("Unsupported attribute") }
    let volume = try Argument.number(value, most: 100)
    _ = try await perform(.set(rooms: [room.id], RoomChange(volume: Double(volume))))
  }

  /// Takes a room from whoever has it, by its name.
  func moveOutput(_ name: String) async throws {
    let (state, group) = try await view()
    guard let room = state.rooms.first(where: { $0.name == name }) else {
      throw Ack.noExist("No such output")
    }
    guard room.groupId == nil || room.groupId != group?.id else { return }
    try await join(room, group, takes: true)
  }

  // MARK: - Partitions

  mutating func listPartitions() async throws {
    let state = try await state()
    let book = await household.hub.book
    let slugs = state.groups.compactMap { book.group($0.id)?.slug }
    for slug in slugs.isEmpty ? ["default"] : slugs { reply.pair("partition", slug) }
  }

  /// `default` is the group of the client's port.
  func choosePartition(_ slug: String) async throws {
    guard slug != "default" else { return await household.hub.choose(nil, for: number) }
    await household.hub.choose(try await group(slug: slug).id, for: number)
  }

  private func group(slug: String) async throws -> HouseState.Group {
    let id = await household.hub.book.group(slug: slug)?.id
    guard let id, let group = try await state().groups.first(where: { $0.id == id }) else {
      throw Ack.noExist("partition does not exist")
    }
    return group
  }

  func newPartition(_ name: String) async throws {
    guard !name.isEmpty, NumberBook.slug(name) == name.lowercased() else {
      throw Ack.argument("bad name")
    }
    let book = await household.hub.book
    let groups = try await state().groups
    if let known = book.group(slug: NumberBook.slug(name)),
      groups.contains(where: { $0.id == known.id })
    {
      throw Ack(.exists, "name already exists")
    }
    _ = try await perform(.createGroup(rooms: [], name: name))
  }

  func deletePartition(_ slug: String) async throws {
    guard slug != "default" else {
      throw Ack(.unknown, "cannot delete the default partition")
    }
    let group = try await group(slug: slug)
    guard await household.hub.clientCount(ofGroup: group.id, without: 0) == 0 else {
      throw Ack(.unknown, "partition still has clients")
    }
    guard group.roomIds.isEmpty else { throw Ack(.unknown, "partition still has outputs") }
    _ = try await perform(.deleteGroup(group.id))
  }
}
