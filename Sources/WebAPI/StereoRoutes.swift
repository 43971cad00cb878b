import House
import Service
import WebServer

extension WebAPI {
  private static let stereo = "/api/v1/stereo"

  /// A pair is a room for all other routes, by the same identity.
  static let stereoRoutes: [Route] = [
    Route("POST", stereo, .household) { api, call in
      var fields = try call.fields()
      let left = try fields.string("leftId")
      let right = try fields.string("rightId")
      let name = try fields.string("name", lengths: 0...64)
      try fields.end()
      guard let left else { throw APIProblem.missing("leftId") }
      guard let right else { throw APIProblem.missing("rightId") }
      let given = name.flatMap { $0.isEmpty ? nil : $0 }
      let answer = try await api.house.perform(
        .stereo(.make(left: left, right: right, name: given)))
      return try done(answer.room, at: answer.revision, status: 201)
    },
    Route("POST", "\(stereo)/{id}/swap", .household) { api, call in
      try call.noFields()
      let answer = try await api.house.perform(.stereo(.swap(call["id"])))
      return try done(answer.room, at: answer.revision)
    },
    Route("DELETE", "\(stereo)/{id}", .household) { api, call in
      try call.noFields()
      return done(at: try await api.house.perform(.stereo(.separate(call["id"]))).revision)
    },
  ]
}
