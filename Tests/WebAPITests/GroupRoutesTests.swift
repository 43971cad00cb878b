import Driver
import Foundation
import House
import Sender
import Service
import Testing
import WebTestSupport

/// Tests of groups and rooms, as pages and programs control them.
@Suite struct GroupRoutesTests {
  private typealias Group = HouseState.Group

  @Test func `the state is told whole`() async throws {
    try await withHouse { client, house in
      let answer = try await client.ask("GET", "/api/v1/state")
      #expect(answer.headers["content-type"] == "application/json")
      var told = try answer.json(HouseState.self)
      let state = try await house.state()
      told.nowMs = state.nowMs
      #expect(told == state)
    }
  }

  @Test func `a group is made, changed and deleted`() async throws {
    try await withHouse { client, house in
      let made = try await client.ask(
        "POST", "/api/v1/groups", #"{"roomIds":["\#(room(2))","\#(room(3))"],"name":"Up"}"#)
      #expect(made.status == 201)
      let group = try made.json(Group.self)
      #expect(group.roomIds == [room(2), room(3)] && group.name == "Up")
      let changed = try await client.ask(
        "PATCH", "/api/v1/groups/\(group.id)", #"{"volume":30.5,"muted":true,"repeat":"all"}"#)
      let now = try changed.json(Group.self)
      #expect(now.volume == 30.5 && now.muted && now.repeat == .all && now.name == "Up")
      try await expectStatus(204, client.ask("DELETE", "/api/v1/groups/\(group.id)"))
      #expect(try await house.state().groups.map(\.id) == ["g1"])
      try expectProblem(await client.ask("DELETE", "/api/v1/groups/\(group.id)"), 404, group.id)
    }
  }

  @Test func `an answer tells the revision that contains the change`() async throws {
    try await withHouse { client, house in
      let answer = try await client.ask("POST", "/api/v1/groups/g1/play")
      #expect(answer.headers["tutti-revision"] == "\(try await house.state().revision)")
    }
  }

  @Test(arguments: Order.Transport.allCases)
  func `transport is asked for by its name`(transport: Order.Transport) async throws {
    try await withHouse { client, house in
      let answer = try await client.ask("POST", "/api/v1/groups/g1/\(transport.rawValue)")
      #expect(try answer.json(Group.self).id == "g1")
      #expect(await house.requests.last == .transport(group: "g1", transport))
    }
  }

  @Test func `all groups stop at once, or after a time`() async throws {
    struct Said: Decodable { let said: String }
    try await withHouse { client, house in
      for body in ["", "{}"] {
        let answer = try await client.ask("POST", "/api/v1/stop", body)
        expectStatus(200, answer)
        #expect(try answer.json(Said.self).said == "1 group stops")
        #expect(answer.headers["tutti-revision"] != nil)
        #expect(await house.requests.last == .stopEverywhere(sleepInS: nil))
      }
      for seconds in [0.0, 1_800, 93_600] {
        let answer = try await client.ask("POST", "/api/v1/stop", #"{"sleepInS":\#(seconds)}"#)
        #expect(try answer.json(Said.self).said == "1 group pauses")
        #expect(await house.requests.last == .stopEverywhere(sleepInS: seconds))
      }
      for body in [
        #"{"sleepInS":-1}"#, #"{"sleepInS":93601}"#, #"{"inS":1}"#, #"{"sleepAt":"24:00"}"#,
        #"{"sleepAt":"0730"}"#, #"{"sleepAt":"23:30","sleepInS":60}"#,
      ] {
        try expectProblem(await client.ask("POST", "/api/v1/stop", body), 400)
      }
    }
  }

  @Test func `music pauses at a time of the day, by the daemon's own clock`() async throws {
    try await withHouse { client, house in
      let zone = LocalZone()
      for hours: Int64 in [2, 23] {
        let began = WallTime(seconds: Int64(Date.now.timeIntervalSince1970))
        let shown = (began.seconds + zone.offset(at: began)) / 60 + hours * 60
        let minute = Int(shown % 1_440)
        let due = zone.next(minute: minute, after: began)
        let text = "\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)"
        let body = #"{"sleepAt":"\#(text)"}"#
        try await expectStatus(200, client.ask("PATCH", "/api/v1/groups/g1", body))
        try await expectStatus(200, client.ask("POST", "/api/v1/stop", body))
        let told = await house.requests.suffix(2).map { order -> Double? in
          switch order {
          case .change(_, let change): change.sleepInS
          case .stopEverywhere(let seconds): seconds
          default: nil
          }
        }
        // The requests took less, and the clock was read in whole seconds.
        let left = Double(due.seconds - began.seconds)
        for seconds in told { #expect((left - 300...left).contains(seconds ?? -1), "\(text)") }
      }
    }
  }

  @Test func `a seek goes to a place or by a step`() async throws {
    try await withHouse { client, house in
      let place = try await client.ask("POST", "/api/v1/groups/g1/seek", #"{"positionS":12.5}"#)
      #expect(try place.json(Group.self).positionS == 12.5)
      let step = try await client.ask("POST", "/api/v1/groups/g1/seek", #"{"byS":-2}"#)
      #expect(try step.json(Group.self).positionS == 10.5)
      for body in ["{}", #"{"positionS":1,"byS":1}"#, #"{"positionS":-1}"#, #"{"positionS":"1"}"#] {
        try expectProblem(await client.ask("POST", "/api/v1/groups/g1/seek", body), 400)
      }
    }
  }

  @Test func `effects that are not named stay, and null is neutral`() async throws {
    try await withHouse { client, house in
      func set(_ body: String) async throws -> HouseState.Group {
        let body = #"{"effects":\#(body)}"#
        return try await client.ask("PATCH", "/api/v1/groups/g1", body).json(Group.self)
      }
      _ = try await set(#"{"rate":1.5,"loudness":-16,"filters":[{"kind":"bass","gain":3}]}"#)
      let changed = try await set(#"{"pitch":2,"loudness":null}"#).effects
      #expect(changed.rate == 1.5 && changed.pitch == 2)
      #expect(changed.filters.map { "\($0)" } == ["bass 3:100"])
      #expect(changed.loudness == nil)
      let neutral = try await set(#"{"rate":null,"pitch":null,"filters":null}"#).effects
      #expect(neutral.rate == 1 && neutral.pitch == 0 && neutral.filters.isEmpty)
    }
  }

  @Test func `rooms join, leave and merge`() async throws {
    try await withHouse { client, house in
      let joined = try await client.ask(
        "POST", "/api/v1/groups/g1/rooms", #"{"roomId":"\#(room(2))","take":true}"#)
      #expect(try joined.json(Group.self).roomIds == [room(1), room(2)])
      #expect(await house.requests.last == .join(group: "g1", room: room(2), takes: true))
      _ = try await client.ask("POST", "/api/v1/groups", #"{"roomIds":["\#(room(3))"]}"#)
      let merged = try await client.ask(
        "POST", "/api/v1/groups/g1/merge", #"{"groupId":"g2"}"#)
      #expect(try merged.json(Group.self).roomIds == [room(1), room(2), room(3)])
      let left = try await client.ask("DELETE", "/api/v1/groups/g1/rooms/\(room(3))")
      #expect(try left.json(Group.self).roomIds == [room(1), room(2)])
      _ = try await client.ask("DELETE", "/api/v1/groups/g1/rooms/\(room(2))")
      let last = try await client.ask("DELETE", "/api/v1/groups/g1/rooms/\(room(1))")
      #expect(last.status == 204)
    }
  }

  @Test func `a picture learns when what sounds`() async throws {
    try await withHouse { client, _ in
      let answer = try await client.ask("GET", "/api/v1/groups/g1/presentation")
      #expect(answer.status == 200)
      #expect(answer.text.contains(#""positionS":0,"rate":1,"state":"stopped""#))
      try expectProblem(await client.ask("GET", "/api/v1/groups/g9/presentation"), 404)
    }
  }

  @Test func `a room is changed`() async throws {
    try await withHouse { client, house in
      let answer = try await client.ask(
        "PATCH", "/api/v1/rooms/\(room(2))",
        #"{"volume":12,"muted":true,"delayMs":-20,"channels":"left"}"#)
      let now = try answer.json(HouseState.Room.self)
      #expect(now.volume == 12 && now.muted == true && now.delayMs == -20)
      #expect(now.channels == "left")
      try await expectStatus(204, client.ask("POST", "/api/v1/rooms/\(room(2))/identify"))
      try expectProblem(await client.ask("PATCH", "/api/v1/rooms/nope", "{}"), 404)
    }
  }

  @Test func `a room is paired with its PIN`() async throws {
    try await withHouse { client, _ in
      func pair(_ pin: String) async throws -> WebAnswer {
        try await client.ask("POST", "/api/v1/rooms/\(room(1))/pair", #"{"pin":"\#(pin)"}"#)
      }
      try expectProblem(await pair("0000"), 422, "PIN")
      let refused = try await pair("0001")
      try expectProblem(refused, 429)
      #expect(refused.headers["retry-after"] == "30")
      #expect(try await pair("1234 5678").json(HouseState.Room.self).id == room(1))
      let unpaired = try await client.ask("DELETE", "/api/v1/rooms/\(room(1))/pairing")
      #expect(unpaired.status == 200)
    }
  }

  @Test func `a room says its PIN when it is asked, and not without end`() async throws {
    try await withHouse { client, _ in
      let path = "/api/v1/rooms/\(room(1))/say-pin"
      for _ in 1...3 {
        let answer = try await client.ask("POST", path)
        #expect(try answer.json(HouseState.Room.self).id == room(1))
      }
      let refused = try await client.ask("POST", path)
      try expectProblem(refused, 429)
      #expect(refused.headers["retry-after"] == "1800")
      try expectProblem(await client.ask("POST", "/api/v1/rooms/nope/say-pin"), 404)
    }
  }

  @Test(arguments: [
    ("{", "no JSON"), ("[]", "object"), (#"{"volum":3}"#, "volum is not known"),
    (#"{"volume":101}"#, "volume must be a number from 0 to 100"), (#"{"volume":null}"#, "volume"),
    (#"{"muted":1}"#, "true or false"), (#"{"repeat":"often"}"#, "off, one, all"),
    (#"{"name":""}"#, "1 to 100"), (#"{"effects":{"rat":1}}"#, "effects.rat is not known"),
    (#"{"effects":{"rate":9}}"#, "effects.rate must be"), (#"{"roomIds":[]}"#, "roomIds"),
    (#"{"roomIds":[1]}"#, "list of texts"), (#"{"volume":1e999}"#, "no JSON"),
  ])
  func `what is misspelt or out of range is told in a sentence`(body: String, part: String)
    async throws
  {
    try await withHouse { client, _ in
      try expectProblem(await client.ask("PATCH", "/api/v1/groups/g1", body), 400, part)
    }
  }

  @Test func `a body of brackets is no danger`() async throws {
    try await withHouse { client, _ in
      for open in ["[", #"{"a":"#] {
        let body = String(repeating: open, count: 65_000 / open.utf8.count)
        try expectProblem(await client.ask("PATCH", "/api/v1/groups/g1", body), 400)
      }
    }
  }

  @Test func `what there is not, and what cannot be done with it, are told`() async throws {
    try await withHouse { client, _ in
      try expectProblem(await client.ask("GET", "/api/v2/state"), 404, "openapi.json")
      try expectProblem(await client.ask("GET", "/api/v1/groups//presentation"), 404)
      let answer = try await client.ask("PUT", "/api/v1/groups/g1")
      try expectProblem(answer, 405, "PUT")
      #expect(answer.headers["allow"] == "PATCH, DELETE")
      // A word is no number of an entry.
      try expectProblem(await client.ask("PATCH", "/api/v1/groups/g1/queue/undo", "{}"), 405)
    }
  }
}
