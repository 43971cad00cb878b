import House
import Service
import WebServer

extension WebAPI {
  private struct Announced: Encodable {
    /// In a sentence or two: who hears it, and who does not.
    let said: String
  }

  static let announceRoutes: [Route] = [
    // Without a body it is the chime in all rooms: a doorbell.
    Route("POST", "/api/v1/announce", .guest) { api, call in
      var fields = try JSONFields(call.request.body)
      var request = AnnounceRequest()
      request.text = try fields.string("text")
      request.location = try fields.string("uri", lengths: 1...4_000)
      request.rooms = try fields.strings("roomIds", count: 1...roomLimit) ?? []
      request.volume = try fields.number("volume", in: RoomChange.volumes)
      request.hasChime = try fields.bool("chime") ?? true
      try fields.end()
      try await api.check(request.rooms, mayBeNew: false, for: call)
      let answer = try await api.house.announce(request, for: call.asker)
      return try done(Announced(said: answer.said ?? ""), at: answer.revision)
    }
  ]
}
