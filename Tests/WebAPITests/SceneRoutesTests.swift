import House
import Testing
import WebTestSupport

@testable import WebAPI

/// Tests of scenes over HTTP.
@Suite struct SceneRoutesTests {
  @Test func `a scene is saved, shown with the state, brought back and removed`() async throws {
    try await withHouse { client, house in
      let saved = try await client.ask(
        "POST", "/api/v1/scenes", #"{"groupId":"g1","name":"Dinner"}"#)
      expectStatus(201, saved)
      let scene = Scene(id: "s1", name: "Dinner", rooms: [.init(id: room(1), volume: 50)])
      #expect(try saved.json(Scene.self) == scene)
      let state = try await client.ask("GET", "/api/v1/state").json(HouseState.self)
      #expect(state.scenes == [scene])
      let all = try await client.ask("GET", "/api/v1/scenes").json([String: [Scene]].self)
      #expect(all == ["scenes": [scene]])
      let recalled = try await client.ask("POST", "/api/v1/scenes/s1/recall", "{}")
      expectStatus(200, recalled)
      #expect(try recalled.json(HouseState.Group.self).id == "g1")
      try await expectStatus(
        200, client.ask("POST", "/api/v1/scenes/s1/recall", #"{"groupId":"g1"}"#))
      #expect(await house.requests.last == .scene(.recall("s1", group: "g1")))
      try await expectStatus(204, client.ask("DELETE", "/api/v1/scenes/s1"))
      try await expectStatus(404, client.ask("POST", "/api/v1/scenes/s1/recall", "{}"))
    }
  }

  @Test(arguments: [
    #"{"groupId":"g1"}"#, #"{"name":"Dinner"}"#, #"{"groupId":"g1","name":""}"#,
    #"{"groupId":"g1","name":"Dinner","x":1}"#,
  ])
  func `what is none is refused`(body: String) async throws {
    try await withHouse { client, _ in
      try await expectStatus(400, client.ask("POST", "/api/v1/scenes", body))
    }
  }
}
