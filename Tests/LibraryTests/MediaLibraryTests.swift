import Foundation
import House
import SQLiteStore
import Service
import Synchronization
import TestSupport
import Testing

@testable import Library

/// Tests of the whole library: threads, watching, served files.
@Suite(.timeLimit(.minutes(5))) struct MediaLibraryTests {
  private let bed: LibraryBed

  init() throws { bed = try LibraryBed() }

  private final class Open: Sendable {
    let library: MediaLibrary
    let figures: AsyncStream<HouseState.LibraryFigures>

    init(_ bed: LibraryBed) throws {
      var settings = MediaLibrary.Settings(
        folders: [bed.path("")], database: bed.temporary.file("whole.db"),
        pictures: bed.temporary.file("pictures"), worker: LibraryBed.worker)
      settings.quietTime = 20
      let (figures, continuation) = AsyncStream.makeStream(of: HouseState.LibraryFigures.self)
      self.figures = figures
      library = try MediaLibrary(
        settings, changed: { continuation.yield($0) }, report: { _ in })
    }

    /// Returns once there are so many tracks and no scan is running.
    func wait(for count: Int) async {
      for await figures in figures where figures.trackCount == count && figures.scan == nil {
        return
      }
    }

    deinit { library.close() }
  }

  @Test func `what changes in a watched folder is soon in the library`() async throws {
    try bed.write(TaggedFile("One"), to: "a/1.flac")
    let open = try Open(bed)
    await open.wait(for: 1)
    try bed.write(TaggedFile("Two"), to: "a/2.flac")
    await open.wait(for: 2)
    try bed.write(TaggedFile("Three"), to: "new/deep/3.flac")
    await open.wait(for: 3)
    try bed.write(TaggedFile("Four"), to: "new/deep/4.flac")
    await open.wait(for: 4)
    try bed.remove("a")
    await open.wait(for: 2)
    #expect(try await open.library.search("three", limit: 5).tracks.count == 1)
  }

  @Test func `files are named by the library, others by their own tags, with their pictures`()
    async throws
  {
    try bed.write(TaggedFile("One", artist: "Ella", album: "A"), to: "a/1.flac")
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=40x40", "-frames:v", "1"]
        + [bed.temporary.file("cover.jpg")])
    var other = TaggedFile("Elsewhere", artist: "Billie", album: "B")
    other.picture = try bed.temporary.bytes(of: "cover.jpg")
    try bed.temporary.write(other.bytes, to: "other.flac")
    try bed.temporary.write(TaggedFile(nil).bytes, to: "no title.flac")
    #expect(mkfifo(bed.temporary.file("pipe"), 0o600) == 0)
    let open = try Open(bed)
    await open.wait(for: 1)
    let (own, foreign) = (bed.path("a/./1.flac"), bed.temporary.file("other.flac"))
    let known = await open.library.known([own, foreign, bed.path("a/none.flac")])
    #expect(known.keys.sorted() == [own])
    #expect(known[own]?.title == "One" && known[own]?.location == own)
    #expect(known[own]?.trackId != nil && known[own]?.albumId != nil)
    let bare = bed.temporary.file("no title.flac")
    let tagged = await open.library.tagged([foreign, bare, bed.temporary.file("pipe"), "/none"])
    #expect(tagged.keys.sorted() == [bare, foreign])
    #expect(tagged[foreign]?.title == "Elsewhere" && tagged[foreign]?.artist == "Billie")
    #expect(tagged[bare]?.title == "no title")
    let hash = try #require(tagged[foreign]?.artwork)
    #expect(try await Self.picture(hash, 300, of: open.library).type == "image/jpeg")
  }

  @Test func `of pictures outside of the library the newest are found again`() throws {
    let shelf = PictureShelf(folder: bed.temporary.file("pictures"), command: LibraryBed.worker)
    let foreign = ForeignFiles(shelf)
    for number in 0...ForeignFiles.pictureLimit { foreign.keep("\(number)", "/\(number).flac") }
    foreign.keep("7", "/moved.flac")
    #expect(foreign.origins(of: "0").isEmpty)
    #expect(foreign.origins(of: "1").map(\.location) == ["/1.flac"])
    #expect(foreign.origins(of: "7").map(\.location) == ["/moved.flac"])
  }

  @Test func `whatever changes in the library makes its revision grow`() async throws {
    try bed.write(TaggedFile("One"), to: "a/1.flac")
    let open = try Open(bed)
    var news = open.figures.makeAsyncIterator()
    var last = UInt64(0)
    /// Returns once the library has grown and no scan is running.
    func grows() async -> HouseState.LibraryFigures? {
      while let figures = await news.next() {
        guard figures.revision > last, figures.scan == nil, figures.trackCount > 0 else { continue }
        last = figures.revision
        return figures
      }
      return nil
    }
    #expect(await grows()?.folders == ["Music"])
    // The counts stay the same, but the tags change.
    try bed.write(TaggedFile("Another name"), to: "a/1.flac")
    #expect(await grows()?.trackCount == 1)
    let radio = try await open.library.addRadio(name: "R", uri: "http://a.example/")
    #expect(await grows() != nil)
    try await open.library.removeRadio(radio.id)
    #expect(await grows() != nil)
    var entry = QueuePage.Entry(id: 1, title: "T", uri: "http://a.example/x", isCurrent: false)
    entry.artist = "A"
    let list = try await open.library.savePlaylist("P", [entry])
    #expect(await grows() != nil)
    try await open.library.removePlaylist(list.id)
    #expect(await grows() != nil)
  }

  @Test func `a page's picture is that of the folder, small and kept`() async throws {
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=1600x800", "-frames:v", "1"]
        + [bed.temporary.file("big.jpg")])
    let big = try bed.temporary.bytes(of: "big.jpg")
    try bed.temporary.write(big, to: "Music/a/Cover.JPG")
    try bed.write(TaggedFile("One", album: "A"), to: "a/1.flac")
    var inside = TaggedFile("Two", album: "B")
    inside.picture = try bed.temporary.bytes(of: "big.jpg") + [0]
    try bed.write(inside, to: "b/1.flac")
    let open = try Open(bed)
    await open.wait(for: 2)
    let library = open.library
    for title in ["one", "two"] {
      let hash = try #require(try await library.search(title, limit: 1).tracks.first?.artwork)
      for (size, width) in [(300, 300), (1_200, 1_200)] {
        let file = try await Self.picture(hash, size, of: library)
        #expect(file.type == "image/jpeg")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file.path)))
        #expect(Self.width(ofJPEG: bytes) == width)
        #expect(try await library.artwork(hash, size: size) == file)
      }
    }
    for hash in ["", "../../../etc/passwd", String(repeating: "0", count: 32)] {
      await #expect(throws: Refusal.self) { try await library.artwork(hash, size: 300) }
    }
  }

  /// Asks again while the picture is being made.
  private static func picture(
    _ hash: String, _ size: Int, of library: MediaLibrary
  ) async throws(Refusal) -> ServableFile {
    while true {
      do throws(Refusal) {
        return try await library.artwork(hash, size: size)
      } catch {
        guard case .notYet = error, !Task.isCancelled else { throw error }
      }
    }
  }

  /// Reads the width from the frame's header.
  private static func width(ofJPEG bytes: [UInt8]) -> Int? {
    for place in bytes.indices.dropLast(9)
    where bytes[place] == 0xff && [0xc0, 0xc1, 0xc2].contains(bytes[place + 1]) {
      return Int(bytes[place + 7]) << 8 | Int(bytes[place + 8])
    }
    return nil
  }

  @Test func `a file is served only from inside of the library`() async throws {
    try bed.write(TaggedFile("One"), to: "a/1.flac")
    let open = try Open(bed)
    await open.wait(for: 1)
    let library = open.library
    let id = try #require(try await library.search("one", limit: 1).tracks.first?.id)
    let file = try await library.media(track: id)
    #expect(file.path.hasSuffix("/Music/a/1.flac") && file.type == "audio/flac")
    let secret = try bed.temporary.write(Array("secret".utf8), to: "secret.flac")
    for id in ["", "t", "t999", "1", "../../etc/passwd", "t-1", "t\(Int64.max)0"] {
      await #expect(throws: Refusal.self) { try await library.media(track: id) }
    }
    for path in ["..", "Music/..", "/etc", "Music/../..", "Musi", "Music/a/../.."] {
      await #expect(throws: Refusal.self) { try await library.folder(path) }
      await #expect(throws: Refusal.self) { try await library.entries(of: .folder(path)) }
    }
    // Replace the whole folder with a link that leads out of the library, to a file of the same
    // name.
    try FileManager.default.createDirectory(
      atPath: bed.temporary.file("out"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: secret, toPath: bed.temporary.file("out/1.flac"))
    let folders = LibraryFolders([bed.path("")])
    #expect(folders.confined(bed.path("a/1.flac")) != nil)
    try FileManager.default.createSymbolicLink(
      atPath: bed.path("link"), withDestinationPath: bed.temporary.file("out"))
    #expect(folders.confined(bed.path("link/1.flac")) == nil)
    #expect(folders.confined(bed.path("a/../../secret.flac")) == nil)
    #expect(folders.confined(bed.path("")) == nil)
  }

  @Test func `tables of a newer version are left alone`() throws {
    try bed.database.setVersion(99)
    let settings = MediaLibrary.Settings(
      folders: [String](), database: bed.database.path, pictures: bed.temporary.file("pictures"),
      worker: LibraryBed.worker)
    let failure = #expect(throws: MediaLibrary.Failure.self) {
      _ = try MediaLibrary(settings, changed: { _ in }, report: { _ in })
    }
    #expect(failure?.description.contains("newer version") == true)
    #expect(try bed.database.version() == 99)
  }

  private static func isRunning(_ process: pid_t) -> Bool {
    let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    return !stat.isEmpty && !stat.contains(") Z ")
  }

  @Test func `a scan is ended at once`() async throws {
    for number in 1...40 { try bed.write(TaggedFile("\(number)"), to: "a/\(number).flac") }
    // Use readers that never answer, and that note their start.
    let started = bed.temporary.file("started")
    let reader = "echo $$ >> '\(started)'; exec /bin/sleep 1000"
    let settings = MediaLibrary.Settings(
      folders: [bed.path("")], database: bed.temporary.file("whole.db"),
      pictures: bed.temporary.file("pictures"), worker: ["/bin/sh", "-c", reader])
    let library = try MediaLibrary(settings, changed: { _ in }, report: { _ in })
    func readers() -> [pid_t] {
      let text = (try? String(contentsOfFile: started, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").compactMap { pid_t($0) }
    }
    while readers().isEmpty { try await giveWay() }
    let before = readers().count
    library.close()
    // A scan that continued would give up each reader in the end, and start another one for each
    // file.
    let ended = readers()
    #expect(ended.count <= before + WorkerPool.size)
    // No reader is left sleeping for a thousand seconds.
    while ended.contains(where: Self.isRunning) { try await giveWay() }
    #expect(try await library.albums(AlbumQuery(order: .title, limit: 5)).count == 0)
  }
}

/// Tests of folders that come and go while the library is open.
@Suite(.timeLimit(.minutes(5))) struct LibraryFolderTests {
  @Test func `folders are read and left at once, and one that is away says so`() async throws {
    let bed = try LibraryBed()
    try bed.write(TaggedFile("One"), to: "a/1.flac")
    try bed.write(TaggedFile("Two"), to: "b/2.flac")
    let (figures, continuation) = AsyncStream.makeStream(of: HouseState.LibraryFigures.self)
    let library = try MediaLibrary(
      .init(
        folders: [String](), database: bed.temporary.file("whole.db"),
        pictures: bed.temporary.file("pictures"), worker: LibraryBed.worker),
      changed: { continuation.yield($0) }, report: { _ in })
    defer { library.close() }
    func wait(_ isThere: (HouseState.LibraryFigures) -> Bool) async {
      for await figures in figures where figures.scan == nil && isThere(figures) { return }
    }
    await wait { $0.folders.isEmpty }
    let a = HouseFolder(path: bed.path("a"), isFixed: false)
    let b = HouseFolder(path: bed.path("b"), isFixed: true)
    library.set([b, a])
    await wait { $0.trackCount == 2 }
    let both = try await library.libraryFolders()
    #expect(both.map(\.path) == [b.path, a.path] && both.map(\.isFixed) == [true, false])
    #expect(both.map(\.trackCount) == [1, 1] && both.allSatisfy { !$0.isAway })
    let id = try #require(try await library.search("one", limit: 1).tracks.first?.id)
    library.set([b])
    await wait { $0.trackCount == 1 && $0.folders == ["b"] }
    library.set([a, b])
    await wait { $0.trackCount == 2 }
    #expect(try await library.search("one", limit: 1).tracks.first?.id == id)
    library.set([a, HouseFolder(path: bed.temporary.file("gone"), isFixed: false)])
    await wait { $0.awayFolders == ["gone"] }
    #expect(try await library.libraryFolders().map(\.isAway) == [false, true])
  }
}
