import Foundation
import TestSupport
import Testing
import Tutti

/// Bytes that come while they are read, and packets as they are in their files.
@Suite(.timeLimit(.minutes(2))) struct MediaFeedTests {
  private static let rate = 44_100

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(
    _ name: String, _ arguments: [String] = [], seconds: Int = 3
  ) throws -> [UInt8] {
    try Recording(rate: Self.rate, frames: seconds * Self.rate)
      .write(to: name, arguments, in: folder)
    return try folder.bytes(of: name)
  }

  private static func frameCount(of reader: MediaReader) async throws -> Int {
    var count = 0
    while let buffer = try await reader.next() { count += buffer.frameCount }
    return count
  }

  private static func packets(of reader: MediaReader) async throws -> [CompressedBuffer] {
    var packets: [CompressedBuffer] = []
    while let buffer = try await reader.next() {
      guard case .packet(let packet) = buffer else { throw TestFailure(line: "samples") }
      packets.append(packet)
    }
    return packets
  }

  @Test(arguments: [("a.mp3", ["-b:a", "320k"]), ("a.aac", ["-b:a", "320k"])])
  func `packets can be read as their bytes come`(name: String, arguments: [String]) async throws {
    let bytes = try write(name, arguments)
    let file = try await MediaReader(.file(folder.file(name)), delivering: .packets)
    let whole = try await Self.packets(of: file)
    let feed = try MediaFeed(name: name, expectedByteCount: bytes.count)
    try feed.append(Array(bytes.prefix(bytes.count / 2)))
    let reader = try await MediaReader(.feed(feed), delivering: .packets)
    var packets: [CompressedBuffer] = []
    while packets.count < whole.count / 4, case .packet(let packet)? = try await reader.next() {
      packets.append(packet)
    }
    #expect(feed.progress.map { $0 > 0.4 && $0 < 0.6 } ?? false)
    try feed.append(Array(bytes.dropFirst(bytes.count / 2)))
    feed.finish()
    packets += try await Self.packets(of: reader)
    #expect(packets == whole)
  }

  @Test func `half of a song is heard while the other half has not come`() async throws {
    let bytes = try write("a.mp3", ["-b:a", "320k"], seconds: 24)
    let feed = try MediaFeed(name: "a.mp3", expectedByteCount: bytes.count)
    try feed.append(Array(bytes.prefix(bytes.count / 2)))
    let ear = Ear()
    var settings = OutputSettings()
    settings.identity = .temporary
    let player = try await Player(rooms: [ear.room], settings: settings)
    try await player.append([.feed(feed)])
    let events = player.events
    guard case .heard(let began) = try await player.play() else {
      Issue.record("it waits for the rest")
      return
    }
    await ear.listen(until: began + .seconds(1))
    #expect(feed.progress.map { $0 < 0.6 } ?? false)
    #expect(ear.frames.count { abs($0.level) > 0.01 } > 24_000)
    try feed.append(Array(bytes.dropFirst(bytes.count / 2)))
    feed.finish()
    try await player.seek(to: .seconds(23.5))
    _ = try await events.first { $0 == .stopped }
    await player.close()
  }

  @Test func `a length grows with what comes, until it is exact`() async throws {
    let bytes = try write("a.mp3", ["-b:a", "320k"])
    // As a station, which does not say how much will come.
    let feed = try MediaFeed(name: "a.mp3")
    try feed.append(Array(bytes.prefix(bytes.count / 2)))
    let reader = try await MediaReader(.feed(feed), delivering: .samples)
    #expect(reader.isLive && reader.progress == nil)
    var frames = 0
    while frames < Self.rate, let buffer = try await reader.next() {
      frames += buffer.frameCount
      #expect(reader.length == .soFar(PlaybackTime(frame: Int64(frames), at: Self.rate) - .zero))
    }
    try feed.append(Array(bytes.dropFirst(bytes.count / 2)))
    feed.finish()
    frames += try await Self.frameCount(of: reader)
    #expect(abs(frames - 3 * Self.rate) < 3_000)
    #expect(reader.length == .exact(PlaybackTime(frame: Int64(frames), at: Self.rate) - .zero))
    #expect(reader.progress == 1)
  }

  @Test(arguments: ["a.flac", "a.mp3"])
  func `a download that breaks off is told, once, after what has come of it`(
    name: String
  ) async throws {
    let bytes = try write(name)
    let feed = try MediaFeed(name: name, expectedByteCount: bytes.count)
    try feed.append(Array(bytes.prefix(bytes.count / 2)))
    feed.finish()
    let reader = try await MediaReader(.feed(feed), delivering: .samples)
    var (frames, reasons): (Int, [String]) = (0, [])
    while true {
      do throws(TuttiError) {
        guard let buffer = try await reader.next() else { break }
        frames += buffer.frameCount
      } catch {
        guard case .broken(let reason) = error else { throw error }
        reasons.append(reason)
      }
      try #require(reasons.count < 3)
    }
    #expect(frames > Self.rate && frames < 2 * Self.rate)
    #expect(reasons.count == 1 && reasons.first?.contains(name) ?? false, "\(reasons)")
  }

  // MARK: - Packets of AAC

  @Test func `an ADTS file gives one naked packet a buffer`() async throws {
    let bytes = try write("a.aac", ["-b:a", "192k"])
    var (naked, place): ([[UInt8]], Int) = ([], 0)
    while place + 7 <= bytes.count {
      let head = bytes[place..<place + 7].map(Int.init)
      let size = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
      naked.append(Array(bytes[place + 7..<place + size]))
      place += size
    }
    let reader = try await MediaReader(.file(folder.file("a.aac")), delivering: .packets)
    #expect(reader.compressedFormat?.codec == .aac)
    #expect(reader.compressedFormat?.aacProfile == .lowComplexity)
    #expect(reader.compressedFormat?.sampleRate == Self.rate)
    let packets = try await Self.packets(of: reader)
    #expect(packets.map(\.packet) == naked)
    #expect(packets.allSatisfy { $0.trimAtStart + $0.frameCount <= 1_024 })
  }

  @Test(arguments: [
    ([0x12, 0x10] as [UInt8], 44_100, 2, 1_024), ([0x2b, 0x92, 0x08, 0], 44_100, 2, 2_048),
    ([0x13, 0x88], 44_100, 2, 2_048),
  ])
  func `a packet of AAC has the frames of its form`(
    configuration: [UInt8], rate: Int, channels: Int, frames: Int
  ) throws {
    let format = try CompressedFormat(
      .aac, sampleRate: rate, channelCount: channels, configuration: configuration)
    let packet = try CompressedBuffer([0x21, 0x10, 5], format: format, at: .zero)
    #expect(packet.frameCount == frames)
    #expect(packet.endTime == PlaybackTime(frame: Int64(frames), at: rate))
  }

  // MARK: - Lists

  @Test(arguments: [
    ("a.m3u", "#EXTM3U\n1.mp3\nsub/2.flac\n"),
    ("a.pls", "[playlist]\nFile1=1.mp3\nFile2=sub/2.flac\n"),
    (
      "a.xspf",
      "<playlist><trackList><track><location>1.mp3</location></track>"
        + "<track><location>sub/2.flac</location></track></trackList></playlist>"
    ),
    ("a.json", #"["1.mp3", {"title": "Two", "path": "sub/2.flac"}]"#),
  ])
  func `a list of each kind becomes its items`(name: String, text: String) throws {
    let path = try folder.write(text.utf8, to: name)
    let items = try Media.files(at: path)
    #expect(items.map(\.name) == ["1.mp3", "sub/2.flac"].map(folder.file))
  }
}
