import Dispatch
import Foundation
import House
import SQLiteStore
import Service
import TestSupport
import Testing

@testable import Library

/// Checks that everything that grows has a bound.
@Suite struct LibraryBoundsTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  @Test func `more questions than can wait are refused, and those that wait are answered`()
    async throws
  {
    let reader = try LibraryReader(path: bed.database.path, damaged: { _ in })
    let go = DispatchSemaphore(value: 0)
    let total = LibraryReader.waitingLimit + 50
    let (refused, answered) = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<total {
        group.addTask {
          do {
            return try await reader.answer { _ in
              go.wait()
              return true
            }
          } catch {
            return false
          }
        }
      }
      var refused = 0
      // Nothing is answered before all requests beyond the limit were refused.
      while refused < 50, let isAnswered = await group.next() { refused += isAnswered ? 0 : 1 }
      for _ in 0..<total { go.signal() }
      var answered = 0
      for await isAnswered in group { answered += isAnswered ? 1 : 0 }
      return (refused, answered)
    }
    #expect(refused == 50)
    #expect(answered == LibraryReader.waitingLimit)
  }

  @Test func `who asks for a picture that takes long is told to ask again, and then gets it`()
    async throws
  {
    let picture = bed.temporary.file("cover.png")
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=400x400", "-frames:v", "1", picture])
    let (shelf, gate) = shelfBehindGate()
    let origins = [PictureShelf.Origin(location: picture, isInside: false)]
    for _ in 0..<2 {
      await #expect(throws: Refusal.notYet(PictureShelf.notYet)) {
        try await shelf.make("a", 300, of: origins)
      }
    }
    // On a busy machine the program is given up before.
    #expect(shelf.waitingCount <= 1)
    try Data().write(to: URL(filePath: gate))
    var found: ServableFile?
    for _ in 0..<100 where found == nil { found = try? await shelf.make("a", 300, of: origins) }
    #expect(found?.type == "image/jpeg")
    shelf.close()
  }

  @Test func `more pictures than can wait are not begun`() async {
    let (shelf, _) = shelfBehindGate()
    let origins = [PictureShelf.Origin(location: bed.temporary.file("cover.png"), isInside: false)]
    await withDiscardingTaskGroup { group in
      for number in 0..<PictureShelf.waitingLimit + 20 {
        group.addTask { _ = try? await shelf.make("\(number)", 300, of: origins) }
      }
    }
    // A picture whose program does not answer for long is given up.
    let limit = PictureShelf.waitingLimit
    #expect((limit - 10...limit).contains(shelf.waitingCount))
    shelf.close()
  }

  /// Returns a shelf whose program starts to work once the gate exists.
  private func shelfBehindGate() -> (PictureShelf, gate: String) {
    let gate = bed.temporary.file("gate")
    let script = "until [ -e \(gate) ]; do sleep 0.05; done; exec \"$0\" library-worker"
    let shelf = PictureShelf(
      folder: bed.temporary.path, command: ["/bin/sh", "-c", script, LibraryBed.worker[0]])
    return (shelf, gate)
  }

  @Test func `folders of music that lie too deep are left out`() throws {
    let deepest = (1...Scan.depthLimit).map { "\($0)" }.joined(separator: "/")
    try bed.write(TaggedFile("Deep"), to: deepest + "/1.flac")
    try bed.write(TaggedFile("Too deep"), to: deepest + "/x/2.flac")
    try bed.scan()
    #expect(try bed.tracks().map(\.title) == ["Deep"])
  }

  @Test func `there is an end to stations and saved playlists`() throws {
    for number in 1...StoredLists.limit {
      _ = try StoredLists.addRadio(name: "x", uri: "http://\(number)/", bed.database)
      _ = try StoredLists.save("x", [], bed.database)
    }
    #expect(throws: Refusal.self) {
      try StoredLists.addRadio(name: "x", uri: "http://more/", bed.database)
    }
    #expect(throws: Refusal.self) { try StoredLists.save("x", [], bed.database) }
  }

  @Test func `a search looks for no more words than its limit`() throws {
    try bed.write(TaggedFile("one two three four five six seven eight"), to: "1.flac")
    try bed.scan()
    #expect(try bed.search("one two three four five six seven eight and more").tracks.count == 1)
    #expect(try bed.search("one two three four five six seven more").tracks.isEmpty)
  }
}
