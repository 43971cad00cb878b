import Audio
import Clock
import TestSupport
import Testing

@testable import Sender

@Suite struct EncoderRunTests {
  private static func run(
    from input: Int = 48_000, to output: Int = 48_000, start: MediaTime = .zero
  ) -> EncoderRun {
    let shape = SourceShape(
      format: AudioFormat(sampleRate: input, channelCount: 1), sampleType: .float32,
      isLossless: true)
    let encoder = PCMEncoder(
      audio: AudioFormat(sampleRate: output, channelCount: 1), sampleType: .float32)
    return EncoderRun(shape: shape, encoder: encoder, formatID: 5, generation: 0, start: start)
  }

  @Test func `the newest packet is held back, so that the last can be marked`() throws {
    var run = Self.run()
    let first = try run.encode([Float](repeating: 0, count: 960))
    #expect(first.isEmpty)
    let second = try run.encode([Float](repeating: 0, count: 960))
    #expect(second.count == 1)
    let last = try run.finish(endsStream: true)
    #expect(last.map(\.endsStream) == [true])
    #expect(last.map(\.startsRun) == [false])
    #expect(last.map(\.formatID) == [5])
  }

  @Test func `a run begins at the next whole frame of its rate`() {
    #expect(Self.run(start: MediaTime(flicks: 1)).inputEnd == MediaTime(flicks: 14_700))
    #expect(Self.run(start: MediaTime(flicks: 14_700)).inputEnd == MediaTime(flicks: 14_700))
  }

  @Test func `a run without frames has no packets`() throws {
    var run = Self.run()
    let packets = try run.finish(endsStream: true)
    #expect(packets.isEmpty)
  }

  @Test func `packets join, whatever the blocks`() throws {
    var random = SplitMix64(seed: 3)
    var run = Self.run()
    var packets: [ProducedPacket] = []
    for _ in 0..<50 {
      packets += try run.encode([Float](repeating: 0.5, count: random.pick(0...3000)))
    }
    packets += try run.finish(endsStream: false)
    for (one, next) in zip(packets, packets.dropFirst()) {
      #expect(next.mediaTime == one.mediaTime + one.duration)
    }
    #expect(packets.filter(\.startsRun).count == 1)
    #expect(run.outputEnd == run.inputEnd)
  }

  @Test(arguments: [(44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (11_025, 192_000)])
  func `a conversion of the rate keeps the length`(_ rates: (Int, Int)) throws {
    var run = Self.run(from: rates.0, to: rates.1)
    var packets: [ProducedPacket] = []
    for _ in 0..<9 { packets += try run.encode([Float](repeating: 0.5, count: 1001)) }
    packets += try run.finish(endsStream: true)
    let difference = run.outputEnd - run.inputEnd
    let frame = MediaDuration(frames: 1, at: rates.1)
    #expect(difference >= .zero)
    #expect(difference < frame)
    #expect(packets.allSatisfy { $0.mediaTime.flicks % frame.flicks == 0 })
    #expect(packets.filter(\.endsStream).count == 1)
  }
}
