import Glibc

/// One channel of a sine of amplitude ½. `phase` is in turns, at frame 0.
func sine(hertz: Double, rate: Int, frames: Range<Int>, phase: Double = 0) -> [Float] {
  frames.map { frame in
    // Whole turns are subtracted first, so that the argument keeps its precision.
    let turns = hertz * Double(frame) / Double(rate) + phase
    return Float(0.5 * sin(2 * .pi * (turns - turns.rounded(.down))))
  }
}

/// The sine of a known frequency in a signal, and the rest of the signal without it.
struct SineFit {
  /// Amplitude of the sine.
  var amplitude: Double
  /// Phase in turns, at sample 0.
  var phase: Double
  /// Noise and distortion relative to the sine, in dB; negative.
  var residualDecibels: Double

  /// A least-squares fit of sine, cosine and a constant. `cyclesPerSample` must be exact.
  init(_ samples: some Collection<Float>, cyclesPerSample: Double) {
    let rows = samples.indices.enumerated().map { count, _ in
      let angle = 2 * Double.pi * cyclesPerSample * Double(count)
      return [sin(angle), cos(angle), 1]
    }
    let values = samples.map(Double.init)
    let x = solveLeastSquares(rows, values)
    amplitude = hypot(x[0], x[1])
    phase = atan2(x[1], x[0]) / (2 * .pi)
    var power = 0.0
    for (row, value) in zip(rows, values) {
      let rest = value - row[0] * x[0] - row[1] * x[1] - row[2] * x[2]
      power += rest * rest
    }
    residualDecibels = decibels(
      (power / Double(values.count)).squareRoot() / (amplitude / 2.squareRoot()))
  }
}

func decibels(_ ratio: Double) -> Double { 20 * log10(ratio) }

/// Solves the normal equations of three unknowns by elimination; the columns are nearly orthogonal.
private func solveLeastSquares(_ rows: [[Double]], _ values: [Double]) -> [Double] {
  var m = [[Double]](repeating: [0, 0, 0, 0], count: 3)
  for (row, value) in zip(rows, values) {
    for i in 0..<3 {
      for j in 0..<3 { m[i][j] += row[i] * row[j] }
      m[i][3] += row[i] * value
    }
  }
  for pivot in 0..<3 {
    for i in 0..<3 where i != pivot {
      let factor = m[i][pivot] / m[pivot][pivot]
      for j in 0..<4 { m[i][j] -= factor * m[pivot][j] }
    }
  }
  return (0..<3).map { m[$0][3] / m[$0][$0] }
}
