internal import CTutti
internal import Tutti

final class RoomObject {
  let room: Room
  /// The name as C reads it.
  let name: UnsafeMutableBufferPointer<CChar>

  init(_ room: Room) {
    self.room = room
    let text = room.name.utf8CString
    name = .allocate(capacity: text.count)
    _ = name.initialize(from: text)
  }

  deinit { name.deallocate() }
}

@_cdecl("tutti_now")
public func tuttiNow() -> Int64 { HostTime.now.nanoseconds }

@_cdecl("tutti_room_at_new")
public func tuttiRoomAt(_ host: UnsafePointer<CChar>?, _ port: UInt16) -> OpaquePointer? {
  object { () throws(TuttiError) in
    Handle.make(RoomObject(.at(try text(host), port: port)))
  }
}

@_cdecl("tutti_room_recording_new")
public func tuttiRoomRecording(_ path: UnsafePointer<CChar>?) -> OpaquePointer? {
  object { () throws(TuttiError) in
    Handle.make(RoomObject(.recording(to: try text(path))))
  }
}

@_cdecl("tutti_room_this_machine_new")
public func tuttiRoomThisMachine(_ device: UnsafePointer<CChar>?) -> OpaquePointer? {
  object { () throws(TuttiError) in
    guard let device else { return Handle.make(RoomObject(.thisMachine())) }
    return Handle.make(RoomObject(.thisMachine(device: try text(device))))
  }
}

@_cdecl("tutti_rooms_search")
public func tuttiRoomsSearch(
  _ seconds: Double, _ rooms: UnsafeMutablePointer<OpaquePointer?>?, _ limit: Int
) -> Int32 {
  Int32(
    number { () throws(TuttiError) in
      guard seconds >= 0, seconds <= 3_600 else {
        throw .invalid("a search lasts 0 to 3600 seconds, not \(seconds)")
      }
      let found = try Blocking.run { () async throws(TuttiError) in
        try await Receivers.search(for: .seconds(seconds))
      }
      guard let rooms else { return Int64(found.count) }
      for (index, room) in found.prefix(max(0, limit)).enumerated() {
        rooms[index] = Handle.make(RoomObject(room))
      }
      return Int64(found.count)
    })
}

@_cdecl("tutti_room_name")
public func tuttiRoomName(_ room: OpaquePointer) -> UnsafePointer<CChar>? {
  UnsafePointer(Handle.object(room, RoomObject.self).name.baseAddress)
}

@_cdecl("tutti_room_pair")
public func tuttiRoomPair(_ room: OpaquePointer, _ pin: UnsafePointer<CChar>?) -> Int32 {
  let room = Handle.object(room, RoomObject.self).room
  return code { () throws(TuttiError) in
    let pin = try text(pin)
    try Blocking.run { () async throws(TuttiError) in try await room.pair(pin: pin) }
  }
}

@_cdecl("tutti_room_free")
public func tuttiRoomFree(_ room: OpaquePointer?) {
  if let room { _ = Handle.take(room, RoomObject.self) }
}
