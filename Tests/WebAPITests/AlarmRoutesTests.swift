import House
import Service
import Testing
import WebTestSupport

/// Alarms, as pages and programs set them.
@Suite struct AlarmRoutesTests {
  private static let path = "/api/v1/alarms"

  @Test func `an alarm is set, changed, skipped and deleted`() async throws {
    try await withHouse { client, house in
      let made = try await client.ask(
        "POST", Self.path,
        #"{"time":"6:45","roomIds":["\#(room(1))"],"days":["fri","mon"],"riseS":300}"#)
      #expect(made.status == 201)
      let alarm = try made.json(HouseState.Alarm.self)
      #expect(alarm.time == "06:45" && alarm.days == [.mon, .fri] && alarm.riseS == 300)
      #expect(alarm.music == .init(kind: .tone))
      let changed = try await client.ask(
        "PATCH", "\(Self.path)/\(alarm.id)",
        #"{"time":"19:05","items":[{"uri":"https://example.com/radio"}],"skipsNext":true,"name":"Tea"}"#
      )
      let now = try changed.json(HouseState.Alarm.self)
      #expect(now.time == "19:05" && now.music.kind == .items && now.skipsNext && now.name == "Tea")
      let list = try await client.ask("GET", Self.path).json([String: [HouseState.Alarm]].self)
      #expect(list == ["alarms": [now]])
      #expect(try await house.state().alarms == [now])
      try expectProblem(await client.ask("POST", "\(Self.path)/\(alarm.id)/stop"), 409)
      try expectProblem(await client.ask("POST", "\(Self.path)/\(alarm.id)/snooze"), 409)
      try await expectStatus(204, client.ask("DELETE", "\(Self.path)/\(alarm.id)"))
      try expectProblem(await client.ask("DELETE", "\(Self.path)/\(alarm.id)"), 404)
    }
  }

  @Test(
    arguments: [
      #"{"time":"7:00"}"#, #"{"roomIds":["1"]}"#, #"{"time":"24:00","roomIds":["1"]}"#,
      #"{"time":"7:0","roomIds":["1"]}"#, #"{"time":"7:00","roomIds":[]}"#,
      #"{"time":"7:00","roomIds":["1"],"days":["today"]}"#,
      #"{"time":"7:00","roomIds":["1"],"volume":101}"#,
      #"{"time":"7:00","roomIds":["1"],"lengthS":5}"#,
      #"{"time":"7:00","roomIds":["1"],"snoozeS":4000}"#,
      #"{"time":"7:00","roomIds":["1"],"music":"noise"}"#,
      #"{"time":"7:00","roomIds":["1"],"music":"tone","items":[{"trackId":"1"}]}"#,
      #"{"time":"7:00","roomIds":["1"],"items":[{"inputId":"Turntable"}]}"#,
      #"{"time":"7:00","roomIds":["1"],"hour":7}"#,
    ])
  func `an alarm that is not possible is refused`(body: String) async throws {
    try await withHouse { client, house in
      let answer = try await client.ask("POST", Self.path, body)
      #expect((400..<500).contains(answer.status), "\(answer.text)")
      #expect(try await house.state().alarms == [])
    }
  }
}
