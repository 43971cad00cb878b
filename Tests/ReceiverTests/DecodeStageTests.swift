import Audio
import Clock
import Testing
import WireProtocol

@testable import Receiver

@Suite struct DecodeStageTests {
  /// True if all frames from 0 to `end` exist.
  private static func isFilled(_ reader: borrowing FrameRingReader, upTo end: Int64) -> Bool {
    var frame: Int64 = 0
    while frame < end {
      let run = reader.run(at: frame, limit: end)
      guard run.place != nil, run.end > frame else { return false }
      frame = run.end
    }
    return true
  }

  private static func stage(
    ring: FrameRing, rate: Int = TestReceiver.rate
  ) -> DecodeStage {
    DecodeStage(
      makeDecoder: { (format) throws(CodecError) in try PCMDecoder(format: format) }, ring: ring,
      device: AudioFormat(sampleRate: rate, channelCount: ring.channelCount))
  }

  /// Decodes media time 0 to 60 ms, in three packets.
  private static func decode(
    _ stage: DecodeStage, format: StreamFormat = TestReceiver.format, count: Int = 3
  ) throws {
    for number in 0..<count {
      #expect(stage.isReadyForMore())
      try stage.decode(
        TestReceiver.packet(number, startsRun: number == 0, endsStream: number == count - 1),
        format: format, generation: 0)
    }
    #expect(stage.isReadyForMore())
  }

  @Test func `frames come to the place in the ring that their media time says`() throws {
    let ring = FrameRing(minimumCapacity: 8192, channelCount: 2)
    try Self.decode(Self.stage(ring: ring))
    var reader = FrameRingReader(ring)
    reader.update()
    let (isFilled, isMore) = (
      Self.isFilled(reader, upTo: 2880), Self.isFilled(reader, upTo: 2880 + 1)
    )
    #expect(isFilled && !isMore)
  }

  @Test func `another rate fills the same span of time`() throws {
    let ring = FrameRing(minimumCapacity: 8192, channelCount: 2)
    try Self.decode(Self.stage(ring: ring, rate: 44_100))
    var reader = FrameRingReader(ring)
    reader.update()
    let (isFilled, isMore) = (
      Self.isFilled(reader, upTo: 2646), Self.isFilled(reader, upTo: 2646 + 1)
    )
    #expect(isFilled && !isMore)
  }

  @Test func `a full ring holds decoding up and loses nothing`() throws {
    let ring = FrameRing(minimumCapacity: 1024, channelCount: 2)
    let stage = Self.stage(ring: ring)
    try stage.decode(
      TestReceiver.packet(0, startsRun: true), format: TestReceiver.format, generation: 0)
    #expect(stage.isReadyForMore())
    try stage.decode(TestReceiver.packet(1), format: TestReceiver.format, generation: 0)
    #expect(!stage.isReadyForMore())
    #expect(!stage.isReadyForMore())
    stage.reset()
    #expect(stage.isReadyForMore())
  }

  @Test func `a broken packet ends the run, and the next begins another`() throws {
    let ring = FrameRing(minimumCapacity: 8192, channelCount: 2)
    let stage = Self.stage(ring: ring)
    var broken = TestReceiver.packet(0, startsRun: true)
    broken.encoded.payload = [1]
    #expect(throws: CodecError.self) {
      try stage.decode(broken, format: TestReceiver.format, generation: 0)
    }
    try stage.decode(TestReceiver.packet(1), format: TestReceiver.format, generation: 0)
    #expect(stage.isReadyForMore())
    var reader = FrameRingReader(ring)
    reader.update()
    let places = [reader.run(at: 959, limit: 960).place, reader.run(at: 960, limit: 961).place]
    #expect(places.map { $0 == nil } == [true, false])
  }

  @Test func `fewer frames than promised, or only skipped ones, do no harm`() throws {
    let stage = Self.stage(ring: FrameRing(minimumCapacity: 8192, channelCount: 2))
    for (skipped, count, bytes) in [(65_536, 1, 1920), (0, 65_536, 2), (959, 960, 1920)] {
      var packet = TestReceiver.packet(0, startsRun: true)
      packet.encoded = EncodedPacket(
        payload: [UInt8](repeating: 0, count: bytes), skippedFrames: skipped, frameCount: count)
      try stage.decode(packet, format: TestReceiver.format, generation: 0)
      #expect(stage.isReadyForMore())
    }
  }

  /// Converts a ramp from 8 kHz to 48 kHz, from frame 800 on. With the skipped frames before it, it begins as if it had
  /// sounded all along.
  @Test(arguments: [true, false])
  func `skipped frames are what a converter looks back on`(arePackets: Bool) throws {
    let format = StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 8_000, channelCount: 2), sampleType: .float32)
    func payload(_ frames: Range<Int>) -> [UInt8] {
      frames.flatMap { frame -> [UInt8] in
        let bits = Float(Double(frame) * 0.001).bitPattern
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        return bytes + bytes
      }
    }
    let ring = FrameRing(minimumCapacity: 16_384, channelCount: 2)
    let stage = Self.stage(ring: ring, rate: 48_000)
    let encoded =
      arePackets
      ? [
        EncodedPacket(payload: payload(-1_400..<600), frameCount: 0),
        EncodedPacket(payload: payload(600..<800), skippedFrames: 200, frameCount: 0),
        EncodedPacket(payload: payload(800..<1_600), frameCount: 800),
      ]
      : [EncodedPacket(payload: payload(-1_400..<1_600), skippedFrames: 2_200, frameCount: 800)]
    for (number, packet) in encoded.enumerated() {
      try stage.decode(
        AudioPacket(
          generation: 0, sequence: UInt64(number), mediaTime: MediaTime(flicks: 70_560_000),
          formatID: 0, startsRun: number == 0, endsStream: false, encoded: packet),
        format: format, generation: 0)
    }
    #expect(stage.isReadyForMore())
    var reader = FrameRingReader(ring)
    reader.update()
    #expect(reader.run(at: 4_799, limit: 4_800).place == nil)
    let run = reader.run(at: 4_800, limit: 4_900)
    let place = try #require(run.place)
    var samples = [Float](repeating: 0, count: 200)
    samples.withUnsafeMutableBufferPointer { out in
      if let start = out.baseAddress { reader.copy(from: place, count: 100, into: start) }
    }
    for frame in 0..<100 {
      let expected = Float(Double(4_800 + frame) / 6 * 0.001)
      #expect(abs(samples[2 * frame] - expected) < 1e-3, "\(frame): \(samples[2 * frame])")
    }
  }

  @Test func `channels fit the device's`() {
    #expect(ChannelFit.fit([1, 2][...], from: 1, to: 2) == [1, 1, 2, 2])
    #expect(ChannelFit.fit([1, 3, 5, 7][...], from: 2, to: 1) == [2, 6])
    #expect(ChannelFit.fit([1, 2, 3, 4, 5, 6][...], from: 6, to: 4) == [1, 2, 3, 4])
    #expect(ChannelFit.fit([1, 2][...], from: 2, to: 4) == [1, 2, 0, 0])
    #expect(ChannelFit.fit([][...], from: 3, to: 2).isEmpty)
  }

  /// Letters say where each channel is: left, right, centre, and low frequencies, which are left out.
  @Test(arguments: ["LRC", "LRLR", "LRCLR", "LRC-LR", "LRC-CLR", "LRC-LRLR"])
  func `more channels than two are heard on their sides, within full scale`(places: String) {
    let count = places.count
    for (channel, place) in places.enumerated() {
      let frame = (0..<count).map { Float($0 == channel ? 1 : 0) }
      let heard = ChannelFit.fit(frame[...], from: count, to: 2)
      #expect((heard[0] > 0.2) == "LC".contains(place), "\(place): \(heard)")
      #expect((heard[1] > 0.2) == "RC".contains(place), "\(place): \(heard)")
      let mono = ChannelFit.fit(frame[...], from: count, to: 1)
      #expect(abs(mono[0] - (heard[0] + heard[1]) / 2) < 1e-6)
    }
    let all = ChannelFit.fit([Float](repeating: -1, count: count)[...], from: count, to: 2)
    #expect(all.allSatisfy { abs($0 + 1) < 1e-6 }, "\(all)")
  }
}
