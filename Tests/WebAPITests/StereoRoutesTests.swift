import House
import Testing
import WebTestSupport

@testable import WebAPI

/// Tests of stereo pairs over HTTP.
@Suite struct StereoRoutesTests {
  @Test func `a pair is made, is a room, is swapped and separated`() async throws {
    try await withHouse { client, house in
      let made = try await client.ask(
        "POST", "/api/v1/stereo", #"{"leftId":"\#(room(1))","rightId":"\#(room(2))","name":"Den"}"#)
      expectStatus(201, made)
      #expect(made.headers["tutti-revision"] != nil)
      let pair = try made.json(HouseState.Room.self)
      #expect(pair.id == room(1) && pair.name == "Den")
      #expect(pair.stereo?.leftName == "Kitchen" && pair.stereo?.rightId == room(2))
      let state = try await client.ask("GET", "/api/v1/state").json(HouseState.self)
      #expect(state.rooms.map(\.name).sorted() == ["Bedroom", "Den"])
      let swapped = try await client.ask("POST", "/api/v1/stereo/\(room(1))/swap", "{}")
      expectStatus(200, swapped)
      #expect(try swapped.json(HouseState.Room.self).stereo?.leftName == "Bath")
      try await expectStatus(204, client.ask("DELETE", "/api/v1/stereo/\(room(1))"))
      #expect(await house.requests.last == .stereo(.separate(room(1))))
      #expect(try await client.ask("GET", "/api/v1/state").json(HouseState.self).rooms.count == 3)
      try await expectStatus(404, client.ask("POST", "/api/v1/stereo/\(room(1))/swap", "{}"))
      try await expectStatus(404, client.ask("DELETE", "/api/v1/stereo/\(room(1))"))
    }
  }

  @Test func `without a name, or with an empty one, its rooms give it theirs`() async throws {
    try await withHouse { client, house in
      for name in ["", #","name":"""#] {
        let made = try await client.ask(
          "POST", "/api/v1/stereo", #"{"leftId":"\#(room(1))","rightId":"\#(room(2))"\#(name)}"#)
        #expect(try made.json(HouseState.Room.self).name == "Kitchen + Bath")
        try await expectStatus(204, client.ask("DELETE", "/api/v1/stereo/\(room(1))"))
      }
      #expect(
        await house.requests.contains(.stereo(.make(left: room(1), right: room(2), name: nil))))
    }
  }

  @Test(arguments: [
    (#"{"leftId":"1"}"#, 400), (#"{"rightId":"1"}"#, 400),
    (#"{"leftId":"1","rightId":"2","x":1}"#, 400), (#"{"leftId":"1","rightId":"2"}"#, 404),
  ])
  func `what is none is refused`(body: String, status: Int) async throws {
    try await withHouse { client, _ in
      try await expectStatus(status, client.ask("POST", "/api/v1/stereo", body))
    }
  }
}
