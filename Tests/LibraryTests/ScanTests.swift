import Foundation
import House
import SQLiteStore
import Service
import Synchronization
import TestSupport
import Testing

@testable import Library

/// Tests of a scan with files that appear, change, move and disappear.
@Suite struct ScanTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  private func add(_ title: String, to name: String, album: String = "Pastel Blues") throws {
    try bed.write(
      TaggedFile(title, artist: "Nina Simone", album: album, albumArtist: "Nina Simone"), to: name)
  }

  @Test func `tags become tracks, albums and artists`() throws {
    var file = TaggedFile(
      "Sinnerman", artist: "Nina Simone", album: "Pastel Blues", albumArtist: "Nina Simone",
      track: 9, disc: 1, date: "1965-10-01", seconds: 622.5)
    try bed.write(file, to: "Nina/Pastel Blues/09.flac")
    file = TaggedFile(nil)
    try bed.write(file, to: "Nina/Demo Tape.flac")
    try bed.scan()
    let track = try #require(try bed.track("Sinnerman"))
    #expect(track.artist == "Nina Simone" && track.album == "Pastel Blues")
    #expect(track.track == 9 && track.disc == 1 && track.year == 1965)
    #expect(track.durationS == 622.5 && track.codec == "FLAC" && !track.hasVideo)
    #expect(try bed.albums().map(\.title) == ["Nina", "Pastel Blues"])
    let album = try #require(try bed.albums().last)
    #expect(album.id == track.albumId && album.artistId == track.artistId)
    #expect(album.trackCount == 1 && album.durationS == 622.5 && album.year == 1965)
    let artists = try LibraryQueries.artists(offset: 0, limit: 10, bed.database)
    #expect(artists.count == 1 && artists.artists.first?.name == "Nina Simone")
    #expect(artists.artists.first?.albumCount == 1)
    #expect(try bed.track("Demo Tape")?.album == nil)
    #expect(bed.reports.isEmpty)
  }

  @Test func `a scan reads no file that has not changed`() throws {
    try add("One", to: "a/1.flac")
    try add("Two", to: "b/2.flac")
    try bed.scan()
    // A reader that always fails.
    bed.command = ["/bin/false"]
    try bed.scan()
    #expect(try bed.tracks().count == 2)
    try add("Three", to: "b/3.flac")
    try bed.scan()
    #expect(bed.reports.count == 1)
  }

  @Test func `a changed tag changes its track, which keeps its number`() throws {
    try add("One", to: "a/1.flac")
    try bed.scan()
    let number = try bed.track("One")?.id
    try add("Another one", to: "a/1.flac", album: "Another album")
    try bed.scan()
    #expect(number != nil)
    #expect(try bed.tracks().map(\.title) == ["Another one"])
    #expect(try bed.track("Another one")?.id == number)
    #expect(try bed.albums().map(\.title) == ["Another album"])
    #expect(try bed.search("pastel").tracks.isEmpty)
    #expect(try bed.search("another").albums.count == 1)
  }

  @Test func `a removed file is gone, and has its number again when it comes back`() throws {
    try add("One", to: "a/1.flac")
    try add("Two", to: "a/2.flac")
    try bed.scan()
    let number = try bed.track("Two")?.id
    let bytes = try bed.temporary.bytes(of: "Music/a/2.flac")
    try bed.remove("a/2.flac")
    try bed.scan()
    #expect(try bed.tracks().map(\.title) == ["One"])
    #expect(try bed.search("two").tracks.isEmpty)
    #expect(try LibraryQueries.figures(bed.database).trackCount == 1)
    #expect(try bed.albums().map(\.trackCount) == [1])
    try bed.temporary.write(bytes, to: "Music/a/2.flac")
    try bed.scan()
    #expect(try bed.track("Two")?.id == number)
  }

  /// A Mac and a Linux machine spell the same letters in two ways.
  @Test func `names that differ by the spelling of a letter are two files and two folders`() throws
  {
    try add("One", to: "caf\u{e9}/\u{e9}.flac")
    try add("Two", to: "caf\u{e9}/e\u{301}.flac")
    try add("Three", to: "cafe\u{301}/1.flac")
    try bed.scan()
    #expect(try Set(bed.tracks().map(\.title)) == ["One", "Two", "Three"])
    try bed.remove("caf\u{e9}/e\u{301}.flac")
    try bed.remove("cafe\u{301}")
    try bed.scan()
    #expect(try bed.tracks().map(\.title) == ["One"])
    try bed.move("caf\u{e9}/\u{e9}.flac", to: "caf\u{e9}/e\u{301}.flac")
    try bed.scan()
    let present = try bed.database.prepare("SELECT name FROM track WHERE missing IS NULL")
    let names = try present.all { row in
      ExactName(row.text(0) ?? "")
    }
    #expect(names == [ExactName("e\u{301}.flac")])
  }

  @Test(arguments: ["a", "z"])
  func `a file that was moved and renamed keeps its number`(target: String) throws {
    try add("One", to: "m/1.flac")
    try add("Two", to: "m/2.flac")
    try bed.scan()
    let number = try bed.track("One")?.id
    try bed.move("m/1.flac", to: "\(target)/first.flac")
    try bed.scan()
    #expect(try bed.tracks().count == 2)
    #expect(try bed.track("One")?.id == number)
    #expect(
      try LibraryQueries.folder("Music/\(target)", bed.folders, bed.database).tracks.count == 1)
  }

  @Test func `a copy is another track`() throws {
    try add("One", to: "m/1.flac")
    try bed.scan()
    let number = try bed.track("One")?.id
    try add("One", to: "a/1.flac")
    try bed.scan()
    let tracks = try bed.tracks()
    #expect(tracks.count == 2)
    #expect(tracks.map(\.id).last == number)
  }

  @Test func `a folder that was renamed keeps its tracks' and its album's numbers`() throws {
    for number in 1...3 { try add("\(number)", to: "Nina/old/\(number).flac") }
    try bed.scan()
    let before = try bed.tracks().map(\.id)
    let album = try bed.albums().map(\.id)
    try bed.move("Nina/old", to: "Nina/new")
    try bed.scan()
    #expect(try bed.tracks().map(\.id) == before)
    #expect(try bed.albums().map(\.id) == album)
    let folders = try LibraryQueries.folder("Music/Nina", bed.folders, bed.database).folders
    #expect(folders.map(\.name) == ["new"])
  }

  @Test(arguments: [true, false])
  func `a library folder that is not mounted loses nothing`(isMissing: Bool) throws {
    try add("One", to: "a/1.flac")
    try bed.scan()
    let before = try bed.tracks()
    try FileManager.default.moveItem(atPath: bed.path(""), toPath: bed.temporary.file("away"))
    if !isMissing {
      try FileManager.default.createDirectory(
        atPath: bed.path("lost+found").replacing("lost+found", with: ".hidden"),
        withIntermediateDirectories: true)
    }
    try bed.scan()
    #expect(try bed.tracks() == before)
    #expect(bed.reports.count == 1)
    #expect(bed.reports.first?.contains("what was in it is kept") == true)
  }

  @Test func `a broken file is named and left out, and read again when it has changed`() throws {
    try add("One", to: "a/1.flac")
    try bed.temporary.write(Array("this is no music".utf8), to: "Music/a/2.flac")
    try bed.temporary.write([], to: "Music/a/3.mp3")
    try bed.scan()
    #expect(try bed.tracks().map(\.title) == ["One"])
    #expect(bed.reports.count == 2)
    #expect(bed.reports.contains { $0.contains("a/2.flac") })
    try bed.scan()
    #expect(bed.reports.isEmpty)
    try add("Two", to: "a/2.flac")
    try bed.scan()
    #expect(try bed.tracks().map(\.title) == ["One", "Two"])
  }

  @Test func `a file that ends its reader costs itself, and another reader goes on`() throws {
    for number in 1...6 { try add("\(number)", to: "a/\(number).flac") }
    let mark = try bed.temporary.write([], to: "mark")
    bed.command = [
      "/bin/sh", "-c",
      "if rm \(mark) 2>/dev/null; then kill -SEGV $$; fi; exec \"$0\" library-worker",
      LibraryBed.worker[0],
    ]
    try bed.scan()
    #expect(try bed.tracks().count == 5)
    #expect(bed.reports.count == 1)
    #expect(bed.reports.first?.contains("has ended") == true)
  }

  @Test func `where no reader works, the scan ends and says so`() throws {
    for number in 1...60 { try add("\(number)", to: "a/\(number).flac") }
    bed.command = ["/bin/false"]
    let failure = #expect(throws: Scan.Outcome.self) { try bed.scan() }
    guard case .failed(let reason)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(reason.contains("ends at once"))
    bed.command = ["/no/such/program"]
    #expect(throws: Scan.Outcome.self) { try bed.scan() }
  }

  @Test func `hidden folders and links are left out, and names need not be UTF-8`() throws {
    try add("One", to: "a/1.flac")
    try add("Hidden", to: ".trash/1.flac")
    try add("Hidden too", to: "a/._1.flac")
    try FileManager.default.createSymbolicLink(
      atPath: bed.path("a/loop"), withDestinationPath: bed.path(""))
    try FileManager.default.createSymbolicLink(
      atPath: bed.path("a/link.flac"), withDestinationPath: bed.path("a/1.flac"))
    // "Ä" in Latin-1.
    let name = (Array(bed.path("a/").utf8) + [0xc4] + Array(".flac".utf8) + [0])
      .map { CChar(bitPattern: $0) }
    let bytes = TaggedFile(nil).bytes
    let file = open(name, O_CREAT | O_WRONLY, 0o644)
    #expect(write(file, bytes, bytes.count) == bytes.count)
    close(file)
    try bed.scan()
    #expect(try Set(bed.tracks().map(\.title)) == ["One", "Ä"])
    let entry = try QueueEntries.of(.folder("Music/a"), bed.folders, bed.database).last
    #expect(try #require(entry).location.hasSuffix("a/\u{efc4}.flac"))
  }

  @Test func `a file that vanishes while it is scanned is no fault`() throws {
    for number in 1...8 { try add("\(number)", to: "a/\(number).flac") }
    bed.tell = { [bed] news in
      if case .progress(let progress) = news, progress.done == 2 { try? bed.remove("a/8.flac") }
    }
    try bed.scan()
    #expect(try bed.tracks().count == 7)
    #expect(bed.reports.isEmpty)
  }

  @Test func `a scan tells how far it is`() throws {
    for number in 1...5 { try add("\(number)", to: "a/\(number).flac") }
    var told: [String] = []
    bed.tell = { news in
      if case .progress(let news) = news {
        told.append("\(news.done)/\(news.total) \(news.folder)")
      }
    }
    try bed.scan()
    #expect(told == ["2/5 Music/a", "4/5 Music/a", "5/5 Music/a"])
  }

  @Test func `a scan that is cut off goes on where it was`() throws {
    for number in 1...20 { try add("\(number)", to: "\(number)/\(number).flac") }
    let count = Mutex(0)
    let folder = bed.temporary
    // Copies the files at this moment, as a killed process would leave them.
    var copies = 0
    bed.tell = { news in
      guard case .written = news else { return }
      copies += 1
      for end in ["", "-wal"] {
        try? FileManager.default.copyItem(
          atPath: folder.file("library.db" + end), toPath: folder.file("copy\(copies).db" + end))
      }
    }
    bed.isCancelled = {
      count.withLock {
        $0 += 1
        return $0 > 25
      }
    }
    #expect(throws: Scan.Outcome.self) { try bed.scan() }
    bed.isCancelled = { false }
    try bed.scan()
    #expect(try bed.tracks().count == 20)
    #expect(copies > 0)
    for copy in 1...copies {
      bed.database = try LibraryBed.open(folder.file("copy\(copy).db"))
      #expect(try bed.database.damage() == nil)
      bed.tell = { _ in }
      try bed.scan()
      #expect(try bed.tracks().count == 20)
      #expect(try bed.search("13").tracks.count == 1)
    }
  }

  @Test func `only the folders that are asked for are looked at`() throws {
    try add("One", to: "a/1.flac")
    try add("Two", to: "b/2.flac")
    try bed.scan()
    try add("Three", to: "a/deep/3.flac")
    try bed.remove("a/1.flac")
    try bed.remove("b/2.flac")
    try bed.scan(["Music/a"])
    #expect(try bed.tracks().map(\.title) == ["Three", "Two"])
    try bed.scan()
    #expect(try bed.tracks().map(\.title) == ["Three"])
  }
}
