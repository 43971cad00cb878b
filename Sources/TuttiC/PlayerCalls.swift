public import CTutti
internal import Tutti

final class PlayerObject: Sendable {
  let player: Player
  let events: EventQueue
  let numbers: ItemNumbers
  private let listening: Task<Void, Never>

  init() throws(TuttiError) {
    let (events, numbers) = (try EventQueue(), ItemNumbers())
    let player = try Blocking.run { () async throws(TuttiError) in try await Player() }
    (self.player, self.events, self.numbers) = (player, events, numbers)
    let told = player.events
    listening = Task.detached { for await event in told { events.add(CEvent(event, numbers)) } }
  }

  func close() {
    let player = player
    _ = try? Blocking.run { () async throws(TuttiError) in await player.close() }
  }
}

private func player(_ pointer: OpaquePointer) -> PlayerObject {
  Handle.object(pointer, PlayerObject.self)
}

@_cdecl("tutti_player_new")
public func tuttiPlayerNew() -> OpaquePointer? {
  object { () throws(TuttiError) in Handle.make(try PlayerObject()) }
}

@_cdecl("tutti_player_free")
public func tuttiPlayerFree(_ pointer: OpaquePointer?) {
  if let pointer { Handle.take(pointer, PlayerObject.self).close() }
}

@_cdecl("tutti_player_add_room")
public func tuttiPlayerAddRoom(_ pointer: OpaquePointer, _ room: OpaquePointer) -> Int32 {
  let (player, room) = (player(pointer).player, Handle.object(room, RoomObject.self).room)
  return code { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in try await player.rooms.add(room) }
  }
}

@_cdecl("tutti_player_append")
public func tuttiPlayerAppend(
  _ pointer: OpaquePointer, _ location: UnsafePointer<CChar>?
) -> Int64 {
  let object = player(pointer)
  return number { () throws(TuttiError) in
    let location = try text(location)
    let isAddress = location.hasPrefix("http://") || location.hasPrefix("https://")
    let media: Media = isAddress ? .url(location) : .file(location)
    let ids = try Blocking.run { () async throws(TuttiError) in
      try await object.player.append([media])
    }
    guard let id = ids.first else { throw .noSuchItem }
    return object.numbers.number(of: id)
  }
}

@_cdecl("tutti_player_play")
public func tuttiPlayerPlay(
  _ pointer: OpaquePointer, _ since: UnsafeMutablePointer<Int64>?
) -> Int32 {
  let player = player(pointer).player
  return outcome(since) { () async throws(TuttiError) in try await player.play() }
}

@_cdecl("tutti_player_pause")
public func tuttiPlayerPause(
  _ pointer: OpaquePointer, _ since: UnsafeMutablePointer<Int64>?
) -> Int32 {
  let player = player(pointer).player
  return outcome(since) { () async throws(TuttiError) in try await player.pause() }
}

@_cdecl("tutti_player_next")
public func tuttiPlayerNext(
  _ pointer: OpaquePointer, _ since: UnsafeMutablePointer<Int64>?
) -> Int32 {
  let player = player(pointer).player
  return outcome(since) { () async throws(TuttiError) in try await player.next() }
}

@_cdecl("tutti_player_seek")
public func tuttiPlayerSeek(
  _ pointer: OpaquePointer, _ position: Double, _ since: UnsafeMutablePointer<Int64>?
) -> Int32 {
  let player = player(pointer).player
  return outcome(since) { () async throws(TuttiError) in
    try await player.seek(to: .seconds(position))
  }
}

@_cdecl("tutti_player_set_rate")
public func tuttiPlayerSetRate(
  _ pointer: OpaquePointer, _ rate: Double, _ since: UnsafeMutablePointer<Int64>?
) -> Int32 {
  let player = player(pointer).player
  return outcome(since) { () async throws(TuttiError) in try await player.setRate(rate) }
}

@_cdecl("tutti_player_set_volume")
public func tuttiPlayerSetVolume(_ pointer: OpaquePointer, _ volume: Double) -> Int32 {
  let player = player(pointer).player
  return code { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in try await player.setVolume(volume) }
  }
}

@_cdecl("tutti_player_position")
public func tuttiPlayerPosition(_ pointer: OpaquePointer) -> Double {
  let player = player(pointer).player
  return seconds { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in try await player.position().seconds }
  }
}

@_cdecl("tutti_player_presentation_time")
public func tuttiPlayerPresentationTime(_ pointer: OpaquePointer, _ position: Double) -> Int64 {
  let player = player(pointer).player
  return number { () throws(TuttiError) in
    let time = try Blocking.run { () async throws(TuttiError) in
      try await player.presentationTime(of: .seconds(position))
    }
    return time?.nanoseconds ?? 0
  }
}

@_cdecl("tutti_player_events_fd")
public func tuttiPlayerEvents(_ pointer: OpaquePointer) -> Int32 {
  player(pointer).events.descriptor
}

@_cdecl("tutti_player_next_event")
public func tuttiPlayerNextEvent(
  _ pointer: OpaquePointer, _ event: UnsafeMutablePointer<tutti_event>?
) -> Int32 {
  player(pointer).events.read(into: event)
}
