import Foundation

/// The left channel of a receiver's recording with `--output wav:`, which has stereo floats.
package struct RecordedSound {
  /// Sample rate in Hz.
  package let rate: Int
  package let left: [Float]

  package init(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    guard bytes.count > 58 else { throw Missing(description: "no recording in \(path)") }
    rate = bytes[24..<28].reversed().reduce(0) { $0 << 8 | Int($1) }
    left = bytes[58...].withUnsafeBytes { body in
      stride(from: 0, to: body.count - 7, by: 8).map {
        body.loadUnaligned(fromByteOffset: $0, as: Float.self)
      }
    }
  }

  /// The samples from the first sound to the last.
  package var sounding: ArraySlice<Float> {
    let first = left.firstIndex { abs($0) > 1e-6 } ?? 0
    let last = left.lastIndex { abs($0) > 1e-6 } ?? 0
    return left[first...max(first, last)]
  }

  /// Stretches of silence between sounds, of at least `shortest` frames.
  package func gaps(atLeast shortest: Int) -> [Range<Int>] {
    var gaps: [Range<Int>] = []
    var start: Int?
    for (index, sample) in sounding.indices.lazy.map({ ($0, left[$0]) }) {
      if abs(sample) <= 1e-6 {
        start = start ?? index
      } else if let begun = start {
        if index - begun >= shortest { gaps.append(begun..<index) }
        start = nil
      }
    }
    return gaps
  }
}
