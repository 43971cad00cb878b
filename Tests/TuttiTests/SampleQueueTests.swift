import Clock
import Testing

@testable import Tutti

@Suite struct SampleQueueTests {
  /// Mono at 8 kHz; frame `n` has the value `n / 1024`.
  private static func buffer(_ start: Int64, _ count: Int) throws -> AudioBuffer {
    let format = try PCMFormat(sampleRate: 8_000, channelCount: 1)
    let samples = (0..<count).map { Float(start + Int64($0)) / 1024 }
    return try AudioBuffer(samples, format: format, at: PlaybackTime(frame: start, at: 8_000))
  }

  private static let mono =
    (try? PCMFormat(sampleRate: 8_000, channelCount: 1)).map {
      BufferShape.samples($0)
    } ?? .samples(.stereo48k)

  private static func queue() throws -> SampleQueue {
    SampleQueue(format: try PCMFormat(sampleRate: 8_000, channelCount: 1))
  }

  private func read(_ count: Int, of queue: SampleQueue, _ place: inout ReadingPlace) -> [Int] {
    var frames: [Float] = []
    queue.read(count, at: &place, appendingTo: &frames)
    return frames.map { Int($0 * 1024) }
  }

  private static func time(_ frame: Int64) -> PlaybackTime { PlaybackTime(frame: frame, at: 8_000) }

  @Test func `gaps are silent, overlaps count once, and what is late is dropped`() throws {
    let queue = try Self.queue()
    #expect(try queue.enqueue(Self.buffer(0, 4)))
    queue.begin(with: 0, at: Self.time(0))
    #expect(try !queue.enqueue(Self.buffer(2, 4)))
    _ = try queue.enqueue(Self.buffer(8, 2))
    _ = try queue.enqueue(Self.buffer(1, 2))
    for _ in 1...2 {
      var place = queue.begin(at: 0, as: Self.mono, in: 0)
      #expect(read(64, of: queue, &place) == [0, 1, 2, 3, 4, 5, 0, 0, 8, 9])
    }
    queue.end()
    var place = queue.begin(at: 10, as: Self.mono, in: 0)
    #expect(read(64, of: queue, &place) == [])
  }

  @Test func `nothing is read before it is decided which timeline it belongs to`() throws {
    let queue = try Self.queue()
    var old = queue.begin(at: 0, as: Self.mono, in: 1)
    #expect(try queue.enqueue(Self.buffer(100, 4)))
    // A caller that was asked to look need not be asked again.
    #expect(try !queue.enqueue(Self.buffer(104, 4)))
    #expect(queue.unplaced?.start == Self.time(100))
    #expect(queue.unplaced?.end == Self.time(108))
    #expect(!queue.isUnderWay)
    queue.abandonRead()
    #expect(read(8, of: queue, &old) == [])
    queue.readAgain()
    queue.begin(with: 2, at: Self.time(100))
    #expect(queue.isUnderWay && queue.unplaced == nil)
    // A read of another timeline removes nothing.
    #expect(read(8, of: queue, &old) == [])
    var place = queue.begin(at: 100, as: Self.mono, in: 2)
    #expect(read(8, of: queue, &place) == [100, 101, 102, 103, 104, 105, 106, 107])
    queue.reset()
    place = queue.begin(at: 0, as: Self.mono, in: 3)
    // A source that is open there already is enough.
    #expect(try queue.enqueue(Self.buffer(0, 4)))
    queue.begin(with: 3, at: Self.time(0))
    #expect(read(8, of: queue, &place) == [0, 1, 2, 3])
  }

  @Test func `what sounds of another timeline lets nothing go`() throws {
    let queue = try Self.queue()
    for start in 0..<10 { _ = try queue.enqueue(Self.buffer(Int64(start) * 1_600, 1_600)) }
    queue.begin(with: 2, at: Self.time(0))
    var place = queue.begin(at: 0, as: Self.mono, in: 2)
    #expect(read(16_000, of: queue, &place).count == 16_000)
    // The rooms still play old audio, far ahead.
    queue.release(before: .seconds(60), in: 1)
    try #require(queue.reaches(past: .zero))
    place = queue.begin(at: 0, as: Self.mono, in: 2)
    #expect(read(16_000, of: queue, &place).prefix(2) == [0, 1])
    queue.release(before: .seconds(60), in: 2)
    #expect(!queue.reaches(past: .zero))
  }

  @Test func `buffers for a time that has passed wait for a while`() throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 4))
    let now = LocalTime(nanoseconds: 1)
    #expect(queue.hold(at: now))
    #expect(queue.holdDeadline == now + SampleQueue.timeout)
    #expect(queue.hold(at: now + Nanoseconds.seconds(1)))
    #expect(!queue.hold(at: now + SampleQueue.timeout))
    queue.begin(with: 1, at: Self.time(0))
    #expect(queue.holdDeadline == nil)
  }

  @Test func `a flush of what was not read keeps what lies before it`() throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 10))
    _ = try queue.enqueue(Self.buffer(10, 10))
    queue.begin(with: 0, at: .zero)
    var place = queue.begin(at: 0, as: Self.mono, in: 0)
    #expect(read(4, of: queue, &place) == [0, 1, 2, 3])
    #expect(queue.truncate(from: Self.time(7)))
    #expect(queue.room == 16_000 - 7)
    _ = try queue.enqueue(Self.buffer(7, 2))
    #expect(read(64, of: queue, &place) == [4, 5, 6, 7, 8])
    #expect(!queue.truncate(from: Self.time(5)))
  }

  @Test func `what is about to be read again can be flushed, and takes no room away`() throws {
    let queue = try Self.queue()
    for start in [Int64(0), 100] { _ = try queue.enqueue(Self.buffer(start, 100)) }
    queue.begin(with: 0, at: .zero)
    var before = queue.begin(at: 0, as: Self.mono, in: 0)
    #expect(read(100, of: queue, &before).count == 100)
    #expect(queue.room == 16_000 - 100)
    queue.reread(from: Self.time(20), in: 1)
    // The earlier source reads no more.
    #expect(read(100, of: queue, &before) == [])
    // A program that was told of the room before fills it now.
    #expect(queue.room == 16_000 - 100)
    #expect(queue.truncate(from: Self.time(50)))
    #expect(queue.room == 16_000)
    var place = queue.begin(at: 20, as: Self.mono, in: 1)
    #expect(read(64, of: queue, &place) == Array(20..<50))
    _ = queue.begin(at: 50, as: Self.mono, in: 2)
    // This source was opened before that was known.
    queue.reread(from: Self.time(20), in: 2)
    #expect(queue.room == 16_000)
  }

  @Test func `a full queue takes nothing, and asks when it is read`() async throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 16_000))
    queue.begin(with: 0, at: .zero)
    #expect(throws: TuttiError.queueIsFull) { try queue.enqueue(Self.buffer(16_000, 1)) }
    async let room = queue.waitForRoom()
    var place = queue.begin(at: 0, as: Self.mono, in: 0)
    #expect(read(16_000, of: queue, &place).count == 16_000)
    #expect(await room == 16_000)
  }

  @Test func `what was read stays until it has sounded, up to the bound`() throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 1))
    queue.begin(with: 0, at: .zero)
    var place = queue.begin(at: 0, as: Self.mono, in: 0)
    var end: Int64 = 1
    while queue.room > 0 {
      let count = min(queue.room, 16_000)
      _ = try queue.enqueue(Self.buffer(end, count))
      end += Int64(count)
      #expect(read(count + 1, of: queue, &place).count <= count + 1)
    }
    #expect(end == Int64(SampleQueue.byteLimit / 4))
    #expect(throws: TuttiError.queueIsFull) { try queue.enqueue(Self.buffer(end, 1)) }
    queue.release(before: Self.time(80_000), in: 0)
    // Whole buffers are removed, and one second stays.
    #expect(queue.room == 16_000)
    var again = queue.begin(at: 80_000, as: Self.mono, in: 0)
    #expect(read(1, of: queue, &again).count == 1)
  }

  @Test func `waiting ends with the task, and with the queue`() async throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 16_000))
    await withTaskGroup(of: Int?.self) { group in
      group.addTask { await queue.waitForRoom() }
      group.cancelAll()
      #expect(await group.next() == .some(nil))
      group.addTask { await queue.waitForRoom() }
      queue.close()
      #expect(await group.next() == .some(nil))
    }
    #expect(throws: TuttiError.closed) { try queue.enqueue(Self.buffer(0, 1)) }
  }

  @Test func `what is none of a format is refused`() throws {
    #expect(throws: TuttiError.self) { try AudioBuffer([0], format: .stereo48k, at: .zero) }
    #expect(throws: TuttiError.self) { try PCMFormat(sampleRate: 12_345) }
  }
}
