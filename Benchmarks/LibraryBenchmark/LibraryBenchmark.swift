import Clock
import Dispatch
import Foundation
import House
import Library
import Service
import Synchronization
import TestSupport

/// Measures how long the library takes for a large household: `library-benchmark FOLDER TRACKS`, with `tutti` beside
/// it. Makes the tracks if there are none, the same ones each time.
@main
struct LibraryBenchmark {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let count = Int(arguments[2]) else {
      print("usage: library-benchmark FOLDER TRACKS")
      exit(64)
    }
    let folder = arguments[1]
    if !FileManager.default.fileExists(atPath: "\(folder)/Music") {
      let time = try ContinuousClock().measure { try make(count, in: "\(folder)/Music") }
      print("made \(count) tracks in \(time)")
    }
    for name in ["first scan", "rescan"] {
      let (library, time) = try await scan(folder)
      let figures = try await library.albums(AlbumQuery(order: .title, limit: 1)).count
      print("\(name): \(time), \(figures) albums, \(memory()) KiB at most")
      if name == "rescan" { try await search(library) }
      library.close()
    }
  }

  private static func scan(_ folder: String) async throws -> (MediaLibrary, Duration) {
    let ended = Mutex(false)
    let (news, continuation) = AsyncStream.makeStream(of: Bool.self)
    let settings = MediaLibrary.Settings(
      folders: ["\(folder)/Music"], database: "\(folder)/library.db",
      pictures: "\(folder)/pictures", worker: [Program.path(of: "tutti"), "library-worker"])
    let start = ContinuousClock.now
    // `changed` is called once before the scan, and once after it.
    let library = try MediaLibrary(
      settings,
      changed: { figures in
        let wasTold = ended.withLock { told in
          defer { told = true }
          return told
        }
        if wasTold, figures.scan == nil { continuation.yield(true) }
      }, report: { print($0) })
    for await _ in news { break }
    return (library, ContinuousClock.now - start)
  }

  /// Searches for each word as somebody types it, letter by letter.
  private static func search(_ library: MediaLibrary) async throws {
    var times: [Duration] = []
    for word in ["love", "the night", "a", "symphony", "beat nee", "simone sinner", "überall"] {
      for length in 1...word.count {
        let start = ContinuousClock.now
        _ = try await library.search(String(word.prefix(length)), limit: 20)
        times.append(ContinuousClock.now - start)
      }
    }
    times.sort()
    print(
      "search, \(times.count) questions: p50 \(times[times.count / 2]), "
        + "p95 \(times[times.count * 95 / 100]), max \(times[times.count - 1]); \(memory()) KiB")
    for order in AlbumQuery.Order.allCases {
      let time = try await ContinuousClock().measure {
        _ = try await library.albums(AlbumQuery(order: order, offset: 4_000, limit: 200))
      }
      print("200 albums by \(order): \(time)")
    }
    let time = try await ContinuousClock().measure {
      _ = try await library.artists(offset: 0, limit: 200)
    }
    print("200 artists: \(time)")
  }

  /// The largest resident memory so far, in KiB.
  private static func memory() -> String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
    return line.filter(\.isNumber)
  }

  // MARK: - Tracks

  private static let words = [
    "love", "night", "the", "blue", "dream", "river", "symphony", "dance", "überall", "été", "you",
    "me", "all", "need", "sinner", "man", "fire", "water", "road", "home", "heart", "light",
    "shadow", "moon", "star", "rain", "summer", "winter", "song", "little", "big", "black",
  ]

  private static func make(_ count: Int, in folder: String) throws {
    var random = SplitMix64(seed: 7)
    func title(_ length: Int) -> String {
      (0..<length).map { _ in words[Int(random.next() % UInt64(words.count))] }
        .joined(separator: " ")
    }
    var artist = ""
    for album in 0..<(count + 11) / 12 {
      if album % 4 == 0 { artist = "\(title(2)) \(album / 4)" }
      let (name, year) = (title(3), 1_950 + album % 70)
      let path = "\(folder)/\(artist)/\(name) \(album)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for track in 1...min(12, count - album * 12) {
        var file = TaggedFile(
          "\(title(1 + track % 4)) \(track)", artist: artist, album: name, albumArtist: artist,
          track: track, date: "\(year)", seconds: Double(120 + track * 10))
        file.padding = 4_096
        try Data(file.bytes).write(to: URL(filePath: "\(path)/\(track).flac"))
      }
    }
  }
}
