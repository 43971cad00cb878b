import Audio
import Clock
import Glibc
import Testing
import WireProtocol

@testable import Receiver

/// Tests with one sine that is cut into runs like an album into files. The device must still get one sine.
@Suite struct RunJoinTests {
  /// A run of float PCM: its number of frames, their rate, and the number of frames in a packet.
  struct Run {
    var rate: Int
    var frames: Int
    var packet = 700
    var generation: UInt32 = 0
    /// Frames before the first one that counts: a decoder's priming instead of music.
    var priming = 0
  }

  private static let hertz = 997.0
  private static let amplitude = 0.5

  private static func sine(at flicks: Double) -> Float {
    Float(amplitude * sin(2 * .pi * hertz * flicks / 705_600_000))
  }

  private let device: Int
  private let ring: FrameRing
  private let stage: DecodeStage

  private init(device: Int) {
    self.device = device
    ring = FrameRing(minimumCapacity: 4 * device, channelCount: 2)
    stage = DecodeStage(
      makeDecoder: { (format) throws(CodecError) in try PCMDecoder(format: format) }, ring: ring,
      device: AudioFormat(sampleRate: device, channelCount: 2))
  }

  init() { self.init(device: 48_000) }

  /// Decodes the runs one after the other, from media time 0. Returns the beginning of each run, and the end of the
  /// last.
  private func decode(_ runs: [Run]) throws -> [MediaTime] {
    var bounds: [MediaTime] = []
    var end = MediaTime.zero
    for (number, run) in runs.enumerated() {
      let format = StreamFormat(
        codec: .pcm, audio: AudioFormat(sampleRate: run.rate, channelCount: 2),
        sampleType: .float32)
      let frame = format.audio.duration(ofFrames: 1).flicks
      let start = (end.flicks + frame - 1) / frame
      bounds.append(MediaTime(flicks: start * frame))
      for first in stride(from: 0, to: run.frames, by: run.packet) {
        let count = min(run.packet, run.frames - first)
        let skipped = first == 0 ? run.priming : 0
        let music = (0..<count).map { Self.sine(at: Double((start + Int64(first + $0)) * frame)) }
        let samples = [Float](repeating: 0.25, count: skipped) + music
        let bytes = samples.flatMap { sample in
          let bits = (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> (8 * $0)) }
          return bits + bits
        }
        let time = MediaTime(flicks: (start + Int64(first)) * frame)
        let packet = AudioPacket(
          generation: run.generation, sequence: 0, mediaTime: time, formatID: 0,
          startsRun: first == 0,
          endsStream: number == runs.count - 1 && first + count == run.frames,
          encoded: EncodedPacket(payload: bytes, skippedFrames: skipped, frameCount: count))
        try stage.decode(packet, format: format, generation: run.generation)
        #expect(stage.isReadyForMore())
        end = time + format.audio.duration(ofFrames: count)
      }
    }
    return bounds + [end]
  }

  /// Returns the ring's frames 0..<`count`; nil for missing ones.
  private func read(_ count: Int) -> [Float?] {
    var reader = FrameRingReader(ring)
    reader.update()
    var samples = [Float?](repeating: nil, count: count)
    var out = [Float](repeating: 0, count: 2 * count)
    var frame = 0
    while frame < count {
      let run = reader.run(at: Int64(frame), limit: Int64(count))
      let length = Int(run.end) - frame
      if let place = run.place {
        out.withUnsafeMutableBufferPointer { out in
          if let start = out.baseAddress { reader.copy(from: place, count: length, into: start) }
        }
        for index in 0..<length { samples[frame + index] = out[2 * index] }
      }
      frame += length
    }
    return samples
  }

  /// Returns the largest difference from the sine within 20 ms of a joint, in decibels of the sine; 0 if a frame is
  /// missing.
  private func residual(at time: MediaTime, _ samples: [Float?]) -> Double {
    let frame = Double(705_600_000) / Double(device)
    let centre = Int(Double(time.flicks) / frame)
    let reach = device / 50
    var worst: Float = 0
    for index in max(0, centre - reach)..<min(samples.count, centre + reach) {
      guard let sample = samples[index] else { return 0 }
      worst = max(worst, abs(sample - Self.sine(at: Double(index) * frame)))
    }
    return 20 * log10(Double(worst) / Self.amplitude)
  }

  /// Returns the residual at each joint of the runs.
  private func residuals(_ runs: [Run]) throws -> [Double] {
    let bounds = try decode(runs)
    let frame = Int64(705_600_000 / device)
    let samples = read(Int(bounds[bounds.count - 1].flicks / frame))
    return bounds[1..<runs.count].map { residual(at: $0, samples) }
  }

  @Test(arguments: [44_100, 48_000, 88_200, 96_000, 192_000], [44_100, 48_000, 96_000, 192_000])
  func `where runs of one rate join, nothing is heard`(rate: Int, device: Int) throws {
    let found = try Self(device: device).residuals(
      [8_191, 4_001, 9_000].map { Run(rate: rate, frames: $0 * rate / 44_100) })
    print("   joint", rate, "on", device, found)
    #expect(found.allSatisfy { $0 < -100 }, "\(found)")
  }

  @Test(arguments: [44_100, 48_000, 96_000, 192_000])
  func `where runs of different rates join, nothing is heard`(device: Int) throws {
    let rates = [44_100, 48_000, 88_200, 96_000, 192_000]
    for from in rates {
      let runs = rates.flatMap {
        [Run(rate: from, frames: from * 9 / 50 + 1), Run(rate: $0, frames: $0 * 7 / 50 + 3)]
      }
      let found = try Self(device: device).residuals(runs)
      print("   joint", from, "on", device, found.map { Int(max($0, -300).rounded()) })
      #expect(found.allSatisfy { $0 < -80 }, "\(found)")
    }
  }

  @Test func `a joint needs no priming of the run behind it, and short packets do`() throws {
    let found = try Self(device: 48_000).residuals([
      Run(rate: 44_100, frames: 8_191), Run(rate: 44_100, frames: 9_000, packet: 128, priming: 576),
      Run(rate: 96_000, frames: 9_000, packet: 64, priming: 576),
      Run(rate: 44_100, frames: 9_000, packet: 37),
    ])
    #expect(found.allSatisfy { $0 < -80 }, "\(found)")
  }

  @Test func `runs join across a cut that lies between them, each in its own generation`() throws {
    for rate in [44_100, 96_000] {
      let test = Self(device: 48_000)
      let runs = [
        Run(rate: 44_100, frames: 8_192), Run(rate: rate, frames: 9_000, generation: 1),
      ]
      let bounds = try test.decode(runs)
      let end = Int(bounds[2].flicks / 14_700)
      #expect(test.residual(at: bounds[1], test.read(end)) < -80)
      // After a cut exactly there, frames before it still belong to the old generation, and frames behind it to the new
      // one.
      var reader = FrameRingReader(test.ring)
      reader.update()
      let first = (bounds[1].flicks + 14_699) / 14_700
      reader.apply(FrameCut(from: first, generation: 1, isRamped: false))
      let before = reader.run(at: first - 1, limit: first).place
      let behind = reader.run(at: first, limit: first + 1).place
      let joins = before != nil && behind != nil
      #expect(joins)
      reader.apply(FrameCut(from: first, generation: 2, isRamped: false))
      let isCut =
        reader.run(at: first - 1, limit: first).place != nil
        && reader.run(at: first, limit: first + 1).place == nil
      #expect(isCut)
    }
  }

  @Test func `runs too short to look far into still fill their time`() throws {
    let runs = [44_100, 96_000, 48_000, 192_000, 44_100, 88_200].map { Run(rate: $0, frames: 40) }
    let test = Self(device: 48_000)
    let bounds = try test.decode(runs)
    let samples = test.read(Int(bounds[bounds.count - 1].flicks / 14_700))
    #expect(samples.allSatisfy { ($0 ?? 2).magnitude < 1 })
  }
}
