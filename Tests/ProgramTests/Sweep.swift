import Foundation
import TestSupport
import Testing

/// A tone whose frequency rises all the time, so that each moment of a recording tells which moment of the file it is.
enum Sweep {
  private static let amplitude = 0.5
  /// Hz at the beginning, and more Hz a second.
  private static let (first, slope) = (300.0, 6.0)

  /// In radians, `seconds` after the beginning.
  fileprivate static func phase(_ seconds: Double) -> Double {
    2 * .pi * (first * seconds + slope * seconds * seconds / 2)
  }

  fileprivate static func frequency(_ seconds: Double) -> Double { first + slope * seconds }

  /// Mono with 16 bits.
  static func write(rate: Int, seconds: Int, to name: String, in folder: TemporaryFolder) throws
    -> String
  {
    var recording = Recording(rate: rate, channels: 1, frames: 0)
    recording.samples = (0..<rate * seconds).map { frame in
      Int32((sin(phase(Double(frame) / Double(rate))) * amplitude * 32_767).rounded())
    }
    return try recording.write(to: name, in: folder)
  }
}

/// A receiver's recording of a sweep.
struct SweepRecording {
  private let sound: RecordedSound
  /// The recorded frame at which the file's first one would sound.
  private(set) var origin = 0.0
  /// The first and the last recorded frames that sound.
  let sounding: Range<Int>

  init(_ path: String) throws {
    sound = try RecordedSound(path)
    sounding = sound.sounding.indices
    let block = sounding.lowerBound + sound.rate
    // Where it joins late, up to a second of the file is missing.
    let places = stride(from: 0, to: sound.rate, by: 8).map { Double(sounding.lowerBound - $0) }
    let found = places.max { look(block, from: $0).amplitude < look(block, from: $1).amplitude }
    origin = try #require(found)
    for _ in 0..<3 { origin += look(block, from: origin).late }
  }

  /// Returns the position in the file, in seconds, that is heard in a recorded frame.
  func position(atFrame frame: Double) -> Double { (frame - origin) / Double(sound.rate) }

  /// Returns how loud a tenth of a second is from `frame` on, compared with the sweep that begins at `origin`, and by how
  /// many frames it is late.
  private func look(_ frame: Int, from origin: Double) -> (amplitude: Double, late: Double) {
    let (rate, step) = (Double(sound.rate), 4)
    var (cosine, sine, count) = (0.0, 0.0, 0)
    for index in stride(from: frame, to: frame + sound.rate / 10, by: step) {
      let phase = Sweep.phase((Double(index) - origin) / rate)
      let sample = Double(sound.left[index])
      (sine, cosine, count) = (sine + sample * sin(phase), cosine + sample * cos(phase), count + 1)
    }
    let amplitude = 2 * (sine * sine + cosine * cosine).squareRoot() / Double(count)
    let frequency = Sweep.frequency((Double(frame) - origin) / rate + 0.05)
    return (amplitude, -atan2(cosine, sine) / (2 * .pi * frequency) * rate)
  }

  /// Expects each frame once and in its place, up to the file's end after `seconds`.
  func expectAll(seconds: Int, _ location: SourceLocation = #_sourceLocation) {
    let rate = sound.rate
    #expect(sound.gaps(atLeast: rate / 1_000).isEmpty, "silence", sourceLocation: location)
    let end = position(atFrame: Double(sounding.upperBound))
    #expect(abs(end - Double(seconds)) < 0.002, "ends at \(end)", sourceLocation: location)
    // A machine that is busy at the start joins late.
    let begin = position(atFrame: Double(sounding.lowerBound))
    #expect(begin < 0.7, "begins at \(begin)", sourceLocation: location)
    var worst = 0.0
    for frame in stride(
      from: sounding.lowerBound + rate / 10, to: sounding.upperBound - rate / 5, by: rate / 20)
    {
      let (amplitude, late) = look(frame, from: origin)
      let seconds = position(atFrame: Double(frame))
      worst = max(worst, abs(late))
      #expect(abs(amplitude - 0.5) < 0.01, "\(amplitude) at \(seconds) s", sourceLocation: location)
      // A frame left out or heard twice stays so to the end; the rooms' steering moves by less. A busy machine's room
      // starts a little off and slides into place; no room may sound further off than 100 µs.
      let limit = seconds < 1 ? 100e-6 * Double(rate) : 0.95
      #expect(
        abs(late) < limit, "late by \(late) frames at \(seconds) s", sourceLocation: location)
    }
    print("   worst", worst, "frames, from", begin, "to", end)
  }
}
