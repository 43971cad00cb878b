import Foundation

/// A change from one tone to another, compared with an ideal cross-fade of both.
struct CrossFade: CustomStringConvertible {
  /// Power of what differs from the ideal one in 20 ms, in dB of the old tone.
  private(set) var error = 0.0
  /// Where the ideal one begins, in frames after the place that was asked for.
  private(set) var shift = 0.0
  /// The longest silence in these 20 ms, in frames.
  private(set) var silence = 0
  let levels: (old: Double, new: Double)
  /// How far the two are from pure tones, in the same measure: stretched sound is none.
  let residual: Double

  /// - Parameters:
  ///   - before: frequency of the old tone, in Hz.
  ///   - after: frequency of the new one.
  init(_ heard: [Double], near place: Int, from before: Double, to after: Double) {
    let old = KnownTone(heard, place - 2_900..<place - 300, before)
    let new = KnownTone(heard, place + 600..<place + 3_200, after)
    levels = (old.level, new.level)
    residual = 10 * log10(max(old.residual, new.residual) / (old.level * old.level / 2))
    let around = place - 480..<place + 480
    // The cut lies at a whole frame of the stream, which sounds somewhere between two of the room's.
    let tried = stride(from: -3.0, through: 3, by: 1.0 / 32).map { shift in
      let power = around.reduce(0.0) { sum, frame in
        let share = Self.raisedCosine((Double(frame - place) - shift) / 240)
        let ideal = old.sample(frame) * (1 - share) + new.sample(frame) * share
        return sum + (heard[frame] - ideal) * (heard[frame] - ideal)
      }
      return (shift: shift, error: 10 * log10(power / 960 / (old.level * old.level / 2)))
    }
    if let best = tried.min(by: { $0.error < $1.error }) { (shift, error) = best }
    var run = 0
    for frame in around {
      run = abs(heard[frame]) < 1e-4 ? run + 1 : 0
      silence = max(silence, run)
    }
  }

  var description: String {
    "\(error) dB, \(shift) frames late, \(silence) frames silent, \(levels), \(residual) dB impure"
  }

  /// The shape of the rooms' fades.
  private static func raisedCosine(_ progress: Double) -> Double {
    0.5 - 0.5 * cos(.pi * min(max(progress, 0), 1))
  }
}

/// A tone of known frequency, as it is heard in a stretch of frames.
///
/// A room steers its rate by some millionths, so the fit finds how phase and level move, too.
private struct KnownTone {
  private let center: Double
  private let turn: Double
  private let parts: [Double]
  /// Power of what is not the tone.
  private(set) var residual = 0.0

  init(_ heard: [Double], _ frames: Range<Int>, _ frequency: Double) {
    center = Double(frames.lowerBound + frames.upperBound) / 2
    turn = 2 * .pi * frequency / 48_000
    var rows = [[Double]](repeating: [Double](repeating: 0, count: 5), count: 4)
    for frame in frames {
      let known = Self.parts(at: Double(frame) - center, turn)
      for i in 0..<4 {
        for j in 0..<4 { rows[i][j] += known[i] * known[j] }
        rows[i][4] += known[i] * heard[frame]
      }
    }
    parts = Self.solved(rows)
    residual =
      frames.reduce(0.0) { sum, frame in
        let error = heard[frame] - sample(frame)
        return sum + error * error
      } / Double(frames.count)
  }

  private static func parts(at place: Double, _ turn: Double) -> [Double] {
    let (s, c) = (sin(turn * place), cos(turn * place))
    return [s, c, place / 1_000 * s, place / 1_000 * c]
  }

  /// Gaussian elimination; the rows are positive definite.
  private static func solved(_ rows: [[Double]]) -> [Double] {
    var rows = rows
    for i in rows.indices {
      let pivot = rows[i][i]
      for column in i...rows.count { rows[i][column] /= pivot }
      for other in rows.indices where other != i {
        let factor = rows[other][i]
        for column in i...rows.count { rows[other][column] -= factor * rows[i][column] }
      }
    }
    return rows.map { $0[rows.count] }
  }

  var level: Double { (parts[0] * parts[0] + parts[1] * parts[1]).squareRoot() }

  func sample(_ frame: Int) -> Double {
    let known = Self.parts(at: Double(frame) - center, turn)
    return zip(parts, known).reduce(0) { $0 + $1.0 * $1.1 }
  }
}
