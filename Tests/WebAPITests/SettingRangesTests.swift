import Foundation
import House
import Sender
import Service
import Testing
import WebTestSupport

@testable import WebAPI

/// Checks that each setting's range is defined with its type, and is the same in the document and in
/// the checks.
@Suite struct SettingRangesTests {
  private struct Document: Decodable {
    struct Range: Decodable {
      let minimum: Double?
      let maximum: Double?
      let `enum`: [String]?
      let properties: [String: Range]?
    }

    struct Body: Decodable { let content: [String: Content] }
    struct Content: Decodable { let schema: Range }
    struct Operation: Decodable { let requestBody: Body? }

    let paths: [String: [String: Operation]]

    func range(_ path: String, _ keys: String..., method: String = "patch") throws -> Range {
      let operation = try #require(paths["/api/v1/\(path)"]?[method])
      var range = try #require(operation.requestBody?.content["application/json"]).schema
      for key in keys { range = try #require(range.properties?[key]) }
      return range
    }
  }

  private static func document() throws -> Document {
    let file = URL(filePath: #filePath).appending(path: "../../../docs/openapi.json").standardized
    return try JSONDecoder().decode(Document.self, from: Data(contentsOf: file))
  }

  @Test func `the document has the ranges of the types`() throws {
    let document = try Self.document()
    let settings = SettingRanges()
    let (room, group) = ("rooms/{id}", "groups/{id}")
    for (documented, range) in [
      (try document.range(room, "volume"), settings.volume),
      (try document.range(room, "volumeLimit"), settings.volumeLimit),
      (try document.range(room, "delayMs"), settings.delayMs),
      (try document.range(group, "volume"), settings.volume),
      (try document.range(group, "sleepInS"), settings.sleepInS),
      (try document.range("stop", "sleepInS", method: "post"), settings.sleepInS),
      (try document.range(group, "effects", "rate"), settings.rate),
      (try document.range(group, "effects", "pitch"), settings.pitch),
      (try document.range(group, "effects", "loudness"), settings.loudness),
      (try document.range(group, "effects", "crossfadeS"), settings.crossfadeS),
    ] {
      #expect(documented.minimum == range.min && documented.maximum == range.max)
    }
    #expect(try document.range(room, "channels").enum == settings.channels)
    #expect(try document.range(group, "repeat").enum == settings.repeat)
  }

  @Test func `the ends of each range are taken, and nothing beyond`() async throws {
    let settings = SettingRanges()
    try await withHouse { client, _ in
      for (path, key, range) in [
        ("rooms/\(room(1))", "volume", settings.volume),
        ("rooms/\(room(1))", "volumeLimit", settings.volumeLimit),
        ("rooms/\(room(1))", "delayMs", settings.delayMs),
        ("groups/g1", "volume", settings.volume), ("groups/g1", "sleepInS", settings.sleepInS),
      ] {
        for (value, status) in [
          (range.min, 200), (range.max, 200), (range.min - 1, 400), (range.max + 1, 400),
        ] {
          let body = #"{"\#(key)":\#(value)}"#
          try await expectStatus(status, client.ask("PATCH", "/api/v1/\(path)", body))
        }
      }
    }
  }

  @Test func `the page is told the ranges with the state`() async throws {
    try await withHouse { client, _ in
      let state = try await client.ask("GET", "/api/v1/state").json(HouseState.self)
      #expect(state.server.settings == SettingRanges())
      #expect(state.server.settings.delayMs.max == 2_000)
    }
  }
}
