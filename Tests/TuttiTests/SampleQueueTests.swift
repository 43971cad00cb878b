import Testing

@testable import Tutti

@Suite struct SampleQueueTests {
  /// Mono at 8 kHz; frame `n` has the value `n / 1024`.
  private static func buffer(_ start: Int64, _ count: Int) throws -> AudioBuffer {
    let format = try PCMFormat(sampleRate: 8_000, channelCount: 1)
    let samples = (0..<count).map { Float(start + Int64($0)) / 1024 }
    return try AudioBuffer(samples, format: format, at: PlaybackTime(frame: start, at: 8_000))
  }

  private static func queue() throws -> SampleQueue {
    SampleQueue(format: try PCMFormat(sampleRate: 8_000, channelCount: 1))
  }

  private func read(_ count: Int, of queue: SampleQueue) -> [Int] {
    var frames: [Float] = []
    queue.read(count, appendingTo: &frames)
    return frames.map { Int($0 * 1024) }
  }

  @Test func `gaps are silent, overlaps count once, and what is late is dropped`() throws {
    let queue = try Self.queue()
    #expect(try queue.enqueue(Self.buffer(0, 4)) == nil)
    #expect(try queue.enqueue(Self.buffer(2, 4)) == nil)
    _ = try queue.enqueue(Self.buffer(8, 2))
    _ = try queue.enqueue(Self.buffer(1, 2))
    queue.begin(at: 0)
    #expect(read(64, of: queue) == [0, 1, 2, 3, 4, 5, 0, 0, 8, 9])
    queue.end()
    #expect(read(64, of: queue) == [])
  }

  @Test func `the first buffer says where a source must be opened`() throws {
    let queue = try Self.queue()
    #expect(try queue.enqueue(Self.buffer(100, 4)) == 100)
    #expect(try queue.enqueue(Self.buffer(104, 4)) == nil)
    queue.begin(at: 0)
    #expect(queue.isPlaced)
    queue.abandonRead()
    #expect(read(8, of: queue) == [])
    queue.readAgain()
    queue.begin(at: 100)
    #expect(read(8, of: queue) == [100, 101, 102, 103, 104, 105, 106, 107])
    queue.reset()
    #expect(try queue.enqueue(Self.buffer(0, 4)) == 0)
  }

  @Test func `a flush of what was not read keeps what lies before it`() throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 10))
    _ = try queue.enqueue(Self.buffer(10, 10))
    queue.begin(at: 0)
    #expect(read(4, of: queue) == [0, 1, 2, 3])
    #expect(queue.truncate(from: 7))
    #expect(queue.room == 16_000 - 7)
    _ = try queue.enqueue(Self.buffer(7, 2))
    #expect(read(64, of: queue) == [4, 5, 6, 7, 8])
    #expect(!queue.truncate(from: 5))
  }

  @Test func `a full queue takes nothing, and asks when it is read`() async throws {
    let queue = try Self.queue()
    _ = try queue.enqueue(Self.buffer(0, 16_000))
    #expect(throws: TuttiError.queueIsFull) { try queue.enqueue(Self.buffer(16_000, 1)) }
    async let room = queue.waitForRoom()
    queue.begin(at: 0)
    #expect(read(16_000, of: queue).count == 16_000)
    #expect(await room == 16_000)
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

  @Test func `another format is refused`() throws {
    let queue = try Self.queue()
    let other = try AudioBuffer([0, 0], format: .stereo48k, at: .zero)
    #expect(throws: TuttiError.self) { try queue.enqueue(other) }
    #expect(throws: TuttiError.self) { try AudioBuffer([0], format: .stereo48k, at: .zero) }
    #expect(throws: TuttiError.self) { try PCMFormat(sampleRate: 12_345) }
  }
}
