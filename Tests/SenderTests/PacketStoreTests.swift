import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

@Suite struct PacketStoreTests {
  private static let format = StreamFormat(
    codec: .pcm, audio: AudioFormat(sampleRate: 48_000, channelCount: 2), sampleType: .int16)
  private static let length = MediaDuration.milliseconds(20)

  private static func store(_ count: Int) -> PacketStore {
    var store = PacketStore()
    for _ in 0..<count { append(to: &store, at: store.end ?? .zero) }
    return store
  }

  private static func append(to store: inout PacketStore, at time: MediaTime) {
    let packet = AudioPacket(
      generation: 0, sequence: store.nextSequence, mediaTime: time, formatID: 0, startsRun: false,
      endsStream: false, encoded: EncodedPacket(payload: [1, 2, 3], frameCount: 960))
    store.append(packet, format: format, end: time + length)
  }

  private static func time(_ packet: Int) -> MediaTime {
    MediaTime(flicks: Int64(packet) * length.flicks)
  }

  @Test func `a packet is found by its number, and the next one where it is gone`() {
    var store = Self.store(10)
    store.release(before: Self.time(3))
    #expect(store.entry(from: 0)?.sequence == 3)
    #expect(store.entry(from: 5)?.sequence == 5)
    #expect(store.entry(from: 10) == nil)
  }

  @Test func `what was released takes no memory, though its place is not given up yet`() {
    var store = Self.store(1_000)
    let one = store.byteCount / 1_000
    for released in [10, 300, 900] {
      store.release(before: Self.time(released))
      #expect(store.entries.reduce(0) { $0 + $1.bytes.count } == (1_000 - released) * one)
      #expect(store.byteCount == (1_000 - released) * one)
    }
  }

  @Test func `a packet is found by the time that it sounds`() {
    let store = Self.store(10)
    #expect(store.sequence(at: Self.time(4)) == 4)
    #expect(store.sequence(at: Self.time(4) + MediaDuration(flicks: 1)) == 4)
    #expect(store.sequence(at: Self.time(5) - MediaDuration(flicks: 1)) == 4)
    #expect(store.sequence(at: Self.time(100)) == 10)
  }

  @Test func `an empty store finds nothing and answers with the next number`() {
    var store = PacketStore()
    #expect(store.entry(from: 0) == nil)
    #expect(store.sequence(at: .zero) == 0)
    store.cut(from: .zero)
    store.release(before: .zero)
    #expect(store.byteCount == 0)
  }

  @Test func `a cut removes what begins at its time, and numbers go on`() {
    var store = Self.store(10)
    store.cut(from: Self.time(6) + MediaDuration(flicks: 1))
    #expect(store.entry(from: 6)?.sequence == 6)
    #expect(store.entry(from: 7) == nil)
    #expect(store.end == Self.time(6) + MediaDuration(flicks: 1))
    #expect(store.nextSequence == 10)
  }

  @Test func `bytes are counted as they come and go`() {
    var store = Self.store(1000)
    let each = store.byteCount / 1000
    store.release(before: Self.time(600))
    #expect(store.byteCount == 400 * each)
    store.cut(from: Self.time(700))
    #expect(store.byteCount == 100 * each)
    store.release(before: Self.time(2000))
    #expect(store.byteCount == 0)
  }

  /// Compares random appends, cuts and releases with a plain list.
  @Test(arguments: 0..<20) func `searches find what a list finds`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var store = PacketStore()
    var list: [(sequence: UInt64, start: MediaTime)] = []
    for _ in 0..<2000 {
      switch random.next() % 20 {
      case 0:
        let time = Self.time(Int(random.next() % 500))
        store.cut(from: time)
        while let last = list.last, last.start >= time { list.removeLast() }
      case 1:
        let time = list.randomElement(using: &random)?.start ?? .zero
        store.release(before: time)
        list.removeAll { $0.start + Self.length <= time }
      default:
        let start = max(list.last.map { $0.start + Self.length } ?? .zero, store.end ?? .zero)
        list.append((store.nextSequence, start))
        Self.append(to: &store, at: start)
      }
      let number = random.next() % (store.nextSequence + 2)
      #expect(
        store.entry(from: number)?.sequence == list.first { $0.sequence >= number }?.sequence)
      let time = Self.time(Int(random.next() % 500)) + MediaDuration(flicks: 1)
      let expected = list.first { $0.start + Self.length > time }?.sequence
      #expect(store.sequence(at: time) == expected ?? store.nextSequence)
    }
  }

  @Test func `packets of almost nothing count for what they take`() {
    var store = Self.store(1000)
    #expect(store.heldBytes == store.byteCount + 1000 * PacketStore.overheadPerPacket)
    // After the first release, the released places are not freed yet.
    for released in [300, 990] {
      store.release(before: Self.time(released))
      let left = 1000 - released
      #expect(store.heldBytes == store.byteCount + left * PacketStore.overheadPerPacket)
    }
  }
}
