import Audio
import Clock
import TestSupport
import Testing

@Suite struct FrameRingTests {
  @Test func `frames are found by their place in the stream`() {
    var ring = TestRing()
    #expect(ring.write(1000..<1100) == 100)
    #expect(ring.heard(990..<1110) == ring.expected(990..<1110, present: 1000..<1100))
  }

  @Test func `a run that goes on elsewhere leaves a hole`() {
    var ring = TestRing()
    _ = ring.write(0..<100)
    _ = ring.write(150..<200)
    #expect(ring.heard(100..<150) == ring.expected(100..<150, present: 0..<0))
    #expect(ring.heard(150..<200) == ring.expected(150..<200, present: 150..<200))
  }

  @Test func `a full ring accepts what it has room for, and more once blocks come back`() {
    var ring = TestRing()
    #expect(ring.write(0..<1500) == 1024)
    #expect(ring.write(1024..<1500) == 0)
    ring.release(from: 300)
    #expect(ring.write(1024..<1500) == 256)
    #expect(ring.heard(300..<1280) == ring.expected(300..<1280, present: 300..<1280))
    #expect(ring.heard(0..<256) == ring.expected(0..<256, present: 0..<0))
  }

  @Test func `a cut ends the older generation, and frames of it that come later`() {
    var ring = TestRing()
    _ = ring.write(0..<100)
    ring.update()
    ring.cut(from: 50, generation: 2)
    _ = ring.write(100..<120)
    _ = ring.write(120..<130, generation: 0)
    _ = ring.write(50..<80, generation: 2)
    #expect(ring.generations(0..<130).prefix(50).allSatisfy { $0 == 1 })
    #expect(ring.generations(50..<80).allSatisfy { $0 == 2 })
    #expect(ring.generations(80..<130).allSatisfy { $0 == nil })
  }

  @Test func `two cuts in a row each end what came before them`() {
    var ring = TestRing()
    _ = ring.write(0..<200)
    _ = ring.write(200..<300, generation: 2)
    ring.update()
    ring.cut(from: 100, generation: 2)
    ring.cut(from: 150, generation: 3)
    _ = ring.write(100..<200, generation: 2)
    _ = ring.write(150..<200, generation: 3)
    #expect(ring.generations(0..<100).allSatisfy { $0 == 1 })
    #expect(ring.generations(100..<150).allSatisfy { $0 == 2 })
    #expect(ring.generations(150..<200).allSatisfy { $0 == 3 })
    #expect(ring.generations(200..<300).allSatisfy { $0 == nil })
  }

  @Test func `a second cut before the first leaves nothing of the generation between`() {
    var ring = TestRing()
    ring.cut(from: 100, generation: 2)
    ring.cut(from: 60, generation: 3)
    _ = ring.write(0..<120)
    _ = ring.write(100..<120, generation: 2)
    _ = ring.write(60..<120, generation: 3)
    #expect(ring.generations(0..<60).allSatisfy { $0 == 1 })
    #expect(ring.generations(60..<120).allSatisfy { $0 == 3 })
  }

  @Test func `the older generation is heard until its cut where both are there`() {
    var ring = TestRing()
    _ = ring.write(0..<100)
    ring.cut(from: 70, generation: 2)
    _ = ring.write(40..<100, generation: 2)
    #expect(ring.generations(0..<70).allSatisfy { $0 == 1 })
    #expect(ring.generations(70..<100).allSatisfy { $0 == 2 })
  }

  @Test func `frames that a cut has ended make room behind those still to be heard`() {
    var ring = TestRing()
    #expect(ring.write(0..<1024) == 1024)
    ring.update()
    ring.cut(from: 100, generation: 2)
    ring.release(from: 90)
    #expect(ring.write(100..<2000, generation: 2) == 768)
    #expect(ring.generations(0..<100).allSatisfy { $0 == 1 })
    #expect(ring.generations(100..<868).allSatisfy { $0 == 2 })
  }

  @Test func `generations that were cut are not kept for a playhead that went elsewhere`() {
    var ring = TestRing()
    #expect(ring.write(100_000..<101_024) == 1024)
    ring.update()
    ring.cut(from: 101_000, generation: 2)
    ring.release(from: 5_000)
    #expect(ring.write(5_000..<6_024, generation: 2) == 1024)
  }

  @Test func `with nowhere to play, nothing is released but what was cut`() {
    var ring = TestRing()
    #expect(ring.write(0..<1024) == 1024)
    ring.cut(from: 0, generation: 2)
    ring.releaseKeepingAll(from: 0)
    #expect(ring.write(0..<1024, generation: 2) == 1024)
    ring.releaseKeepingAll(from: 0)
    #expect(ring.write(1024..<1025, generation: 2) == 0)
  }

  @Test func `ramped cuts are marked on both sides`() {
    var ring = TestRing()
    _ = ring.write(0..<100)
    ring.cut(from: 60, generation: 2, isRamped: true)
    _ = ring.write(60..<100, generation: 2)
    ring.update()
    let old = ring.reader.run(at: 20, limit: 90)
    let new = ring.reader.run(at: 60, limit: 90)
    #expect(old.end == 60 && old.endsRamped && !old.startsRamped)
    #expect(new.end == 90 && new.startsRamped && !new.endsRamped)
  }

  @Test(arguments: UInt64(1)...20)
  func `what is found is what was written and not cut`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var ring = TestRing(capacity: 1 << 14)
    var model: [Int64: [UInt32]] = [:]
    var next: Int64 = 0
    var generation: UInt32 = 1
    for _ in 0..<60 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        next += Int64.random(in: 1...20, using: &random)
      case 1:
        let from = next - Int64.random(in: -30...60, using: &random)
        generation += 1
        ring.cut(from: from, generation: generation)
        for (frame, held) in model where frame >= from {
          model[frame] = held.filter { $0 >= generation }
        }
        next = from
      default:
        let count = Int64.random(in: 1...12, using: &random)
        let written = ring.write(next..<next + count, generation: generation)
        for frame in next..<next + Int64(written) { model[frame, default: []].append(generation) }
        next += Int64(written)
      }
      let range = next - 200..<next + 50
      #expect(ring.generations(range) == range.map { model[$0]?.min() })
    }
  }

  @Test func `a writer and a reader on two threads agree`() async {
    let ring = FrameRing(minimumCapacity: 8192, channelCount: 2)
    let total: Int64 = 200_000
    await withTaskGroup(of: Int.self) { group in
      group.addTask { await Self.writeAll(total, to: ring) }
      group.addTask { await Self.countWrong(total, in: ring) }
      for await wrong in group { #expect(wrong == 0) }
    }
  }

  private static func writeAll(_ total: Int64, to ring: FrameRing) async -> Int {
    var random = SplitMix64(seed: 7)
    var writer = FrameRingWriter(ring)
    var next: Int64 = 0
    while next < total {
      let count = min(Int64.random(in: 1...300, using: &random), total - next)
      let frames = TestRing.samples(next..<next + count, generation: 1)
      let written = writer.write(frames.span, at: next, generation: 1)
      next += Int64(written)
      // Leave a hole now and then.
      if written == Int(count), next % 7 == 0, next + 5 < total { next += 5 }
      await Task.yield()
    }
    return 0
  }

  /// Returns the number of frames that were found but differ from those written.
  private static func countWrong(_ total: Int64, in ring: FrameRing) async -> Int {
    var reader = FrameRingReader(ring)
    var wrong = 0
    var next: Int64 = 0
    var samples = [Float](repeating: 0, count: 2 * 64)
    while next < total {
      reader.update()
      let run = reader.run(at: next, limit: min(next + 64, total))
      if let place = run.place {
        let count = Int(run.end - next)
        samples.withUnsafeMutableBufferPointer {
          reader.copy(from: place, count: count, into: $0.baseAddress!)
        }
        let expected = TestRing.samples(next..<run.end, generation: 1)
        if Array(samples[..<(2 * count)]) != expected { wrong += 1 }
        next = run.end
      } else if run.end < min(next + 64, total) || reader.run(at: next, limit: total).end < total {
        next = run.end
      }
      reader.beginRelease()
      reader.keep(from: next)
      reader.endRelease()
      await Task.yield()
    }
    return wrong
  }
}

/// A ring of at least four blocks with two channels: the first holds the frame's place, the second its
/// generation.
private struct TestRing: ~Copyable {
  var writer: FrameRingWriter
  var reader: FrameRingReader

  init(capacity: Int = 1000) {
    let ring = FrameRing(minimumCapacity: capacity, channelCount: 2)
    writer = FrameRingWriter(ring)
    reader = FrameRingReader(ring)
  }

  static func samples(_ frames: Range<Int64>, generation: UInt32) -> [Float] {
    frames.flatMap { [Float($0 % 100_000), Float(generation)] }
  }

  mutating func write(_ frames: Range<Int64>, generation: UInt32 = 1) -> Int {
    let samples = Self.samples(frames, generation: generation)
    return writer.write(samples.span, at: frames.lowerBound, generation: generation)
  }

  mutating func update() { reader.update() }

  mutating func cut(from frame: Int64, generation: UInt32, isRamped: Bool = false) {
    reader.apply(FrameCut(from: frame, generation: generation, isRamped: isRamped))
  }

  mutating func release(from frame: Int64) {
    reader.update()
    reader.beginRelease()
    reader.keep(from: frame)
    reader.endRelease()
  }

  mutating func releaseKeepingAll(from generation: UInt32) {
    reader.update()
    reader.beginRelease()
    reader.keepAll(ofGenerationsFrom: generation)
    reader.endRelease()
  }

  /// Returns place and generation of each frame that is found, interleaved; nil for missing ones.
  mutating func heard(_ frames: Range<Int64>) -> [[Float]?] {
    reader.update()
    var found: [[Float]?] = []
    var next = frames.lowerBound
    while next < frames.upperBound {
      let run = reader.run(at: next, limit: frames.upperBound)
      let count = Int(run.end - next)
      if let place = run.place {
        var samples = [Float](repeating: 0, count: 2 * count)
        samples.withUnsafeMutableBufferPointer {
          reader.copy(from: place, count: count, into: $0.baseAddress!)
        }
        found += (0..<count).map { [samples[2 * $0], samples[2 * $0 + 1]] }
      } else {
        found += [[Float]?](repeating: nil, count: count)
      }
      next = run.end
    }
    return found
  }

  mutating func generations(_ frames: Range<Int64>) -> [UInt32?] {
    heard(frames).map { $0.map { UInt32($0[1]) } }
  }

  func expected(_ frames: Range<Int64>, present: Range<Int64>) -> [[Float]?] {
    frames.map { present.contains($0) ? [Float($0 % 100_000), 1] : nil }
  }
}
