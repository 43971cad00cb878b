/// Measures the change of a room's rate of playback from each tenth of a second to the next. A listener hears it as
/// wavering pitch; a recording shows it as noise.
package struct RateTrace {
  /// Time between two looks, in seconds.
  package static let interval = 0.1

  /// In 1e-9 per second, without sign; NaN if the room did not play on.
  private var changes: [Float] = []
  private var last: (frame: Int64, position: Double)?
  private var lastRate: Double?

  /// Notes that at the next `interval`, the room sounds stream frame `position` at device frame `frame`; nil if it is
  /// silent.
  mutating func look(_ heard: (frame: Int64, position: Double)?) {
    var rate: Double?
    if let heard, let last, heard.frame > last.frame {
      rate = (heard.position - last.position) / Double(heard.frame - last.frame)
    }
    // A jump of the schedule is no change of pitch.
    if let found = rate, (found - 1).magnitude > 0.01 { rate = nil }
    if let rate, let lastRate {
      changes.append(Float((rate - lastRate).magnitude / Self.interval * 1e9))
    } else {
      changes.append(.nan)
    }
    last = heard
    lastRate = rate
  }

  /// Returns the root mean square of all changes between two true times in seconds, in 1e-9 per second, because a
  /// recording shows their square as noise. NaN if nothing played on.
  func change(from start: Double, to end: Double) -> Float {
    let low = min(max(0, Int(start / Self.interval)), changes.count)
    let high = min(max(low, Int(end / Self.interval)), changes.count)
    let known = changes[low..<high].filter { !$0.isNaN }
    guard !known.isEmpty else { return .nan }
    return (known.reduce(0) { $0 + $1 * $1 } / Float(known.count)).squareRoot()
  }
}
