import Foundation
import TestSupport
import Testing

/// A sine of 440 Hz in all channels. A recording of it shows each frame that is missing, doubled or wrong.
enum Tone {
  static let frequency = 440.0
  static let amplitude = 0.5

  /// Raw samples of 16 bits.
  static func samples(rate: Int, frames: Int, channels: Int = 2) -> [UInt8] {
    (0..<frames).flatMap { frame in
      let value = sin(2 * Double.pi * frequency * Double(frame) / Double(rate)) * amplitude
      let sample = UInt16(bitPattern: Int16((value * 32768).rounded()))
      return Array(repeating: [UInt8(sample & 0xFF), UInt8(sample >> 8)], count: channels)
        .flatMap { $0 }
    }
  }

  /// A WAV file of whole seconds, which are whole periods, so that one file continues another.
  static func wave(rate: Int, seconds: Double, channels: Int = 2) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let body = samples(rate: rate, frames: Int(seconds * Double(rate)), channels: channels)
    let format =
      little(1, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * 2, 4)
      + little(channels * 2, 2) + little(16, 2)
    return Array("RIFF".utf8) + little(36 + body.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
      + format + Array("data".utf8) + little(body.count, 4) + body
  }
}

/// A receiver's recording: stereo floats, of which the left channel is used.
struct ToneRecording {
  let rate: Int
  /// The samples from the first sound to the last.
  let sounding: ArraySlice<Float>

  init(rate: Int, sounding: ArraySlice<Float>) {
    self.rate = rate
    self.sounding = sounding
  }

  init(_ path: String) throws {
    let recording = try RecordedSound(path)
    (rate, sounding) = (recording.rate, recording.sounding)
  }

  var seconds: Double { Double(sounding.count) / Double(rate) }

  /// Returns for each tenth of a second, except the first and the last: the tone's amplitude, its phase in periods
  /// relative to a tone that never stops, and the power of the rest relative to the tone.
  func blocks() -> [(amplitude: Double, phase: Double, rest: Double)] {
    let length = rate / 10
    let starts = stride(from: length, to: sounding.count - 2 * length, by: length)
    return starts.map { start in
      let block = sounding.dropFirst(start).prefix(length)
      var (cosine, sine, power) = (0.0, 0.0, 0.0)
      for (offset, sample) in block.enumerated() {
        let angle = 2 * Double.pi * Tone.frequency * Double(start + offset) / Double(rate)
        cosine += Double(sample) * cos(angle) * 2 / Double(length)
        sine += Double(sample) * sin(angle) * 2 / Double(length)
        power += Double(sample * sample) * 2 / Double(length)
      }
      let tone = cosine * cosine + sine * sine
      return (sqrt(tone), atan2(cosine, sine) / (2 * .pi), max(0, power - tone) / tone)
    }
  }
}

extension ToneRecording {
  /// Returns the phase of each tenth of a second, except the first and the last, in periods relative to a tone that
  /// never stops.
  ///
  /// - Parameter origin: number of frames of the tone before the first of `samples`.
  static func phases(of samples: ArraySlice<Float>, _ rate: Int, at origin: Int = 0) -> [Double] {
    let part = ToneRecording(rate: rate, sounding: samples)
    let turns = Tone.frequency * Double(origin) / Double(rate)
    return part.blocks().map { $0.phase - turns }
  }
}

/// Expects one tone of this length with no frame missing, doubled or wrong. `flaw` is the largest part that is not
/// the tone, as a power ratio: resampling and 16 bits leave 1e-7, steering by half a microsecond 1e-5, a wrong frame
/// 1e-4, lossy codecs more. `tolerance` is that of the amplitude, and `steering` how far the tone may move, in
/// periods.
func expectOneTone(
  _ recording: ToneRecording, seconds: Double, flaw: Double = 2e-5,
  tolerance: Double = 0.005, steering: Double = 0.008, _ location: SourceLocation = #_sourceLocation
) {
  // The first and the last samples of a sine are silent, and ramps add some more silence. A machine that is busy at
  // the start joins late, but in sync.
  #expect((seconds - 0.5...seconds + 0.001).contains(recording.seconds), sourceLocation: location)
  let blocks = recording.blocks()
  #expect(blocks.count > Int(seconds * 10) - 9, sourceLocation: location)
  for (index, block) in blocks.enumerated() {
    #expect(
      abs(block.amplitude - Tone.amplitude) < tolerance, "block \(index)", sourceLocation: location)
    #expect(block.rest < flaw, "block \(index)", sourceLocation: location)
    // A hundredth of a period is a frame at 44.1 kHz. Steering moves the tone by some µs, more on a busy machine.
    #expect(
      abs(block.phase - blocks[0].phase) < steering, "block \(index)", sourceLocation: location)
  }
}
