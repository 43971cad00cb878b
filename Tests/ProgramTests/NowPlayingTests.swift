import Foundation
import TestSupport
import Testing

/// Tests of the current item where it plays: in the log, in files for displays, and in `tutti
/// status`.
@Suite struct NowPlayingTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Records a minute of FLAC with tags, and with a cover if one is named.
  private func record(_ name: String, title: String, cover: String? = nil) throws -> String {
    let path = folder.file(name)
    let tags = ["title=\(title)", "artist=Jo Bä", "album=Third \"3\"", "track=3/12"].flatMap {
      ["-metadata", $0]
    }
    let picture = cover.map { ["-i", $0] } ?? []
    let map = cover == nil ? [] : ["-map", "0:a", "-map", "1:v", "-disposition:v", "attached_pic"]
    let sound = ["-f", "lavfi", "-i", "sine=duration=60"]
    try ffmpeg(sound + picture + map + ["-c:v", "copy", "-c:a", "flac"] + tags + [path])
    return path
  }

  /// Makes a cover that is larger than one piece, which has 16 KiB.
  private func makeCover() throws -> (path: String, bytes: Data) {
    let path = folder.file("picture.png")
    let source = "testsrc2=size=400x400,noise=alls=80:all_seed=1"
    try ffmpeg(["-f", "lavfi", "-i", source, "-frames:v", "1", path])
    let bytes = try Data(contentsOf: URL(filePath: path))
    try #require(bytes.count > 100_000)
    return (path, bytes)
  }

  private func ffmpeg(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/ffmpeg")
    process.arguments = ["-v", "error"] + arguments
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "ffmpeg \(arguments)")
  }

  private func object(in path: String) -> [String: Any]? {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
    return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
  }

  private func tutti(_ arguments: String...) throws -> [String] {
    let program = try Program("tutti", arguments + ["--state-dir", folder.file("player")])
    #expect(try program.exitCode() == 0)
    return program.lines
  }

  @Test func `titles and covers are where they are heard, and gone when nothing is`() throws {
    let cover = try makeCover()
    let files = [
      try record("1.flac", title: "One", cover: cover.path), try record("2.flac", title: "Two"),
    ]
    let receiver = try ReceiverProgram("a", in: folder)
    let shown = folder.file("state-a/now-playing.json")
    let changes = try FolderWatch(folder.file("state-a"))
    let player = try player(files, at: [receiver.address], in: folder)

    try changes.wait { object(in: shown)?["artworkPath"] != nil }
    let one = try #require(object(in: shown))
    #expect(one["title"] as? String == "One")
    #expect(one["artist"] as? String == "Jo Bä")
    #expect(one["album"] as? String == "Third \"3\"")
    #expect(one["track"] as? Int == 3)
    #expect(one["durationS"] as? Double == 60)
    #expect(one["artworkType"] as? String == "image/png")
    #expect(one["artworkBytes"] as? Int == cover.bytes.count)
    let path = try #require(one["artworkPath"] as? String)
    #expect(path == folder.file("state-a/cover.png"))
    #expect(try Data(contentsOf: URL(filePath: path)) == cover.bytes)

    try expectStatus(of: cover.bytes)
    _ = try tutti("next")
    try changes.wait { object(in: shown)?["title"] as? String == "Two" }
    #expect(object(in: shown)?["artworkPath"] == nil)
    #expect(!FileManager.default.fileExists(atPath: path))

    _ = try tutti("stop")
    #expect(try player.exitCode() == 0, "\(player.lines)")
    try changes.wait { !FileManager.default.fileExists(atPath: shown) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("player/cover.png")))
    #expect(try receiver.program.stop() == 0)
    for title in ["One", "Two"] {
      let line = "now playing: Jo Bä - \(title) (Third \"3\")"
      #expect(receiver.program.lines(with: line).count == 1)
    }
  }

  @Test func `a file without a title is called what its list calls it, everywhere`() throws {
    let receiver = try ReceiverProgram("a", in: folder, "--output", "null")
    try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "1.wav")
    try folder.write(Tone.wave(rate: 8_000, seconds: 60, channels: 1), to: "2.wav")
    let list = try folder.write(
      "#EXTM3U\n#EXTINF:60,Jo - One\n1.wav\n#EXTINF:60,Jo - Two\n2.wav\n".utf8, to: "list.m3u")
    let player = try player([list], at: [receiver.address], in: folder)
    try receiver.program.line(with: "now playing: Jo - One")
    try player.line(with: "Jo - One")
    #expect(try tutti("add", list).first == "2 items added")
    // Ignore the lengths, which a busy machine does not read in time.
    let queue = try tutti("queue").dropLast().map {
      $0.replacing(#/ +/#, with: " ").replacing(#/ (1:00)?$/#, with: "")
    }
    #expect(queue == ["▶ 1 Jo - One", " 2 Jo - Two", " 3 Jo - One", " 4 Jo - Two"])
    let status = try tutti("status")
    #expect(status.first == "playing  Jo - One")
    #expect(status.contains { $0.hasPrefix("next     Jo - Two") })
    _ = try tutti("stop")
    #expect(try player.exitCode() == 0, "\(player.lines)")
  }

  private func expectStatus(of cover: Data) throws {
    let text = try tutti("status")
    #expect(text.first == "playing  Jo Bä – One")
    #expect(text.contains { $0.hasPrefix("item     1 of 2  ") && $0.hasSuffix(" / 1:00") })
    #expect(text.contains("album    Third \"3\", track 3"))
    let path = folder.file("player/cover.png")
    #expect(text.contains("cover    \(path)"))
    let json = try #require(try tutti("status", "--json").first)
    let status = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(status["artworkPath"] as? String == path)
    #expect(status["artworkBytes"] as? Int == cover.count)
    #expect(status["artworkType"] as? String == "image/png")
    #expect(try Data(contentsOf: URL(filePath: path)) == cover)
  }

  @Test func `a display that cannot be told is one warning, and music plays on`() throws {
    let files = try ["1.wav", "2.wav"].map {
      try folder.write(Tone.wave(rate: 48_000, seconds: 1.2), to: $0)
    }
    // Even root cannot put a file in place of a directory.
    try FileManager.default.createDirectory(
      atPath: folder.file("state-a/now-playing.json"), withIntermediateDirectories: true)
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player(files, at: [receiver.address], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    #expect(receiver.program.lines(with: "now playing: 1.wav").count == 1)
    #expect(receiver.program.lines(with: "the file for displays cannot be written").count == 1)
    expectOneTone(try ToneRecording(folder.file("a.wav")), seconds: 2.4)
  }
}
