import Tutti

func playInAllRooms(_ path: String) async throws {
  let rooms = try await Receivers.search(for: .seconds(2))
  let player = try await Player(rooms: rooms)
  let events = player.events
  try await player.append(try Media.files(at: path))
  try await player.play()
  for await event in events {
    switch event {
    case .itemStarted(let current): print("now:", current.title ?? current.item.name)
    case .itemFailed(_, let reason): print("skipped:", reason)
    case .room(let event): print(event)
    case .stopped: await player.close()
    default: break
    }
  }
}

func skip(_ player: Player) async throws {
  switch try await player.next(within: .seconds(5)) {
  case .heard(let time): print("heard for \(HostTime.now - time)")
  case .silent: print("skipped, and nothing sounds")
  case .superseded: print("somebody has skipped on")
  case .pending: print("the next item does not come yet")
  }
}

func playWherever(_ player: Player) async throws {
  for await rooms in try Receivers() {
    for room in rooms { try await player.rooms.add(room) }
  }
}

func report(_ player: Player) async throws {
  for room in try await player.rooms.status().rooms {
    guard let report = room.report else { continue }
    print(room.name, report.syncError.now, "p99", report.syncError.p99, "ahead", report.buffered)
  }
}

func pair(with room: Room, pin: String) async throws {
  try await room.pair(pin: pin)
  print("\(room.name) plays for this program from now on")
}
