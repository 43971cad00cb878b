import Service
import WebServer

extension WebAPI {
  static let roomRoutes: [Route] = [
    Route("PATCH", "/api/v1/rooms/{id}", .guest) { api, call in
      var fields = try call.fields()
      var change = HouseRequest.RoomSettingsChange()
      change.volume = try fields.number("volume", in: 0...100)
      change.muted = try fields.bool("muted")
      change.delayMs = try fields.number("delayMs", in: -1_000...1_000)
      change.channels = try fields.choice("channels", of: ["stereo", "left", "right", "mono"])
      try fields.end()
      if change.delayMs != nil || change.channels != nil {
        try call.need(.household, to: "change the settings of rooms")
      }
      guard case .room(let room) = try await api.house.perform(.set(room: call["id"], change))
      else { return try await api.room(call["id"]) }
      return try await api.done(room)
    },
    Route("POST", "/api/v1/rooms/{id}/pair", .household) { api, call in
      var fields = try call.fields()
      let pin = try fields.string("pin", lengths: 1...40)
      try fields.end()
      guard let pin else { throw APIProblem.missing("pin") }
      try await api.pairing.pair(room: call["id"], pin: pin)
      return try await api.room(call["id"])
    },
    Route("DELETE", "/api/v1/rooms/{id}/pairing", .household) { api, call in
      try call.noFields()
      try await api.pairing.unpair(room: call["id"])
      return try await api.room(call["id"])
    },
    Route("POST", "/api/v1/rooms/{id}/identify", .household) { api, call in
      try call.noFields()
      _ = try await api.house.perform(.identify(room: call["id"]))
      return try await api.done()
    },
  ]

  /// As it is after a change.
  private func room(_ id: String) async throws -> WebResponse {
    let state = try await house.state()
    guard let room = state.rooms.first(where: { $0.id == id }) else {
      throw APIProblem.noSuch("There is no room \(id); see the list of rooms.")
    }
    return try await done(room)
  }
}
