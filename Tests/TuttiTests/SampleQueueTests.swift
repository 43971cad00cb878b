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
    #expect(try queue.enqueue(Self.buffer(0, 4)) == Self.time(0))
    #expect(try queue.enqueue(Self.buffer(2, 4)) == nil)
    _ = try queue.enqueue(Self.buffer(8, 2))
    _ = try queue.enqueue(Self.buffer(1, 2))
    for _ in 1...2 {
      var place = queue.begin(at: 0, as: Self.mono)
      #expect(read(64, of: queue, &place) == [0, 1, 2, 3, 4, 5, 0, 0, 8, 9])
    }
    queue.end()
    var place = queue.begin(at: 10, as: Self.mono)
    #expect(read(64, of: queue, &place) == [])
  }

  @Test func `the first buffer says where a source must be opened`() throws {
    let queue = try Self.queue()
    var first = queue.begin(at: 0, as: Self.mono)
    #expect(try queue.enqueue(Self.buffer(100, 4)) == Self.time(100))
    #expect(try queue.enqueue(Self.buffer(104, 4)) == nil)
    #expect(queue.isPlaced)
    queue.abandonRead()
    #expect(read(8, of: queue, &first) == [])
    queue.readAgain()
    var place = queue.begin(at: 100, as: Self.mono)
    #expect(read(8, of: queue, &place) == [100, 101, 102, 103, 104, 105, 106, 107])
    queue.reset()
    place = queue.begin(at: 0, as: Self.mono)
    // One that is open there already will do.
    #expect(try queue.enqueue(Self.buffer(0, 4)) == nil)
    #expect(read(8, of: queue, &place) == [0, 1, 2, 3])
  }

  @Test func `a flush of what was not read keeps what lies before it`() throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 10))
    _ = try queue.enqueue(Self.buffer(10, 10))
    var place = queue.begin(at: 0, as: Self.mono)
    #expect(read(4, of: queue, &place) == [0, 1, 2, 3])
    #expect(queue.truncate(from: Self.time(7)))
    #expect(queue.room == 16_000 - 7)
    _ = try queue.enqueue(Self.buffer(7, 2))
    #expect(read(64, of: queue, &place) == [4, 5, 6, 7, 8])
    #expect(!queue.truncate(from: Self.time(5)))
  }

  @Test func `what is about to be read again counts as not read`() throws {
    let queue = try Self.queue()
    for start in [Int64(0), 100] { _ = try queue.enqueue(Self.buffer(start, 100)) }
    var before = queue.begin(at: 0, as: Self.mono)
    #expect(read(100, of: queue, &before).count == 100)
    #expect(queue.room == 16_000 - 100)
    queue.reread(from: Self.time(20), since: queue.readerCount)
    // What the source of before reads counts no more.
    #expect(read(100, of: queue, &before).count == 100)
    #expect(queue.room == 16_000 - 200)
    #expect(queue.truncate(from: Self.time(50)))
    #expect(queue.room == 16_000 - 50)
    var place = queue.begin(at: 20, as: Self.mono)
    #expect(read(64, of: queue, &place) == Array(20..<50))
    let count = queue.readerCount
    _ = queue.begin(at: 50, as: Self.mono)
    // It was opened before that could be said.
    queue.reread(from: Self.time(20), since: count)
    #expect(queue.room == 16_000)
  }

  @Test func `a full queue takes nothing, and asks when it is read`() async throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 16_000))
    #expect(throws: TuttiError.queueIsFull) { try queue.enqueue(Self.buffer(16_000, 1)) }
    async let room = queue.waitForRoom()
    var place = queue.begin(at: 0, as: Self.mono)
    #expect(read(16_000, of: queue, &place).count == 16_000)
    #expect(await room == 16_000)
  }

  @Test func `what was read stays until it has sounded, up to the bound`() throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 1))
    var place = queue.begin(at: 0, as: Self.mono)
    var end: Int64 = 1
    while queue.room > 0 {
      let count = min(queue.room, 16_000)
      _ = try queue.enqueue(Self.buffer(end, count))
      end += Int64(count)
      #expect(read(count + 1, of: queue, &place).count <= count + 1)
    }
    #expect(end == Int64(SampleQueue.byteLimit / 4))
    #expect(throws: TuttiError.queueIsFull) { try queue.enqueue(Self.buffer(end, 1)) }
    queue.release(before: Self.time(80_000))
    // Whole buffers go, and a second stays.
    #expect(queue.room == 16_000)
    var again = queue.begin(at: 80_000, as: Self.mono)
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
