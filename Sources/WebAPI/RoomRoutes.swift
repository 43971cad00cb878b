import House
import Service
import WebServer

extension WebAPI {
  static let roomRoutes: [Route] = [
    Route("PATCH", "/api/v1/rooms/{id}", .guest) { api, call in
      var fields = try call.fields()
      var change = RoomChange()
      change.volume = try fields.number("volume", in: RoomChange.volumes)
      change.muted = try fields.bool("muted")
      change.delayMs = try fields.number("delayMs", in: RoomChange.delaysMs)
      change.channels = try fields.choice("channels", of: RoomChange.ChannelMap.names)
        .flatMap(RoomChange.ChannelMap.init(name:))
      change.volumeLimit = try fields.number("volumeLimit", in: RoomChange.volumeLimits)
      let name = try fields.string("name", lengths: 0...64)
      try fields.end()
      if let name {
        try call.need(.household, to: "give rooms names")
        let order = Order.SetUp.nameRoom(call["id"], name.isEmpty ? nil : name)
        let answer = try await api.house.perform(.setUp(order))
        if change.isEmpty, let room = answer.room { return try done(room, at: answer.revision) }
      }
      if change.delayMs != nil || change.channels != nil || change.volumeLimit != nil {
        try call.need(.household, to: "change the settings of rooms")
      }
      let answer = try await api.house.perform(.set(rooms: [call["id"]], change))
      guard let room = answer.room else { throw noRoom(call["id"]) }
      return try done(room, at: answer.revision)
    },
    Route("POST", "/api/v1/rooms/{id}/pair", .household) { api, call in
      var fields = try call.fields()
      let pin = try fields.string("pin", lengths: 1...40)
      try fields.end()
      guard let pin else { throw APIProblem.missing("pin") }
      try await api.pairing.pair(room: call["id"], pin: pin)
      return try await api.room(call["id"])
    },
    Route("POST", "/api/v1/rooms/{id}/say-pin", .household) { api, call in
      try call.noFields()
      try await api.pairing.sayPIN(room: call["id"])
      return try await api.room(call["id"])
    },
    Route("DELETE", "/api/v1/rooms/{id}/pairing", .household) { api, call in
      try call.noFields()
      try await api.pairing.unpair(room: call["id"])
      return try await api.room(call["id"])
    },
    Route("POST", "/api/v1/rooms/{id}/identify", .household) { api, call in
      try call.noFields()
      return done(at: try await api.house.perform(.identify(room: call["id"])).revision)
    },
  ]

  /// Answers with the room's state after a change.
  private func room(_ id: String) async throws -> WebResponse {
    let state = try await house.state()
    guard let room = state.rooms.first(where: { $0.id == id }) else {
      throw Self.noRoom(id)
    }
    return try Self.done(room, at: state.revision)
  }

  private static func noRoom(_ id: String) -> APIProblem {
    .noSuch("There is no room \(id); see the list of rooms.")
  }
}
