import Dispatch
import Foundation
import SQLiteStore
import Service
import TestSupport
import Testing

@testable import Library

/// What grows has an end.
@Suite struct LibraryBoundsTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  @Test func `more questions than can wait are refused, and those that wait are answered`()
    async throws
  {
    let reader = try LibraryReader(path: bed.database.path)
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
      // Nothing is answered before all that are too many were refused.
      while refused < 50, let isAnswered = await group.next() { refused += isAnswered ? 0 : 1 }
      for _ in 0..<total { go.signal() }
      var answered = 0
      for await isAnswered in group { answered += isAnswered ? 1 : 0 }
      return (refused, answered)
    }
    #expect(refused == 50)
    #expect(answered == LibraryReader.waitingLimit)
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
    #expect(throws: HouseProblem.self) {
      try StoredLists.addRadio(name: "x", uri: "http://more/", bed.database)
    }
    #expect(throws: HouseProblem.self) { try StoredLists.save("x", [], bed.database) }
  }

  @Test func `a search looks for no more words than its limit`() throws {
    try bed.write(TaggedFile("one two three four five six seven eight"), to: "1.flac")
    try bed.scan()
    #expect(try bed.search("one two three four five six seven eight and more").tracks.count == 1)
    #expect(try bed.search("one two three four five six seven more").tracks.isEmpty)
  }
}
