import House
import Testing
import WebTestSupport

@testable import WebAPI

/// Tests of the hours of the night over HTTP.
@Suite struct NightRoutesTests {
  @Test func `the hours are set, shown with the state, and ended`() async throws {
    try await withHouse { client, _ in
      let night = #"{"from":"22:00","to":"7:05","volumeLimit":20}"#
      try await expectStatus(204, client.ask("PUT", "/api/v1/night", night))
      let state = try await client.ask("GET", "/api/v1/state").json(HouseState.self)
      #expect(state.server.night?.from == "22:00" && state.server.night?.to == "07:05")
      #expect(state.server.night?.volumeLimit == 20)
      try await expectStatus(204, client.ask("DELETE", "/api/v1/night"))
      let after = try await client.ask("GET", "/api/v1/state").json(HouseState.self)
      #expect(after.server.night == nil)
    }
  }

  @Test(arguments: [
    #"{"from":"22:00","to":"7:00"}"#, #"{"from":"24:00","to":"7:00","volumeLimit":20}"#,
    #"{"from":"22:00","to":"7","volumeLimit":20}"#,
    #"{"from":"22:00","to":"7:00","volumeLimit":0}"#,
    #"{"to":"7:00","volumeLimit":20}"#, #"{"from":"22:00","to":"7:00","volumeLimit":20,"x":1}"#,
  ])
  func `what is none is refused`(body: String) async throws {
    try await withHouse { client, _ in
      try await expectStatus(400, client.ask("PUT", "/api/v1/night", body))
    }
  }
}
