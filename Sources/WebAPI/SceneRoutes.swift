import House
import Service
import WebServer

extension WebAPI {
  private static let scenes = "/api/v1/scenes"

  static let sceneRoutes: [Route] = [
    Route("GET", scenes, .guest) { api, _ in
      try json(["scenes": try await api.house.state().scenes])
    },
    Route("POST", scenes, .household) { api, call in
      var fields = try call.fields()
      let group = try fields.string("groupId")
      let name = try fields.string("name", lengths: 1...100)
      try fields.end()
      guard let group else { throw APIProblem.missing("groupId") }
      guard let name else { throw APIProblem.missing("name") }
      let answer = try await api.house.perform(.scene(.save(group: group, name: name)))
      return try done(answer.scene, at: answer.revision, status: 201)
    },
    Route("POST", "\(scenes)/{id}/recall", .guest) { api, call in
      var fields = try call.fields()
      let group = try fields.string("groupId")
      try fields.end()
      return try await api.group(.scene(.recall(call["id"], group: group)))
    },
    Route("DELETE", "\(scenes)/{id}", .household) { api, call in
      try call.noFields()
      return done(at: try await api.house.perform(.scene(.remove(call["id"]))).revision)
    },
  ]
}
