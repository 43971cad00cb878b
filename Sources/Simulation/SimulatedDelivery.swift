package import Sender

/// Timing of a source's delivery, in true time since the item was opened.
package struct SimulatedDelivery: Sendable {
  package struct Stall: Sendable {
    /// In seconds after the item was opened.
    package var at: Double
    package var seconds: Double

    package init(at: Double, seconds: Double) {
      self.at = at
      self.seconds = seconds
    }
  }

  package var supply: Supply
  /// Seconds of sound per second, while nothing stalls.
  package var rate: Double
  /// Length of the pieces in which the sound arrives, in seconds of sound.
  package var piece: Double
  /// In order of time. Sound due in a stall arrives after it.
  package var stalls: [Stall]

  package init(_ supply: Supply, rate: Double, piece: Double = 0.02, stalls: [Stall] = []) {
    self.supply = supply
    self.rate = rate
    self.piece = piece
    self.stalls = stalls
  }

  /// Returns how many seconds after the item was opened the first `seconds` of its sound are there.
  package func time(of seconds: Double) -> Double {
    var time = (seconds / piece).rounded(.up) * piece / rate
    for stall in stalls where stall.at < time { time += stall.seconds }
    return time
  }
}
