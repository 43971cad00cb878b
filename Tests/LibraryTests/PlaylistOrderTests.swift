import House
import Service
import TestSupport
import Testing

import enum House.Refusal

@testable import Library

/// Tests of playlists that a terminal edits by numbers.
@Suite struct PlaylistOrderTests {
  @Test func `a number that is in no list is refused, however far it is`() async throws {
    let bed = try LibraryBed()
    let library = try MediaLibrary(
      .init(
        folders: [String](), database: bed.temporary.file("whole.db"),
        pictures: bed.temporary.file("pictures"), worker: LibraryBed.worker),
      changed: { _ in }, report: { _ in })
    defer { library.close() }
    let entries = ["a", "b"].map { name in
      var entry = Order.NewEntry(location: "http://a.example/\(name)")
      entry.title = name
      return QueuePage.Entry(entry)
    }
    let saved = try await library.savePlaylist("Sunday", entries)
    let list = LibraryThing(.playlist, id: saved.id, title: saved.name)
    for number in [Int.min, -1, 0, 3, .max] {
      let orders = [
        PlaylistOrder.drop(number: number), .move(number: number, to: 1),
        .move(number: 1, to: number),
      ]
      for order in orders {
        let refusal = await #expect(throws: Refusal.self) {
          try await library.answer(.edit(playlist: list, edit: order))
        }
        #expect(refusal?.description.contains("there is no number \(number)") == true)
      }
    }
    let said = try await library.answer(.edit(playlist: list, edit: .move(number: 2, to: 1))).done
    #expect(said == "Sunday: b is number 1")
  }
}
