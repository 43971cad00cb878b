import Driver
import Foundation
import SQLiteStore
import Sender
import Synchronization
import TestSupport
import Testing

@testable import Library

/// Measures files by the finished program.
@Suite(.timeLimit(.minutes(5))) struct LoudnessTests {
  private let bed: LibraryBed
  private let book = MeasuredLoudness()

  init() throws { bed = try LibraryBed() }

  /// Writes a sine in both channels: its loudness is the level of its peaks.
  private func write(_ name: String, level: Int, album: String?, seconds: Int = 2) throws {
    let path = bed.path(name)
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    let album = album.map { ["-metadata", "album=\($0)", "-metadata", "album_artist=Ella"] } ?? []
    try run(
      "ffmpeg",
      [
        "-v", "error", "-y", "-f", "lavfi", "-i",
        // Its own amplitude is an eighth.
        "sine=1000:d=\(seconds):r=48000,volume=8,volume=\(level)dB,pan=stereo|c0=c0|c1=c0",
      ] + album + [path])
  }

  /// A library, and the lines that it reports.
  private final class Open: Sendable {
    let library: MediaLibrary
    let lines: AsyncStream<String>

    init(
      _ bed: LibraryBed, _ book: MeasuredLoudness, worker: [String] = LibraryBed.worker
    ) throws {
      var settings = MediaLibrary.Settings(
        folders: [bed.path("")], database: bed.temporary.file("whole.db"),
        pictures: bed.temporary.file("pictures"), worker: worker)
      settings.quietTime = 20
      settings.loudness = book
      let (lines, continuation) = AsyncStream.makeStream(of: String.self)
      self.lines = lines
      library = try MediaLibrary(settings, changed: { _ in }, report: { continuation.yield($0) })
    }

    func wait(for words: String) async {
      for await line in lines where line.contains(words) { return }
    }

    deinit { library.close() }
  }

  private static let done = "of all tracks is measured"

  private func loudness(_ name: String, beside neighbours: String...) -> Double {
    book.level(of: bed.path(name), beside: neighbours.map { bed.path($0) })?.loudness ?? .nan
  }

  @Test func `tracks are measured once one is wished for, and albums by all their tracks`()
    async throws
  {
    try write("a/1.flac", level: -20, album: "A")
    try write("a/2.flac", level: -40, album: "A")
    try write("b.flac", level: -26, album: nil)
    try bed.write(TaggedFile("No sound to speak of"), to: "c.flac")
    let open = try Open(bed, book)
    #expect(loudness("b.flac").isNaN)
    await open.wait(for: Self.done)
    #expect(abs(loudness("b.flac") + 26) <= 0.1)
    #expect(abs(loudness("a/1.flac") + 20) <= 0.1)
    #expect(abs(loudness("a/2.flac") + 40) <= 0.1)
    // The quiet one is below the album's gate.
    #expect(abs(loudness("a/2.flac", beside: "b.flac", "a/1.flac") + 20) <= 0.1)
    // Another process knows them.
    let next = MeasuredLoudness()
    let database = try Database(path: bed.temporary.file("whole.db"))
    next.set(try LoudnessTable(database, bed.folders).all())
    #expect(next.level(of: bed.path("b.flac"), beside: [])?.loudness == loudness("b.flac"))
    // A file that has changed is measured anew.
    try write("b.flac", level: -10, album: nil, seconds: 3)
    await open.wait(for: Self.done)
    #expect(abs(loudness("b.flac") + 10) <= 0.1)
  }

  @Test func `a file whose program ends is tried again by the next process`() async throws {
    try write("a.flac", level: -20, album: nil)
    let script =
      "[ \"$1\" = --decoding ] || exec \"\(LibraryBed.worker[0])\" library-worker \"$@\""
    let open = try Open(bed, book, worker: ["/bin/sh", "-c", script, "sh"])
    #expect(loudness("a.flac").isNaN)
    await open.wait(for: Self.done)
    let database = try Database(path: bed.temporary.file("whole.db"))
    let table = LoudnessTable(database, bed.folders)
    #expect(try table.waitingCount() == 0)
    try table.forgetFailures()
    #expect(try table.waitingCount() == 1)
  }

  @Test func `what plays is measured first, then its album`() throws {
    for (folder, count) in [("a", 3), ("b", 3), ("c", 1)] {
      for number in 1...count {
        let file = TaggedFile("\(number)", artist: "Ella", album: folder, track: number)
        try bed.write(file, to: "\(folder)/\(number).flac")
      }
    }
    try bed.scan()
    let table = LoudnessTable(bed.database, bed.folders)
    #expect(try table.waitingCount() == 7)
    var wish: String? = bed.path("b/2.flac")
    var order: [String] = []
    while let track = try table.next(wish: wish) {
      wish = nil
      order.append(String(track.location.dropFirst(bed.path("").count)))
      try table.write(.broken("no matter"), of: track)
    }
    #expect(order.first == "b/2.flac" && Set(order).count == 7, "\(order)")
    #expect(Set(order.prefix(3)) == ["b/1.flac", "b/2.flac", "b/3.flac"], "\(order)")
  }

  @Test func `a file that is away is tried again by the next process, a broken one is not`() throws
  {
    try bed.write(TaggedFile("One"), to: "1.flac")
    try bed.write(TaggedFile("Two"), to: "2.flac")
    try bed.scan()
    let table = LoudnessTable(bed.database, bed.folders)
    let first = try #require(try table.next(wish: bed.path("1.flac")))
    try table.write(.gone, of: first)
    let second = try #require(try table.next(wish: nil))
    try table.write(.broken("no matter"), of: second)
    #expect(try table.next(wish: nil) == nil)
    try table.forgetFailures()
    #expect(try table.next(wish: nil)?.number == first.number)
  }
}
