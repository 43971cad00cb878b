import Audio
import Driver
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

@testable import Tutti

/// What a reader gives of files, addresses and feeds.
@Suite struct MediaReaderTests {
  private static let rate = 44_100
  private static let recording = Recording(rate: rate, frames: 100_000)

  /// The finished program decodes.
  private static let workers: MediaWorkers = {
    let workers = MediaWorkers()
    try? workers.start([Program.path(of: "tutti"), "media-worker"])
    return workers
  }()

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ name: String, _ arguments: [String] = []) throws -> Media {
    .file(try Self.recording.write(to: name, arguments, in: folder))
  }

  private static func samples(of reader: MediaReader, atMost limit: Int = .max) async throws
    -> [Float]
  {
    var samples: [Float] = []
    var time = reader.position
    while samples.count < limit, let next = try await reader.next() {
      guard case .samples(let buffer) = next else { break }
      #expect(buffer.presentationTime == time)
      time = buffer.endTime
      samples += buffer.samples
    }
    return samples
  }

  /// Decoded as a room does.
  private static func sound(of reader: MediaReader) async throws -> [Float] {
    let format = try #require(reader.compressedFormat)
    let decoder = try SampleQueue.decoder(format.description.format)
    var (sound, time) = ([Float](), reader.position)
    while let next = try await reader.next() {
      guard case .packet(let packet) = next else { break }
      if packet.frameCount > 0 { #expect(packet.presentationTime == time) }
      time = packet.endTime
      var decoded: [Float] = []
      try decoder.decode(packet.packet, appendingTo: &decoded)
      let channels = format.channelCount
      sound += decoded.dropFirst(packet.trimAtStart * channels).prefix(packet.frameCount * channels)
    }
    return sound
  }

  // MARK: - Samples and packets

  @Test(arguments: [false, true])
  func `samples are those of the file, from any place`(inProcess: Bool) async throws {
    let workers = inProcess ? Self.workers : MediaWorkers()
    let reader = try await MediaReader(write("a.flac"), delivering: .samples, workers: workers)
    #expect(reader.format.sampleRate == Self.rate && reader.format.resolution == .int16)
    #expect(reader.compressedFormat == nil && reader.samplesReason == nil)
    #expect(reader.isSeekable && !reader.isLive)
    let whole = Self.recording.floats
    #expect(reader.length == .exact(PlaybackTime(frame: 100_000, at: Self.rate) - .zero))
    #expect(try await Self.samples(of: reader) == whole)
    #expect(reader.progress == 1)
    for frame: Int64 in [71_234, 3, 99_999, 0] {
      try await reader.seek(to: PlaybackTime(frame: frame, at: Self.rate))
      let some = try await Self.samples(of: reader, atMost: 2_000)
      #expect(some.elementsEqual(whole.dropFirst(Int(frame) * 2).prefix(some.count)), "\(frame)")
      #expect(!some.isEmpty)
    }
    try await reader.seek(to: .seconds(60))
    #expect(try await reader.next() == nil)
  }

  @Test(arguments: [false, true])
  func `packets of lossless files decode to the file, from any place`(
    inProcess: Bool
  ) async throws {
    let workers = inProcess ? Self.workers : MediaWorkers()
    let media = try write("a.flac")
    let reader = try await MediaReader(media, delivering: .packetsIfPossible, workers: workers)
    #expect(reader.compressedFormat?.codec == .flac)
    let whole = Self.recording.floats
    #expect(try await Self.sound(of: reader) == whole)
    for frame: Int64 in [71_234, 3, 99_999, 0] {
      try await reader.seek(to: PlaybackTime(frame: frame, at: Self.rate))
      let rest = try await Self.sound(of: reader)
      #expect(rest.elementsEqual(whole.dropFirst(Int(frame) * 2)), "\(frame)")
    }
  }

  @Test(arguments: ["a.mp3", "a.m4a"])
  func `packets of lossy files sound as the decoded file, from any place`(
    name: String
  ) async throws {
    let media = try write(name, name == "a.m4a" ? ["-aac_pns", "0"] : [])
    let samples = try await MediaReader(media, delivering: .samples)
    let whole = try await Self.samples(of: samples)
    let reader = try await MediaReader(media)
    #expect(reader.length == samples.length)
    #expect(Self.distance(try await Self.sound(of: reader), whole) < 1e-3)
    for frame: Int64 in [50_001, 20_000] {
      try await reader.seek(to: PlaybackTime(frame: frame, at: Self.rate))
      #expect(reader.position == PlaybackTime(frame: frame, at: Self.rate))
      let rest = try await Self.sound(of: reader)
      #expect(Self.distance(rest, Array(whole.dropFirst(Int(frame) * 2))) < 1e-3, "\(frame)")
    }
  }

  /// The root of the mean square of the difference; infinite for different lengths.
  private static func distance(_ one: [Float], _ other: [Float]) -> Double {
    guard one.count == other.count, !one.isEmpty else { return .infinity }
    let sum = zip(one, other).reduce(0.0) { $0 + Double(($1.0 - $1.1) * ($1.0 - $1.1)) }
    return (sum / Double(one.count)).squareRoot()
  }

  @Test func `items without packets give samples, and say why`() async throws {
    let media = try write("a.wav")
    let reader = try await MediaReader(media)
    #expect(reader.compressedFormat == nil)
    #expect(reader.samplesReason?.contains("a.wav") ?? false)
    #expect(try await Self.samples(of: reader) == Self.recording.floats)
    await #expect(throws: TuttiError.self) { try await MediaReader(media, delivering: .packets) }
  }

  @Test func `the forms of AAC are told apart`() throws {
    func profile(_ rate: Int, _ channels: Int, _ bytes: [UInt8]) throws
      -> CompressedFormat.AACProfile?
    {
      try CompressedFormat(.aac, sampleRate: rate, channelCount: channels, configuration: bytes)
        .aacProfile
    }
    #expect(try profile(44_100, 2, [0x12, 0x10]) == .lowComplexity)
    #expect(try profile(44_100, 2, [0x2b, 0x92, 0x08, 0]) == .highEfficiency)
    // A mono core of 22.05 kHz that does not say more.
    #expect(try profile(44_100, 1, [0x13, 0x88]) == .highEfficiency)
    #expect(try profile(44_100, 2, [0x13, 0x88]) == .highEfficiencyV2)
    #expect(try CompressedFormat(.mp3, sampleRate: 44_100, channelCount: 2).aacProfile == nil)
  }

  // MARK: - What an item says of itself

  @Test(arguments: [false, true])
  func `tags, cover, chapters and pictures are told`(inProcess: Bool) async throws {
    let sound = try Self.recording.write(to: "a.wav", in: folder)
    try folder.write(Array(Self.chapters.utf8), to: "chapters.txt")
    let cover = folder.file("cover.png")
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "color=red:s=16x16", "-frames:v", "1", cover])
    let book = folder.file("book.m4a")
    try run(
      "ffmpeg",
      [
        "-v", "error", "-i", sound, "-i", cover, "-i", folder.file("chapters.txt"), "-map", "0",
        "-map", "1", "-map_metadata", "2", "-c:v", "copy", "-disposition:v", "attached_pic", book,
      ])
    let workers = inProcess ? Self.workers : MediaWorkers()
    let reader = try await MediaReader(.file(book), delivering: .samples, workers: workers)
    let metadata = reader.metadata
    #expect(metadata.title == "Moby Dick" && metadata.artist == "Melville")
    #expect(metadata.cover?.mimeType == "image/png" && metadata.cover?.bytes.isEmpty == false)
    #expect(metadata.chapters.map(\.title) == ["Loomings", "The Carpet-Bag"])
    #expect(metadata.chapters.map(\.start) == [.zero, .seconds(1.5)])
    #expect(!metadata.hasVideo)
  }

  private static let chapters = """
    ;FFMETADATA1
    title=Moby Dick
    artist=Melville
    [CHAPTER]
    TIMEBASE=1/1000
    START=0
    END=1500
    title=Loomings
    [CHAPTER]
    TIMEBASE=1/1000
    START=1500
    END=2200
    title=The Carpet-Bag

    """

  @Test(arguments: [false, true])
  func `an item has no more chapters than the limit, with short titles`(
    inProcess: Bool
  ) async throws {
    let sound = try Self.recording.write(to: "a.wav", in: folder)
    var text = ";FFMETADATA1\n"
    for number in 0..<600 {
      text += "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\(number * 3)\nEND=\(number * 3 + 3)\n"
      text += "title=\(number) " + String(repeating: "ä", count: 100) + "\n"
    }
    try folder.write(Array(text.utf8), to: "chapters.txt")
    let book = folder.file("book.mka")
    try run(
      "ffmpeg",
      ["-v", "error", "-i", sound, "-i", folder.file("chapters.txt"), "-c:a", "flac", book])
    let workers = inProcess ? Self.workers : MediaWorkers()
    let reader = try await MediaReader(.file(book), delivering: .samples, workers: workers)
    let chapters = reader.metadata.chapters
    #expect(chapters.count == ItemChapter.limit)
    #expect(chapters.last?.start == .seconds(511 * 0.003))
    #expect(chapters.allSatisfy { ($0.title?.utf8.count ?? 0) <= ItemChapter.titleLimit })
    #expect(chapters.last?.title?.hasPrefix("511 ä") ?? false)
  }

  // MARK: - Feeds

  @Test func `a feed is read at no more places than the limit`() throws {
    let bytes = try FedBytes(name: "a", expectedCount: nil)
    let gate = FedGate(bytes, interruption: try ReadInterruption())
    var opened = 0
    for _ in 0..<100 {
      if case .opened = gate.answer(.open(url: "a", SourceOptions())) { opened += 1 }
    }
    #expect(opened == 16)
    // What an item names leads nowhere.
    #expect(gate.answer(.close(handle: 1)) == .done(goesOn: true))
    guard case .failed = gate.answer(.open(url: "http://elsewhere/", SourceOptions())) else {
      Issue.record("another address was opened")
      return
    }
  }

  @Test(arguments: ["a.mp3", "a.flac", "a.ogg", "a.m4a", "a.wav"], [false, true])
  func `a feed gives what the file gives, while it comes`(
    name: String, inProcess: Bool
  ) async throws {
    let workers = inProcess ? Self.workers : MediaWorkers()
    let media = try write(name, name == "a.m4a" ? ["-aac_pns", "0"] : [])
    let bytes = try folder.bytes(of: name)
    let whole = try await Self.samples(
      of: MediaReader(media, delivering: .samples, workers: workers))
    let feed = try MediaFeed(name: name, expectedByteCount: bytes.count)
    #expect(feed.progress == 0)
    async let opened = MediaReader(.feed(feed), delivering: .samples, workers: workers)
    var rest = bytes[...]
    while !rest.isEmpty {
      try feed.append(Array(rest.prefix(20_000)))
      rest = rest.dropFirst(20_000)
      await Task.yield()
    }
    let reader = try await opened
    feed.finish()
    #expect(try await Self.samples(of: reader) == whole)
    #expect(feed.progress == 1 && feed.byteCount == bytes.count)
    try await reader.seek(to: PlaybackTime(frame: 50_001, at: Self.rate))
    let some = try await Self.samples(of: reader)
    #expect(some.count == whole.count - 2 * 50_001)
    #expect(throws: TuttiError.closed) { try feed.append([1]) }
  }

  /// Half of a song plays before the other half has come.
  @Test func `what has come of a feed can be read before the rest comes`() async throws {
    _ = try write("a.mp3", ["-b:a", "320k"])
    let bytes = try folder.bytes(of: "a.mp3")
    let feed = try MediaFeed(name: "a.mp3", expectedByteCount: bytes.count)
    try feed.append(Array(bytes.prefix(bytes.count / 2)))
    let reader = try await MediaReader(.feed(feed), delivering: .samples)
    let first = try await Self.samples(of: reader, atMost: 40_000)
    #expect(first.count >= 40_000)
    #expect(reader.progress.map { $0 < 0.5 } ?? false)
    let waiting = Task { try await Self.samples(of: reader) }
    try feed.append(Array(bytes.dropFirst(bytes.count / 2)))
    feed.finish()
    #expect(try await waiting.value.count + first.count == 200_000)
  }

  @Test(arguments: [false, true])
  func `a reader that waits for a feed ends with its task, and with close`(
    inProcess: Bool
  ) async throws {
    let workers = inProcess ? Self.workers : MediaWorkers()
    let feed = try MediaFeed(name: "a.mp3")
    let opening = Task {
      try await MediaReader(.feed(feed), delivering: .samples, workers: workers)
    }
    opening.cancel()
    await #expect(throws: TuttiError.cancelled) { _ = try await opening.value }
    _ = try write("a.mp3", ["-b:a", "320k"])
    let bytes = try folder.bytes(of: "a.mp3")
    let half = try MediaFeed(name: "a.mp3", expectedByteCount: bytes.count)
    try half.append(Array(bytes.prefix(bytes.count / 2)))
    let reader = try await MediaReader(.feed(half), delivering: .samples, workers: workers)
    let reading = Task { while try await reader.next() != nil {} }
    reading.cancel()
    await #expect(throws: TuttiError.cancelled) { try await reading.value }
    // It goes on for whoever wants more. A process that does not notice in time is ended, and the item with it.
    if !inProcess {
      try half.append(Array(bytes.dropFirst(bytes.count / 2)))
      #expect(try await reader.next() != nil)
    }
    let last = Task { while try await reader.next() != nil {} }
    reader.close()
    if inProcess {
      await #expect(throws: TuttiError.self) { try await last.value }
    } else {
      _ = await last.result
    }
    await #expect(throws: TuttiError.closed) { try await reader.next() }
  }

  /// The error with which opening fails.
  private func refusal(of media: Media) async -> TuttiError? {
    do throws(TuttiError) {
      _ = try await MediaReader(media)
      return nil
    } catch {
      return error
    }
  }

  @Test func `what is no media is told as an error of its kind`() async throws {
    let missing = await refusal(of: .file("/nowhere.mp3"))
    #expect(missing == missing.map { .notFound($0.description) })
    #expect(missing?.description.contains("/nowhere.mp3") ?? false)
    let text = try folder.write(Array("not music".utf8), to: "a.mp3")
    let refused = await refusal(of: .file(text))
    #expect(refused == refused.map { .notPlayable($0.description) })
    #expect(refused?.description.contains("a.mp3") ?? false)
  }
}
