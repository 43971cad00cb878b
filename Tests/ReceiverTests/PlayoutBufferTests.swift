import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

@Suite struct PlayoutBufferTests {
  private static func buffer(bytes: UInt64 = 1 << 24) -> PlayoutBuffer {
    var buffer = PlayoutBuffer(capacity: Capacity(bytes: bytes, duration: .seconds(600)))
    buffer.define(TestReceiver.format, id: 0)
    return buffer
  }

  @discardableResult
  private static func insert(
    _ numbers: Range<Int>, generation: UInt32 = 0, at time: MediaTime? = nil,
    into buffer: inout PlayoutBuffer
  ) -> [PlayoutBuffer.Insertion] {
    numbers.map { number in
      let start = time.map {
        $0 + (TestReceiver.time(number) - TestReceiver.time(numbers.lowerBound))
      }
      return buffer.insert(TestReceiver.packet(number, generation: generation, at: start))
    }
  }

  private static func sequences(_ buffer: inout PlayoutBuffer) -> [UInt64] {
    var found: [UInt64] = []
    while let next = buffer.nextToDecode() { found.append(next.packet.sequence) }
    return found
  }

  @Test func `packets come out in order, each once`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    let again = Self.insert(5..<10, into: &buffer)
    #expect(again.allSatisfy { $0 == .stale })
    #expect(buffer.bufferedUntil == TestReceiver.time(10))
    #expect(buffer.nextSequence == 10)
    #expect(Self.sequences(&buffer) == Array(0..<10))
  }

  @Test func `a packet may begin a frame too early, as where rates join, and no more`() {
    var buffer = Self.buffer()
    buffer.define(
      StreamFormat(
        codec: .pcm, audio: AudioFormat(sampleRate: 44_100, channelCount: 1), sampleType: .int16),
      id: 1)
    // The run ends between two frames of 48 kHz: 441 frames of 44.1 kHz and one more.
    let end = MediaTime(flicks: 442 * 16_000)
    let first = AudioPacket(
      generation: 0, sequence: 0, mediaTime: .zero, formatID: 1, startsRun: true, endsStream: false,
      encoded: EncodedPacket(payload: .init(repeating: 0, count: 884), frameCount: 442))
    let early = MediaTime(flicks: end.flicks / 14_700 * 14_700)
    let taken = [
      buffer.insert(first), buffer.insert(TestReceiver.packet(1, at: early)),
      buffer.insert(TestReceiver.packet(2, at: early + TestReceiver.packetLength)),
    ]
    #expect(taken == [.inserted, .inserted, .inserted])
    _ = buffer.nextToDecode()
    let joined = buffer.nextToDecode()?.packet
    #expect(joined?.mediaTime == early + MediaDuration(flicks: 14_700))
    #expect(joined?.encoded.skippedFrames == 1)
    #expect(joined?.encoded.frameCount == TestReceiver.packetFrames - 1)
    let until = early + TestReceiver.packetLength + TestReceiver.packetLength
    #expect(buffer.bufferedUntil == until)
    let overlapping = buffer.insert(
      TestReceiver.packet(3, at: until - MediaDuration(flicks: 2 * 14_700)))
    #expect(overlapping == .violation("packet 3 begins before the one before it ends"))
  }

  @Test func `bytes are counted as packets come, are released and flushed`() {
    var buffer = Self.buffer()
    Self.insert(0..<1000, into: &buffer)
    let each = buffer.heldBytes / 1000
    #expect(each == 1920 + UInt64(PlayoutBuffer.overheadPerPacket))
    for _ in 0..<600 { _ = buffer.nextToDecode() }
    buffer.release(before: TestReceiver.time(700))
    #expect(buffer.heldBytes == 400 * each)
    #expect(buffer.packetCount == 400)
    _ = buffer.flush(from: TestReceiver.time(650), generation: 1)
    #expect(buffer.heldBytes == 50 * each)
  }

  @Test func `the sender may go back with the first packet of a connection, and with no other`() {
    var buffer = Self.buffer()
    Self.insert(0..<100, into: &buffer)
    for _ in 0..<60 { _ = buffer.nextToDecode() }
    buffer.release(before: TestReceiver.time(50))
    #expect(buffer.heldFrom == TestReceiver.time(50))
    buffer.forgetFormats()
    buffer.define(TestReceiver.format, id: 0)
    #expect(
      Self.insert(20..<23, into: &buffer) == [.insertedAfterGoingBack, .inserted, .inserted])
    #expect(Self.insert(10..<12, into: &buffer) == [.stale, .stale])
    #expect(buffer.heldFrom == TestReceiver.time(20))
    #expect(buffer.heldBytes == 3 * 2112)
    #expect(buffer.bufferedUntil == TestReceiver.time(23))
    #expect(Self.sequences(&buffer) == [20, 21, 22])
  }

  /// A format of eight kilobytes for each empty packet, which no honest sender sends.
  @Test func `what formats take is counted, and bounded like everything else`() {
    var buffer = Self.buffer(bytes: 1 << 20)
    var configuration = [UInt8](repeating: 0, count: 8192)
    var format = TestReceiver.format
    var results: [PlayoutBuffer.Insertion] = []
    for number in 0..<1000 {
      configuration[0] = UInt8(number % 256)
      configuration[1] = UInt8(number / 256)
      format.configuration = configuration
      buffer.define(format, id: UInt16(number % 2))
      var packet = TestReceiver.packet(number, at: .zero)
      packet.formatID = UInt16(number % 2)
      packet.encoded = EncodedPacket(payload: [], frameCount: 0)
      results.append(buffer.insert(packet))
    }
    let taken = results.prefix { $0 == .inserted }.count
    #expect((200...256).contains(taken))
    #expect(buffer.heldBytes >= UInt64(taken * 8192) && buffer.heldBytes <= 2 << 20)
    #expect(buffer.formatCount <= taken + 2)
    _ = buffer.flush(from: .zero, generation: 1)
    #expect(buffer.heldBytes == 0)
    #expect(buffer.formatCount == 2)
  }

  @Test func `of formats that no packet has, one is kept for each identifier`() {
    var buffer = Self.buffer()
    var format = TestReceiver.format
    for number in 0..<1000 {
      format.configuration = [UInt8(number % 256), UInt8(number / 256)]
      buffer.define(format, id: UInt16(number % ProtocolLimits.formats))
    }
    #expect(buffer.formatCount == 256)
  }

  @Test func `a format that is defined again and again is kept once`() {
    var buffer = Self.buffer()
    var format = TestReceiver.format
    format.configuration = [UInt8](repeating: 1, count: 8192)
    for number in 0..<200 {
      buffer.define(format, id: UInt16(number))
      var packet = TestReceiver.packet(number)
      packet.formatID = UInt16(number)
      let result = buffer.insert(packet)
      #expect(result == .inserted)
    }
    #expect(buffer.formatCount == 1)
    #expect(buffer.heldBytes < 200 * 2112 + 9000)
  }

  @Test func `what is not decoded is not released`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    buffer.release(before: TestReceiver.time(100))
    #expect(buffer.packetCount == 10)
    let skipped = buffer.skipLate(before: TestReceiver.time(4))
    #expect(skipped == 4)
    buffer.release(before: TestReceiver.time(100))
    #expect(buffer.packetCount == 6)
  }

  @Test func `more than twice the capacity is not taken`() {
    var buffer = Self.buffer(bytes: 20_000)
    let results = Self.insert(0..<30, into: &buffer)
    #expect(buffer.heldBytes <= 40_000)
    let taken = results.filter { $0 == .inserted }.count
    #expect(results[taken] == .lost(from: TestReceiver.time(taken)))
    #expect(results.dropFirst(taken + 1).allSatisfy { $0 == .stale })
    // There is space again, and the sender goes back.
    _ = buffer.skipLate(before: TestReceiver.time(10))
    buffer.release(before: TestReceiver.time(10))
    let ahead = Self.insert(taken + 1..<30, into: &buffer)
    #expect(ahead.allSatisfy { $0 == .stale })
    let again = Self.insert(taken..<30, into: &buffer)
    #expect(again.first == .inserted)
  }

  @Test func `a large buffer takes a little more than its capacity`() {
    var buffer = Self.buffer(bytes: 5 << 20)
    let results = Self.insert(0..<4_600, into: &buffer)
    #expect(results.contains { if case .lost = $0 { true } else { false } })
    let held = buffer.heldBytes
    #expect(((9 << 20) - 4_096...9 << 20).contains(held))
  }

  /// Simulates the time after an outage: the sender keeps nothing that has sounded, and continues
  /// with current audio.
  @Test func `what was lost and has sounded meanwhile is waited for no more`() {
    var buffer = Self.buffer(bytes: 20_000)
    let results = Self.insert(0..<30, into: &buffer)
    let taken = results.filter { $0 == .inserted }.count
    _ = buffer.skipLate(before: TestReceiver.time(taken))
    buffer.release(before: TestReceiver.time(taken))
    #expect(Self.insert(taken + 5..<taken + 6, into: &buffer) == [.stale])
    buffer.release(before: TestReceiver.time(taken + 1))
    #expect(Self.insert(taken + 5..<taken + 7, into: &buffer) == [.inserted, .inserted])
  }

  @Test func `a flush ends the wait for what was lost`() {
    var buffer = Self.buffer(bytes: 20_000)
    _ = Self.insert(0..<30, into: &buffer)
    let isNew = buffer.flush(from: TestReceiver.time(5), generation: 1)
    #expect(isNew)
    let next = TestReceiver.packet(40, generation: 1, at: TestReceiver.time(5))
    let result = buffer.insert(next)
    #expect(result == .inserted)
  }

  @Test func `a packet of no known format, or between two frames, is corrupt`() {
    var buffer = Self.buffer()
    var packet = TestReceiver.packet(0)
    packet.formatID = 1
    guard case .corrupt = buffer.insert(packet) else {
      Issue.record("taken")
      return
    }
    packet.formatID = 0
    packet.mediaTime = MediaTime(flicks: 7)
    guard case .corrupt = buffer.insert(packet) else {
      Issue.record("taken")
      return
    }
  }

  @Test func `a packet keeps the format that it came with`() {
    var buffer = Self.buffer()
    Self.insert(0..<1, into: &buffer)
    let other = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int24)
    buffer.define(other, id: 0)
    Self.insert(1..<2, into: &buffer)
    buffer.forgetFormats()
    let formats = [buffer.nextToDecode()?.format, buffer.nextToDecode()?.format]
    #expect(formats == [TestReceiver.format, other])
  }

  // MARK: - docs/protocol/flush.md

  @Test func `an older generation is taken before the cut and dropped behind it`() {
    var buffer = Self.buffer()
    Self.insert(0..<5, into: &buffer)
    _ = buffer.flush(from: TestReceiver.time(8), generation: 1)
    let results = Self.insert(5..<10, into: &buffer)
    #expect(results == [.inserted, .inserted, .inserted, .stale, .stale])
    #expect(buffer.bufferedUntil == TestReceiver.time(8))
    let fresh = Self.insert(10..<12, generation: 1, at: TestReceiver.time(8), into: &buffer)
    #expect(fresh == [.inserted, .inserted])
  }

  @Test func `a packet that a cut goes through ends there, whether it came before or after`() {
    let cut = TestReceiver.time(4) + .milliseconds(5)
    for count in [5, 4] {
      var buffer = Self.buffer()
      Self.insert(0..<count, into: &buffer)
      let isNew = buffer.flush(from: cut, generation: 1)
      #expect(isNew)
      let again = Self.insert(4..<5, into: &buffer)
      #expect(again == [count == 4 ? .inserted : .stale])
      #expect(buffer.bufferedUntil == cut)
      let behind = Self.insert(5..<7, generation: 1, at: cut, into: &buffer)
      #expect(behind == [.inserted, .inserted])
      #expect(buffer.bufferedUntil == cut + (TestReceiver.time(2) - .zero))
    }
  }

  @Test func `a newer generation cuts where it begins`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    let results = Self.insert(20..<22, generation: 3, at: TestReceiver.time(4), into: &buffer)
    #expect(
      results == [.insertedAfterImplicitCut(from: TestReceiver.time(4)), .inserted])
    #expect(buffer.generation == 3)
    #expect(Self.sequences(&buffer) == [0, 1, 2, 3, 20, 21])
  }

  @Test func `a flush of the present generation or an older one changes nothing`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    let results = [
      buffer.flush(from: TestReceiver.time(5), generation: 2),
      buffer.flush(from: .zero, generation: 2), buffer.flush(from: .zero, generation: 1),
    ]
    #expect(results == [true, false, false])
    #expect(buffer.packetCount == 5)
  }

  @Test func `two flushes, the second earlier: what the first left goes too`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    _ = buffer.flush(from: TestReceiver.time(8), generation: 1)
    Self.insert(20..<22, generation: 1, at: TestReceiver.time(8), into: &buffer)
    _ = buffer.flush(from: TestReceiver.time(3), generation: 2)
    #expect(buffer.bufferedUntil == TestReceiver.time(3))
    #expect(Self.sequences(&buffer) == [0, 1, 2])
  }

  @Test func `two flushes, the second later: the first's generation keeps what lies between`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    _ = buffer.flush(from: TestReceiver.time(3), generation: 1)
    Self.insert(20..<30, generation: 1, at: TestReceiver.time(3), into: &buffer)
    _ = buffer.flush(from: TestReceiver.time(6), generation: 2)
    #expect(Self.sequences(&buffer) == [0, 1, 2, 20, 21, 22])
    let late = Self.insert(40..<41, at: TestReceiver.time(5), into: &buffer)
    #expect(late == [.stale])
  }

  @Test func `a flush beyond all that is held changes the generation only`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    _ = buffer.flush(from: TestReceiver.time(50), generation: 1)
    #expect(buffer.packetCount == 10)
    #expect(buffer.bufferedUntil == TestReceiver.time(10))
    let results = Self.insert(10..<11, into: &buffer)
    #expect(results == [.inserted])
  }

  @Test func `generations whose cuts are forgotten are not taken any more`() {
    var history = CutHistory()
    for generation in UInt32(1)...40 {
      history.append(generation: generation, from: TestReceiver.time(60 + Int(generation)))
    }
    #expect(history.generation == 40)
    let old = TestReceiver.packet(0, generation: 3, at: .zero)
    let known = TestReceiver.packet(0, generation: 20, at: .zero)
    #expect(!history.admits(old))
    #expect(history.admits(known))
    #expect(!history.admits(TestReceiver.packet(0, generation: 20, at: TestReceiver.time(100))))
  }

  @Test func `a cut takes the place of those behind it, however many come`() {
    var history = CutHistory()
    for generation in UInt32(1)...100 {
      history.append(generation: generation, from: TestReceiver.time(200 - Int(generation)))
    }
    #expect(history.admits(TestReceiver.packet(0, generation: 0, at: TestReceiver.time(99))))
    #expect(!history.admits(TestReceiver.packet(0, generation: 0, at: TestReceiver.time(100))))
  }

  @Test func `decoding goes back to the packet that sounds`() {
    var buffer = Self.buffer()
    Self.insert(0..<10, into: &buffer)
    _ = Self.sequences(&buffer)
    buffer.rewindDecoding(to: TestReceiver.time(4) + MediaDuration(flicks: 1))
    #expect(buffer.upcoming?.mediaTime == TestReceiver.time(4))
    buffer.rewindDecoding(to: TestReceiver.time(-9))
    #expect(buffer.upcoming?.mediaTime == .zero)
  }

  /// With any input, times rise, bytes add up and bounds hold.
  @Test(arguments: 0..<20) func `random packets, flushes and releases keep the order`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var buffer = Self.buffer(bytes: 200_000)
    var number = 0
    var decodedUntil = MediaTime.zero
    for _ in 0..<3000 {
      let time = TestReceiver.time(Int(random.next() % 300))
      switch random.next() % 10 {
      case 0:
        if buffer.flush(from: time, generation: UInt32(random.next() % 2000)) {
          decodedUntil = min(decodedUntil, time)
        }
      case 1: buffer.release(before: time)
      case 2: _ = buffer.skipLate(before: time)
      case 3, 4:
        if let next = buffer.nextToDecode() { decodedUntil = next.packet.mediaTime }
      default:
        number += Int(random.next() % 3)
        _ = buffer.insert(
          TestReceiver.packet(
            number, generation: buffer.generation &- UInt32(random.next() % 2) & 0x7fff_ffff,
            at: random.next() % 4 == 0 ? time : buffer.bufferedUntil))
      }
      #expect(buffer.heldBytes <= 400_000)
      #expect(buffer.heldBytes == UInt64(buffer.packetCount) * 2112)
    }
  }
}
