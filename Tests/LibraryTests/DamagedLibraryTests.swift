import Clock
import Foundation
import House
import SQLiteStore
import Service
import Synchronization
import TestSupport
import Testing

@testable import Library

/// Tests of a database file that the disk has damaged.
@Suite(.timeLimit(.minutes(5))) struct DamagedLibraryTests {
  private let bed: LibraryBed
  private var path: String { bed.temporary.file("whole.db") }

  init() throws {
    bed = try LibraryBed()
    try bed.write(TaggedFile("One", artist: "Nina", album: "A"), to: "a/1.flac")
    for number in 2...60 { try bed.write(TaggedFile("\(number)"), to: "b/\(number).flac") }
  }

  private final class Open: Sendable {
    let library: MediaLibrary
    let figures: AsyncStream<HouseState.LibraryFigures>
    private let news: AsyncStream<HouseState.LibraryFigures>.Continuation

    init(_ bed: LibraryBed, _ path: String) throws {
      var settings = MediaLibrary.Settings(
        folders: [bed.path("")], database: path, pictures: bed.temporary.file("pictures"),
        worker: LibraryBed.worker)
      settings.quietTime = 20
      let (figures, news) = AsyncStream.makeStream(of: HouseState.LibraryFigures.self)
      (self.figures, self.news) = (figures, news)
      let told = Lines()
      library = try MediaLibrary(
        settings, changed: { news.yield($0) },
        report: { line in told.all.withLock { $0.append(line) } })
      self.told = told
    }

    final class Lines: Sendable { let all = Mutex<[String]>([]) }
    let told: Lines
    var damage: [String] { told.all.withLock { $0.filter { $0.contains("set aside") } } }

    /// Returns once there are so many tracks and no scan is running.
    func wait(for count: Int) async {
      for await figures in figures where figures.trackCount == count && figures.scan == nil {
        return
      }
    }

    deinit { library.close() }
  }

  /// Makes a complete library with people's own lists, and closes it.
  private func make() async throws {
    try await fill()
    while FileManager.default.fileExists(atPath: path + "-wal") { try await giveWay() }
  }

  private func fill() async throws {
    let open = try Open(bed, path)
    await open.wait(for: 60)
    _ = try await open.library.addRadio(
      name: "FIP", uri: "http://fip/", picture: "http://fip/a.png")
    let track = try #require(try await open.library.search("one", limit: 1).tracks.first)
    var entry = QueuePage.Entry(id: 1, title: "One", uri: bed.path("a/1.flac"), isCurrent: false)
    entry.trackId = track.id
    _ = try await open.library.savePlaylist("Mine", [entry])
  }

  enum Damage: CaseIterable, Sendable {
    case cut99, cut100, cut4096, half, shortened, zeros, noise, text, schema, header, tableName

    func spoil(_ bytes: [UInt8]) -> [UInt8] {
      var spoilt = bytes
      var random = SplitMix64(seed: 7)
      switch self {
      case .cut99: return Array(bytes.prefix(99))
      case .cut100: return Array(bytes.prefix(100))
      case .cut4096: return Array(bytes.prefix(4096))
      case .half: return Array(bytes.prefix(bytes.count / 2))
      case .shortened: return Array(bytes.dropLast(5000))
      case .zeros: return bytes.map { _ in 0 }
      case .noise: return bytes.map { _ in UInt8.random(in: 0...255, using: &random) }
      case .text: return bytes.indices.map { Array("no database at all, ".utf8)[$0 % 20] }
      case .schema: for place in 105..<400 { spoilt[place] ^= 0x55 }
      case .header: for place in 0..<100 { spoilt[place] ^= 0x10 }
      case .tableName:
        let name = Array("CREATE TABLE track".utf8)
        let start = spoilt.indices.first { spoilt[$0...].starts(with: name) } ?? 0
        spoilt[start + name.count - 1] ^= 1
      }
      return spoilt
    }
  }

  @Test(arguments: Damage.allCases)
  func `a damaged file is set aside, and made anew by a scan`(_ damage: Damage) async throws {
    try await make()
    let whole = try bed.temporary.bytes(of: "whole.db")
    try bed.temporary.write(damage.spoil(whole), to: "whole.db")
    let open = try Open(bed, path)
    await open.wait(for: 60)
    #expect(try await open.library.search("nina", limit: 5).tracks.map(\.title) == ["One"])
    #expect(open.damage.count == 1)
    #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
  }

  @Test func `stations and playlists are saved from a damaged file`() async throws {
    try await make()
    // Damage a table without anything that people have made.
    try spoil("artist")
    let open = try Open(bed, path)
    // Nothing that is read at the start is damaged, so only a query meets the damage.
    await open.wait(for: 60)
    let failure = await #expect(throws: Refusal.self) {
      _ = try await open.library.artists(offset: 0, limit: 5)
    }
    #expect(failure == LibraryReader.renewing)
    while try await nina(open.library).isEmpty { try await giveWay() }
    #expect(open.damage.count == 1)
    let station = try await open.library.radios().first
    #expect(station?.name == "FIP" && station?.artwork == PictureName.of("http://fip/a.png"))
    let list = try #require(try await open.library.playlists().first)
    #expect(list.name == "Mine")
    #expect(
      try await open.library.entries(of: .playlist(list.id)).map(\.location)
        == [bed.path("a/1.flac")])
  }

  /// Returns nothing while the file is being rebuilt.
  private func nina(_ library: MediaLibrary) async throws -> [String] {
    do {
      return try await library.search("nina", limit: 5).tracks.map(\.title)
    } catch {
      guard error == LibraryReader.renewing else { throw error }
      return []
    }
  }

  @Test func `a disk that damages every file is given up`() async throws {
    try await make()
    let lines = Mutex<[String]>([])
    let file = try LibraryFile(
      .init(folders: LibraryFolders([]), database: path, worker: LibraryBed.worker),
      changed: { _ in }, report: { line in lines.withLock { $0.append(line) } })
    func problem() async -> Refusal? {
      do throws(Refusal) {
        try await file.answer { _ in throw SQLiteError(damaged: "disk", "bad") }
        return nil
      } catch {
        return error
      }
    }
    while await problem() == LibraryReader.renewing { try await giveWay() }
    guard case .unavailable? = await problem() else { throw Missing(description: "problem") }
    #expect(lines.withLock { $0.count { $0.contains("set aside") } } == LibraryFile.renewalLimit)
    file.close()
  }

  /// Fills the pages of a table with noise.
  private func spoil(_ table: String) throws {
    let (pages, size) = try pages(of: table)
    var bytes = try bed.temporary.bytes(of: "whole.db")
    #expect(!pages.isEmpty)
    for page in pages { for place in 0..<size { bytes[(page - 1) * size + place] = 0xa7 } }
    try bed.temporary.write(bytes, to: "whole.db")
  }

  private func pages(of table: String) throws -> ([Int], size: Int) {
    let database = try Database(path: path)
    let pages = try database.prepare("SELECT pageno FROM dbstat WHERE name = ?")
      .all([SQLiteValue(table)]) { $0.int(0) ?? 0 }
    return (pages, try database.prepare("PRAGMA page_size").first { $0.int(0) ?? 0 } ?? 0)
  }
}
