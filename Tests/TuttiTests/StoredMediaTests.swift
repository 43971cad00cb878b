import Foundation
import TestSupport
import Testing
import Tutti

/// Items that are made, stored, and found again in a later run of the program.
@Suite(.timeLimit(.minutes(3))) struct StoredMediaTests {
  private static func player() async throws -> Player {
    var settings = OutputSettings()
    settings.identity = .temporary
    return try await Player(settings: settings)
  }

  @Test func `a list that is stored is found again, item by item`() async throws {
    let list = [
      Media.file("/music/a.flac"), .file("/music/a.flac"), .url("https://radio.example/b.mp3"),
      try .capture(device: "hw:1", latency: .fixed(.milliseconds(40))),
      try .pipe(
        "/run/sound.fifo",
        format: PCMFormat(sampleRate: 44_100, channelCount: 1, resolution: .int16),
        latency: .deep),
    ]
    #expect(Set(list).count == list.count)
    let player = try await Self.player()
    try await player.append(list)
    let stored = try JSONEncoder().encode(try await player.items().map(\.media))
    await player.close()

    let restored = try JSONDecoder().decode([Media].self, from: stored)
    #expect(restored == list)
    #expect(restored.map(\.name) == list.map(\.name))
    let again = try await Self.player()
    let ids = try await again.append(restored)
    let items = try await again.items()
    #expect(items.map(\.id) == ids)
    #expect(items.firstIndex { $0.media.id == list[1].id } == 1)
    // Stored once more, it is the same.
    #expect(try JSONEncoder().encode(items.map(\.media)).count == stored.count)
    await again.close()
  }

  @Test func `items keep their media through edits, and those of the program are not stored`()
    async throws
  {
    let player = try await Self.player()
    let own = Media.ramp("own", seconds: 1)
    let ids = try await player.append([own, .file("/a.flac")])
    let new = try await player.replace(ids[1], with: [.file("/b.flac"), own])
    try await player.move(ids[0], to: .end)
    let items = try await player.items()
    #expect(items.map(\.media.name) == ["/b.flac", "own", "own"])
    #expect(items[1].media == own && items[2].media == own && items[1].id != items[2].id)
    #expect(items[1].id == new[1])
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(own) }
    await player.close()
  }

  @Test(arguments: [
    "{}", #"{"id":"x","entry":{"location":"/a"}}"#,
    #"{"id":"00112233445566778899aabbccddeeff","card":"file:/etc/x","latency":"deep"}"#,
    #"{"id":"00112233445566778899aabbccddeeff","card":"hw:1","latency":5}"#,
    #"{"id":"00112233445566778899aabbccddeeff","pipe":"x","latency":"deep","rate":48000}"#,
  ])
  func `what is none of its own is refused`(text: String) {
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(Media.self, from: Data(text.utf8))
    }
  }
}
