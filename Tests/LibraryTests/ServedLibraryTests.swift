import House
import LinuxIO
import PlaylistFormats
import SQLiteStore
import Sender
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of songs that servers list, in the tables beside those of folders.
@Suite struct ServedLibraryTests {
  private let bed: LibraryBed

  init() throws {
    bed = try LibraryBed()
    bed.folders = LibraryFolders([bed.path("")], served: ["Home"])
  }

  private func server(_ file: String = "/none") throws -> MediaServer {
    MediaServer(
      name: "Home", address: try #require(ListenAddress("http://127.0.0.1:1")), user: "anna",
      login: .token, secretFile: file)
  }

  private func song(_ id: String, _ title: String, album: String = "Pastel") -> ServedSong {
    var song = ServedSong()
    (song.id, song.title, song.artist, song.album) = (id, title, "Nina", album)
    (song.albumId, song.cover, song.suffix, song.size) = ("al-\(album)", "mf-\(id)", "flac", 1_000)
    (song.createdS, song.durationS, song.track, song.genre) = (1_700_000_000, 200, 1, "Jazz")
    return song
  }

  /// Lists the songs, as a server does; returns true if the tables have changed.
  @discardableResult
  private func list(_ songs: [ServedSong]) throws -> Bool {
    let scan = try ServedScan("Home", bed.database, bed.folders)
    let isNew = try scan.take(songs)
    let isOver = try scan.end()
    return isNew || isOver
  }

  private func entry(_ track: Track?) throws -> Order.NewEntry {
    let id = try #require(track?.id)
    return try #require(QueueEntries.of(.track(id), bed.folders, bed.database).first)
  }

  @Test func `songs of a server are tracks as all others, at locations without secrets`() throws {
    try bed.write(TaggedFile("One", artist: "Nina", album: "Pastel"), to: "a/1.flac")
    try bed.scan()
    try list([song("a/b", "Two"), song("7", "Three", album: "AC/DC ..")])
    #expect(try bed.tracks().map(\.title).sorted() == ["One", "Three", "Two"])
    #expect(try bed.albums().map(\.title).sorted() == ["AC/DC ..", "Pastel", "Pastel"])
    let two = try entry(bed.track("Two"))
    #expect(two.location == "library:Home/Nina/Pastel/a%2Fb.flac" && two.artist == "Nina")
    #expect(
      try QueueEntries.at([two.location], bed.folders, bed.database)[two.location]?.trackId
        == two.trackId)
    #expect(try bed.search("thr").tracks.map(\.title) == ["Three"])
    let folder = try LibraryQueries.folder("Home/Nina", bed.folders, bed.database)
    #expect(folder.folders.map(\.name) == ["AC_DC ..", "Pastel"])
    let facts = try ListenFacts.of(track: two.trackId ?? "", bed.database)
    #expect(facts?.library == "Home" && facts?.libraryId == "a/b" && facts?.releaseId == nil)
    // Nobody can measure them, and a scan of the folders leaves them alone.
    try bed.scan()
    #expect(try bed.tracks().count == 3)
    let waiting = try bed.database.prepare("SELECT count(*) FROM track WHERE measured = 0")
      .first { $0.int(0) ?? 0 }
    #expect(waiting == 1)
  }

  @Test func `what stays the same is not written, and what is gone comes back as it was`() throws {
    let songs = [song("1", "One"), song("2", "Two")]
    #expect(try list(songs))
    let two = try bed.track("Two")
    #expect(try !list(songs))
    #expect(try list([songs[0]]))
    #expect(try bed.tracks().map(\.title) == ["One"])
    #expect(try list(songs))
    #expect(try bed.track("Two") == two)
    var renamed = songs
    renamed[1].title = "Zwei"
    #expect(try list(renamed))
    #expect(try bed.track("Zwei")?.id == two?.id)
  }

  @Test func `no number of a song ends the program`() throws {
    for number in [Int64.min, -1, .max] {
      var odd = song("1", "One")
      (odd.size, odd.createdS, odd.durationS) = (number, number, .infinity)
      #expect(try list([odd]))
      #expect(try bed.tracks().count == 1)
    }
  }

  @Test func `a song that its server moves keeps its number, and its favourites`() throws {
    try list([song("1", "One"), song("2", "Two")])
    let two = try #require(try bed.track("Two"))
    try Keepsakes.setFavourite(.track, two.id, to: true, at: 1, bed.database)
    var moved = song("2", "Two", album: "Other")
    moved.folder = "new/place"
    try list([song("1", "One"), moved])
    #expect(try bed.track("Two")?.id == two.id)
    #expect(try Keepsakes.favourites(bed.database).map(\.id) == [two.id])
    #expect(try entry(bed.track("Two")).location == "library:Home/new/place/2.flac")
  }

  @Test func `a listing that breaks off takes nothing away`() throws {
    try list([song("1", "One"), song("2", "Two")])
    let scan = try ServedScan("Home", bed.database, bed.folders)
    #expect(scan.isKnown)
    #expect(try !scan.take([song("1", "One")]))
    #expect(try bed.tracks().count == 2)
  }

  @Test func `listings of other songs each time add no more rows than the limit`() throws {
    for listing in 1...3 {
      let scan = try ServedScan("Home", bed.database, bed.folders, rowLimit: 4)
      _ = try scan.take((0..<2).map { song("\(listing)-\($0)", "One") })
    }
    #expect(try bed.tracks().count == 4)
    let scan = try ServedScan("Home", bed.database, bed.folders, rowLimit: 4)
    // One that is known is taken in its place, and in no other.
    var moved = song("1-1", "Three")
    (moved.folder, moved.size) = ("elsewhere", 1)
    #expect(try scan.take([song("1-0", "Two"), moved, song("4", "Four")]))
    #expect(try scan.end())
    #expect(try bed.tracks().map(\.title).sorted() == ["One", "Two"])
    let rows = try bed.database.prepare("SELECT count(*) FROM track").first { $0.int(0) ?? 0 }
    #expect(rows == 4)
  }

  @Test func `songs in more folders than the limit lie in that of their server`() throws {
    var songs = (0..<3).map { song("\($0)", "Song \($0)") }
    for place in songs.indices { songs[place].folder = "f\(place)" }
    func take() throws -> Bool {
      try ServedScan("Home", bed.database, bed.folders, folderCountLimit: 3).take(songs)
    }
    #expect(try take())
    #expect(try entry(bed.track("Song 1")).location == "library:Home/f1/1.flac")
    #expect(try entry(bed.track("Song 2")).location == "library:Home/2.flac")
    #expect(try !take())
  }

  @Test func `a library that is not configured any more is missing`() throws {
    try list([song("1", "One")])
    bed.folders = LibraryFolders([bed.path("")])
    try bed.write(TaggedFile("Two", artist: "Nina"), to: "2.flac")
    try bed.scan()
    #expect(try bed.tracks().map(\.title) == ["Two"])
  }

  @Test func `a folder with the name of a server's library gets a number`() {
    let folders = LibraryFolders(["/srv/Home"], served: ["Home"])
    #expect(folders.roots.map(\.name) == ["Home", "Home 2"])
    #expect(folders.location(of: "Home/a/1.flac") == "library:Home/a/1.flac")
    #expect(folders.path(of: "library:Home/a/1.flac") == "Home/a/1.flac")
    #expect(folders.path(of: "library:Other/a") == nil && folders.path(of: "library:Home2") == nil)
    #expect(folders.confined("library:Home/a/1.flac") == nil)
  }

  @Test func `an album has the picture of its first song that has one`() throws {
    var bare = song("1", "One")
    bare.cover = ""
    try list([bare, song("2", "Two"), song("3", "Three")])
    let hash = try #require(try bed.albums().first?.artwork)
    #expect(hash.utf8.count == 32 && hash == PictureName.of(["Home", "mf-2"]))
    #expect(try bed.track("One")?.artwork == hash)
    let server = try server()
    let origins = try PictureOrigins.of(hash, bed.folders, [server], bed.database)
    #expect(origins.map(\.location) == ["mf-2"] && origins.first?.server == server)
    #expect(PictureName.of(["Other", "mf-2"]) != hash)
  }

  // MARK: - The program that asks

  @Test func `a full page fits into an answer, and survives its way`() throws {
    var full = song("1", "")
    let text = String(repeating: "x", count: ServedSong.textLimit)
    let id = String(repeating: "y", count: ServedSong.idLimit)
    (full.title, full.artist, full.albumArtist, full.album) = (text, text, text, text)
    (full.genre, full.id, full.albumId, full.cover, full.suffix) = (text, id, id, id, "flac")
    full.folder = String(repeating: "x", count: ServedSong.folderLimit)
    (full.disc, full.year) = (3, 1_999)
    let page = Array(repeating: full, count: SubsonicAnswer.songLimit)
    let bytes = WorkerAnswer.songs(page, count: 501).bytes
    #expect(bytes.count <= BackgroundProgram.messageLimit)
    guard case .songs(let songs, let count)? = WorkerAnswer(bytes) else {
      throw Missing(description: "songs")
    }
    #expect(songs == page && count == 501)
    #expect(WorkerAnswer(bytes + [0]) == nil)
    #expect(WorkerAnswer(Array("songs\0\(Int.max)".utf8)) == nil)
    let server = try server()
    for request in [
      WorkerRequest.songs(server, from: 500), .cover(server, "mf", size: 300),
      .picture("http://a.example/p.png?a=b", .internet, size: 1_200),
    ] {
      #expect(WorkerRequest(request.bytes) == request)
    }
  }

  @Test func `a password stands alone in its file, and no line has it`() throws {
    let file = try bed.temporary.write(Array(" sesame\n".utf8), to: "password")
    #expect(try ServerAccess.secret(of: file) == " sesame")
    let address = try ServerAccess.address(server(file), "ping", [])
    #expect(address.hasPrefix("http://127.0.0.1:1/rest/ping.view?u=anna&t="))
    #expect(!address.contains("sesame"))
    #expect(try ServerAccess.address(server(file), "ping", []) != address)
    let long = String(repeating: "a", count: ServerAccess.secretLimit + 1)
    for text in ["", "\n\n", "first\nsecond", "a\0b", long] {
      let file = try bed.temporary.write(Array(text.utf8), to: "wrong")
      let error = #expect(throws: ServerAccess.Problem.self) {
        try ServerAccess.address(server(file), "ping", [])
      }
      #expect(error?.text.contains(file) == true && error?.text.contains("first") == false)
    }
    guard case .broken(let reason) = ServerRequest.songs(try server("/none"), from: 0) else {
      throw Missing(description: "a reason")
    }
    #expect(reason == "there is no file /none")
  }

  @Test func `a server without end is read up to the limit, and one that begins anew once`() {
    func count(_ ask: (Int) -> WorkerAnswer?) -> (pages: Int, end: Int?, hasFailed: Bool) {
      var (pages, end) = (0, Int?.none)
      let hasFailed = ServerReader.list(ask) { news in
        switch news {
        case .page: pages += 1
        case .end(let count): end = count
        case .failed: break
        }
        return true
      }
      return (pages, end, hasFailed)
    }
    let endless = count { offset in .songs([song("\(offset)", "x")], count: 500) }
    #expect(endless == (200, ServerReader.songLimit, false))
    #expect(count { _ in .songs([song("1", "x")], count: 1) } == (1, 1, false))
    #expect(
      count { $0 > 1 ? .broken("x") : .songs([song("\($0)", "x")], count: 1) } == (2, nil, true))
    #expect(count { _ in nil } == (0, nil, true))
    #expect(count { _ in .songs([], count: 0) } == (0, 0, false))
    // A page of which nothing can be played is no end.
    #expect(count { .songs([], count: $0 < 9 ? 3 : 0) } == (3, 9, false))
  }

  @Test func `a picture of a server is one by its first bytes, and small`() throws {
    let large = Array("GIF8".utf8) + [UInt8](repeating: 1, count: ServerRequest.pictureLimit)
    // BMP of one point, of 65 537 each way that are not there, and of nothing.
    let point = [0: 66, 1: 77, 2: 58, 10: 54, 14: 40, 18: 1, 22: 1, 26: 1, 28: 24]
    let small = (0..<58).map { UInt8(point[$0] ?? 0) }
    var vast = small
    (vast[20], vast[24]) = (1, 1)
    for bytes in [large, vast, Array(small.prefix(20)), Array("<html>".utf8), []] {
      guard case .broken = ServerRequest.picture(bytes, 300) else {
        throw Missing(description: "a reason")
      }
    }
    guard case .picture(let picture) = ServerRequest.picture(small, 300),
      case .picture(let same)? = WorkerAnswer(WorkerAnswer.picture(picture).bytes)
    else { throw Missing(description: "a picture") }
    #expect(same == picture)
    #expect(WorkerAnswer(Array("picture\0<html>".utf8)) == nil)
  }

  @Test func `a server that is away is asked ever more seldom`() {
    #expect(ServerReader.pause(after: 1) == ServerReader.firstPause)
    #expect(ServerReader.pause(after: 2) == 2 * ServerReader.firstPause)
    #expect(ServerReader.pause(after: 1_000) == ServerReader.longestPause)
    #expect(ServerReader.pause(after: 0) > ServerReader.longestPause)
  }
}
