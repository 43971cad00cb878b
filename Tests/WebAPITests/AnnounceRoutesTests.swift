import Driver
import Foundation
import House
import Sender
import Service
import Testing
import WebTestSupport

/// Tests of announcements over HTTP.
@Suite struct AnnounceRoutesTests {
  private static let path = "/api/v1/announce"
  private static let network = ("X-Forwarded-For", "192.168.1.9")

  @Test func `a doorbell needs no body`() async throws {
    try await withHouse { client, house in
      let answer = try await client.ask("POST", Self.path)
      #expect(answer.status == 200)
      #expect(answer.text == #"{"said":"Kitchen: announced"}"#)
      #expect(await house.announced.map(\.1) == [ClipMaker.Sound.none])
      #expect(await house.announced.first?.0.hasChime == true)
    }
  }

  @Test func `words have rooms, a volume and no chime`() async throws {
    try await withHouse { client, house in
      let body = #"{"text":"Dinner\n now","roomIds":["\#(room(2))"],"volume":40,"chime":false}"#
      try await expectStatus(200, client.ask("POST", Self.path, body))
      let (request, sound) = try #require(await house.announced.first)
      #expect(sound == .words("Dinner  now\n"))
      #expect(request.rooms == [room(2)])
      #expect(request.volume == 40)
      #expect(!request.hasChime)
    }
  }

  @Test(arguments: [
    (#"{"chime":false}"#, 422), (#"{"text":"a","uri":"http://example.com/a"}"#, 422),
    (#"{"text":""}"#, 422), (#"{"text":" "}"#, 422), (#"{"uri":"/etc/passwd"}"#, 422),
    (#"{"uri":"file:///etc/passwd"}"#, 422), (#"{"text":"a","volume":101}"#, 422),
    (#"{"text":"a","roomIds":[]}"#, 422), (#"{"words":"a"}"#, 422),
    (#"{"text":"a","roomIds":["nowhere"]}"#, 404),
  ])
  func `what cannot be announced is refused`(body: String, status: Int) async throws {
    try await withHouse { client, house in
      let answer = try await client.ask("POST", Self.path, body)
      #expect(answer.status == status || answer.status == 400, "\(answer.text)")
      #expect(await house.announced.isEmpty)
    }
  }

  @Test func `nobody has this machine connect to an address that is no room's`() async throws {
    let strange = #"{"roomIds":["192.168.77.1:9911"]}"#
    try await withHouse(access: FakeAccess.make(isOpen: true)) { client, house in
      let before = try await house.state()
      for (method, path, body) in [
        ("POST", Self.path, strange), ("POST", "/api/v1/groups", strange),
        ("PATCH", "/api/v1/groups/g1", strange),
        ("POST", "/api/v1/groups/g1/rooms", #"{"roomId":"[::1]:9"}"#),
      ] {
        let answer = try await client.ask(method, path, body, headers: [Self.network])
        try expectProblem(answer, 403, "addresses")
      }
      try expectProblem(await client.ask("POST", Self.path, strange), 404, "no such room")
      #expect(await house.announced.isEmpty)
      #expect(try await house.state().groups == before.groups)
    }
  }

  @Test func `guests announce words and public addresses`() async throws {
    try await withHouse(access: FakeAccess.make(isOpen: true)) { client, house in
      func ask(_ body: String) async throws -> WebAnswer {
        try await client.ask("POST", Self.path, body, headers: [Self.network])
      }
      try await expectStatus(200, ask(#"{"text":"Dinner"}"#))
      try await expectStatus(200, ask(#"{"uri":"https://example.com/a.mp3"}"#))
      try await expectStatus(403, ask(#"{"uri":"http://192.168.1.1/a.mp3"}"#))
      let sounds = await house.announced.map(\.1)
      #expect(
        sounds == [
          .words("Dinner\n"),
          .item(location: "https://example.com/a.mp3", reach: .internet),
        ])
    }
    try await withHouse(access: FakeAccess.make()) { client, _ in
      let answer = try await client.ask("POST", Self.path, "{}", headers: [Self.network])
      #expect(answer.status == 401)
    }
  }
}
