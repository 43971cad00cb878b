import Audio
import Clock
import Dispatch
import LinuxIO
import Synchronization
import Testing

@testable import Driver
@testable import Sender

/// Sources that hang where nothing can interrupt them, like the C library's look-up of a name.
private final class Hang: Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let released = DispatchSemaphore(value: 0)
  private let threads = Mutex(0)

  /// Number of threads that hang now.
  var count: Int { threads.withLock { $0 } }

  func hang() {
    threads.withLock { $0 += 1 }
    entered.signal()
    released.wait()
    threads.withLock { $0 -= 1 }
  }

  func awaitEntry() { entered.wait() }
  func release() { released.signal() }
}

private final class Silence: MediaSource {
  let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
  let sampleType = SampleType.int16
  let isLossless = true
  let frameCount: Int64? = 480
  let metadata = ItemMetadata()

  func read(_ count: Int, appendingTo frames: inout [Float]) {}
  func seek(toFrame frame: Int64) {}
}

/// A minute of silence that hangs when it is read for the first time.
private final class SlowSilence: MediaSource {
  let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
  let sampleType = SampleType.int16
  let isLossless = true
  let frameCount: Int64? = 60 * 48_000
  let metadata = ItemMetadata()
  private let hang: Hang
  private var given = 0

  init(_ hang: Hang) { self.hang = hang }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    if given == 0 { hang.hang() }
    let count = min(count, 60 * 48_000 - given)
    given += count
    frames += [Float](repeating: 0, count: count)
  }

  func seek(toFrame frame: Int64) {}
}

/// A producer's thread, in which items called "hang" hang, and those called "slow" when they are read.
private struct Producer {
  let hang = Hang()
  let reactor: Reactor
  let batches: Inbox<ProducedBatch>
  let thread: ProducerThread
  private let counter: Counter

  final class Counter: Sendable {
    let disowned = Atomic<Int>(0)
    let isWaiting = Atomic<Bool>(true)
  }

  init(batchLimit: Int = 64) throws {
    reactor = try Reactor()
    batches = Inbox(limit: batchLimit, waker: reactor.waker)
    let (hang, counter) = (hang, Counter())
    self.counter = counter
    thread = ProducerThread(
      batches: batches,
      reads: ReadControl(
        abandon: {}, resume: {}, end: {},
        isWaiting: { counter.isWaiting.load(ordering: .relaxed) },
        disown: { counter.disowned.add(1, ordering: .relaxed) })
    ) {
      Serializer(
        openSource: { item throws(MediaError) in
          if item.location == "slow" { return SlowSilence(hang) }
          guard item.location == "hang" else { return Silence() }
          hang.hang()
          throw .notFound(path: item.location)
        },
        makeEncoder: { PCMEncoder(audio: $0.format, sampleType: $0.sampleType) })
    }
    try thread.start()
  }

  var disownedCount: Int { counter.disowned.load(ordering: .relaxed) }

  func setWaiting(_ isWaiting: Bool) { counter.isWaiting.store(isWaiting, ordering: .relaxed) }

  func begin(_ location: String, generation: UInt32, at time: LocalTime) {
    thread.produce(
      .begin(
        .init(
          item: PlayItem(id: Int(generation), location: location), position: .zero,
          mediaTime: .zero, generation: generation, continues: false)), at: time)
  }

  /// Sends an order that makes no other one obsolete.
  func finish() { thread.produce(.finish(generation: 0), at: LocalTime(nanoseconds: 0)) }

  /// Returns the generations of the next batches.
  func next(_ count: Int) throws -> [UInt32] { try take(count).map(\.generation) }

  func take(_ count: Int) throws -> [ProducedBatch] {
    var taken: [ProducedBatch] = []
    while taken.count < count {
      taken += batches.take()
      thread.tookBatches()
      if taken.count < count { _ = try reactor.wait(until: nil) }
    }
    return taken
  }
}

@Suite struct ProducerThreadTests {
  @Test func `batches that nobody takes make the producer wait, and none is lost`() throws {
    let producer = try Producer(batchLimit: 2)
    for _ in 1...6 { producer.finish() }
    while producer.batches.hasRoom { _ = try producer.reactor.wait(until: nil) }
    #expect(try producer.next(6).count == 6)
    #expect(producer.batches.droppedCount == 0)
    producer.thread.stop()
  }

  private static let timeout = ProducerThread.timeout

  private func time(_ seconds: Int64) -> LocalTime {
    LocalTime(nanoseconds: seconds * 1_000_000_000)
  }

  @Test func `a thread that does not come back is left behind, and another one works`() throws {
    let producer = try Producer()
    producer.begin("hang", generation: 1, at: time(1))
    producer.hang.awaitEntry()
    #expect(producer.thread.deadline == nil)
    producer.begin("next", generation: 2, at: time(2))
    #expect(producer.thread.deadline == time(2) + Self.timeout)
    producer.thread.replaceIfStuck(at: time(2))
    #expect(producer.disownedCount == 0)
    producer.thread.replaceIfStuck(at: time(2) + Self.timeout)
    #expect(producer.disownedCount == 1)
    #expect(try producer.next(1) == [2])
    // Nobody uses the result of the thread that comes back.
    producer.hang.release()
    producer.begin("last", generation: 3, at: time(9))
    #expect(try producer.next(1) == [3])
    producer.thread.stop()
  }

  @Test func `a portion under way ends where another order makes it obsolete`() throws {
    let producer = try Producer()
    producer.begin("slow", generation: 1, at: time(1))
    producer.thread.produce(.more(.seconds(30), generation: 1), at: time(1))
    producer.hang.awaitEntry()
    producer.begin("next", generation: 2, at: time(2))
    producer.hang.release()
    var batches: [ProducedBatch] = []
    while batches.last?.generation != 2 { batches += try producer.take(1) }
    let frames = batches.flatMap(\.steps).reduce(0) {
      if case .packet(let packet) = $1 { $0 + packet.encoded.frameCount } else { $0 }
    }
    // One read.
    #expect(frames > 0 && frames <= 4096)
    producer.thread.stop()
  }

  @Test func `a thread that computes is waited for`() throws {
    let producer = try Producer()
    producer.setWaiting(false)
    producer.begin("hang", generation: 1, at: time(1))
    producer.hang.awaitEntry()
    producer.begin("next", generation: 2, at: time(2))
    producer.thread.replaceIfStuck(at: time(3))
    #expect(producer.disownedCount == 0)
    #expect(producer.thread.deadline == time(3) + Self.timeout)
    producer.hang.release()
    #expect(try producer.next(2) == [1, 2])
    #expect(producer.thread.deadline == nil)
    producer.thread.stop()
  }

  @Test func `threads that are left behind are bounded, and each that ends makes room`() throws {
    let producer = try Producer()
    let limit = ProducerThread.abandonedLimit
    for number in 1...limit + 1 {
      producer.begin("hang", generation: UInt32(number), at: time(Int64(number)))
      producer.thread.replaceIfStuck(at: time(Int64(number)) + Self.timeout)
      producer.hang.awaitEntry()
    }
    #expect(producer.disownedCount == limit)
    #expect(producer.hang.count == limit + 1)
    producer.begin("next", generation: 99, at: time(100))
    producer.thread.replaceIfStuck(at: time(101))
    #expect(producer.disownedCount == limit)
    // Whichever thread ends, the order is carried out, by the last thread itself or by a new one.
    for _ in 0...limit { producer.hang.release() }
    while try !producer.next(1).contains(99) {}
    producer.thread.stop()
  }
}
