import Audio
import Clock
import Sender
import Testing

@testable import Tutti

/// Tests of a renderer's queue if formats change, and if it holds packets.
@Suite struct EnqueuedFormatsTests {
  private static let mono = try? PCMFormat(sampleRate: 8_000, channelCount: 1)
  private static let mp3 = try? CompressedFormat(.mp3, sampleRate: 44_100, channelCount: 2)

  private static func samples(_ count: Int, at frame: Int64, _ format: PCMFormat) throws
    -> AudioBuffer
  {
    let samples = [Float](repeating: 0.5, count: count * format.channelCount)
    return try AudioBuffer(
      samples, format: format, at: PlaybackTime(frame: frame, at: format.sampleRate))
  }

  /// A packet of 1152 frames that no decoder would accept.
  private static func packet(
    _ number: Int64, at time: PlaybackTime? = nil, trimAtStart: Int = 0, trimAtEnd: Int = 0
  ) throws -> CompressedBuffer {
    try CompressedBuffer(
      [0xff, 0xfb, 0x90, 0, UInt8(number)], format: try #require(mp3),
      at: time ?? PlaybackTime(frame: number * 1_152, at: 44_100), trimAtStart: trimAtStart,
      trimAtEnd: trimAtEnd)
  }

  private func queue() throws -> SampleQueue { SampleQueue(format: try #require(Self.mono)) }

  private func opened(_ queue: SampleQueue, keepsFormat: Bool = false) -> any MediaSource {
    queue.begin(with: 0, at: .zero)
    return QueueSource(queue).opened(at: .zero, in: 0, keepsFormat: keepsFormat)
  }

  /// Returns everything in the queue, as sources give it, one after the other: `8000x1:12`.
  private func read(_ queue: SampleQueue) throws -> [String] {
    queue.end()
    var told: [String] = []
    var next: (any MediaSource)? = opened(queue)
    var time = PlaybackTime.zero
    while let source = next {
      let rate = source.format.sampleRate
      try source.seek(toFrame: time.frameFrom(at: rate))
      var frames: [Float] = []
      var count = 0
      repeat {
        count = frames.count
        try source.read(1_000, appendingTo: &frames)
      } while frames.count > count
      let length = frames.count / source.format.channelCount
      told.append("\(rate)x\(source.format.channelCount):\(length)")
      time = PlaybackTime(frame: time.frameFrom(at: rate) + Int64(length), at: rate)
      next = source.successor()
    }
    return told
  }

  @Test func `a source ends where the format changes, and another one goes on there`() throws {
    let queue = try queue()
    let mono = try #require(Self.mono)
    _ = try queue.enqueue(Self.samples(2_400, at: 0, mono))
    _ = try queue.enqueue(Self.samples(4_800, at: 14_400, .stereo48k))
    // After a pause of half a second, at the old rate.
    _ = try queue.enqueue(Self.samples(800, at: 6_400, mono))
    let told = try read(queue)
    #expect(told == ["8000x1:2400", "48000x2:24000", "8000x1:800"])
  }

  /// A cut between two frames leaves a buffer that overlaps the next one by a part of a frame.
  @Test func `where audio is cut between frames, the next format follows once`() throws {
    let queue = try queue()
    let low = try PCMFormat(sampleRate: 22_050)
    let cut = PlaybackTime.seconds(1.0304413)
    _ = try queue.enqueue(Self.samples(30_000, at: 0, low))
    #expect(queue.truncate(from: cut))
    let high = try PCMFormat(sampleRate: 44_100)
    _ = try queue.enqueue(Self.samples(441, at: cut.frameFrom(at: 44_100), high))
    queue.end()
    var (told, time): ([String], PlaybackTime) = ([], cut - .milliseconds(10))
    var next: (any MediaSource)? = opened(queue)
    while let source = next, told.count < 10 {
      let rate = source.format.sampleRate
      try source.seek(toFrame: time.frameFrom(at: rate))
      var frames: [Float] = []
      try source.read(1_000, appendingTo: &frames)
      told.append("\(rate): \(frames.count / 2)")
      // As positions of items count: less than a frame behind, where the first began at a whole one.
      if told.count == 1 { time = cut }
      next = source.successor()
    }
    #expect(told == ["22050: 221", "44100: 441"])
  }

  @Test func `for effects all comes in one format`() throws {
    let queue = try queue()
    let mono = try #require(Self.mono)
    _ = try queue.enqueue(Self.samples(2_400, at: 0, mono))
    _ = try queue.enqueue(Self.samples(14_400, at: 14_400, .stereo48k))
    _ = try queue.enqueue(Self.samples(800, at: 4_800, mono))
    queue.end()
    let source = opened(queue, keepsFormat: true)
    for start in [0, 100, 2_500] {
      try source.seek(toFrame: Int64(start))
      var frames: [Float] = []
      var before = 0
      repeat {
        before = frames.count
        try source.read(1_000, appendingTo: &frames)
      } while frames.count > before
      #expect(frames.count == 5_600 - start)
      // Leaves out the ends, and the edges of two filters.
      #expect(frames[50..<1_000].allSatisfy { abs($0 - 0.5) < 0.01 })
    }
    #expect(source.successor() == nil)
  }

  @Test func `packets follow each other without a gap, though their times are rounded`() throws {
    let queue = try queue()
    for (number, milliseconds) in [(0, 0), (1, 26), (2, 52), (3, 79)] {
      _ = try queue.enqueue(
        Self.packet(Int64(number), at: .seconds(Double(milliseconds) / 1_000)))
    }
    let source = opened(queue)
    let packets = try source.packets()
    queue.end()
    var given: [EncodedPacket] = []
    while let packet = try packets.next() { given.append(packet) }
    #expect(given.map(\.frameCount) == [1_152, 1_152, 1_152, 1_152])
    #expect(given.map(\.payload[4]) == [0, 1, 2, 3])
    #expect(packets.format.codec == .mp3)
    #expect(packets.position == 4 * 1_152)
    #expect(source.successor() == nil)
  }

  @Test func `a pause between packets is silence, and samples may follow`() throws {
    let queue = try queue()
    _ = try queue.enqueue(Self.packet(0))
    _ = try queue.enqueue(Self.packet(10))
    _ = try queue.enqueue(Self.samples(4_410, at: 11 * 1_152, PCMFormat(sampleRate: 44_100)))
    var shapes: [String] = []
    queue.end()
    var next: (any MediaSource)? = opened(queue)
    var frame: Int64 = 0
    while let source = next {
      var length = 0
      if let packets = try? source.packets() {
        try packets.seek(toFrame: frame)
        while let packet = try packets.next() { length += packet.frameCount }
        shapes.append("packets:\(length)")
      } else {
        try source.seek(toFrame: frame)
        var frames: [Float] = []
        var before = 0
        repeat {
          before = frames.count
          try source.read(100_000, appendingTo: &frames)
        } while frames.count > before
        length = frames.count / 2
        shapes.append("\(frames.first == 0 ? "silence" : "samples"):\(length)")
      }
      frame += Int64(length)
      next = source.successor()
    }
    #expect(shapes == ["packets:1152", "silence:10368", "packets:1152", "samples:4410"])
  }

  @Test func `a place in packets is prepared by those before it`() throws {
    let queue = try queue()
    _ = try queue.enqueue(Self.packet(0, at: .zero, trimAtStart: 1_152))
    for number in 0..<40 { _ = try queue.enqueue(Self.packet(Int64(number))) }
    let source = opened(queue)
    let packets = try source.packets()
    let first = [try packets.next(), try packets.next()]
    #expect(first.map(\.?.frameCount) == [0, 1_152])
    try packets.seek(toFrame: 30 * 1_152 + 100)
    var lead = 0
    var packet = try packets.next()
    while packet?.frameCount == 0 {
      lead += 1
      packet = try packets.next()
    }
    #expect(lead == 12)
    #expect(packet?.skippedFrames == 100)
    #expect(packet?.frameCount == 1_052)
    #expect(packets.position == 31 * 1_152)
  }

  @Test func `a flush cuts a packet at its time`() throws {
    let queue = try queue()
    for number in 0..<3 { _ = try queue.enqueue(Self.packet(Int64(number))) }
    _ = queue.begin(at: 0, as: .packets(try #require(Self.mp3)), in: 0)
    #expect(queue.truncate(from: PlaybackTime(frame: 1_500, at: 44_100)))
    let source = opened(queue)
    let packets = try source.packets()
    #expect(try packets.next()?.frameCount == 1_152)
    #expect(try packets.next()?.frameCount == 348)
  }

  @Test func `what does not fit together is refused`() throws {
    let mp3 = try #require(Self.mp3)
    #expect(throws: TuttiError.self) { try CompressedBuffer([1, 2, 3], format: mp3, at: .zero) }
    #expect(throws: TuttiError.self) {
      try CompressedBuffer([0xff, 0xfb, 0x94, 0, 0], format: mp3, at: .zero)
    }
    for trims in [(-1, 0), (1_153, 0), (1_000, 200), (0, .max)] {
      #expect(throws: TuttiError.self) {
        try Self.packet(0, trimAtStart: trims.0, trimAtEnd: trims.1)
      }
    }
    for codec in CompressedFormat.Codec.allCases {
      #expect(throws: TuttiError.self) {
        try CompressedFormat(
          codec, sampleRate: 48_000, channelCount: 2, configuration: [1, 2, 3])
      }
      #expect(throws: TuttiError.self) {
        try CompressedFormat(codec, sampleRate: 12_345, channelCount: 2)
      }
    }
    // AAC-LC, 44.1 kHz, two channels.
    _ = try CompressedFormat(
      .aac, sampleRate: 44_100, channelCount: 2, configuration: [0x12, 0x10])
    #expect(throws: TuttiError.self) {
      try CompressedFormat(
        .aac, sampleRate: 48_000, channelCount: 2, configuration: [0x12, 0x10])
    }
  }
}
