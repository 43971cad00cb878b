import Glibc

/// Two notes before an announcement, so that people listen when it begins. Made here: no file has to be found.
enum Chime {
  /// In Hz: a third down, as doorbells have it.
  private static let pitches = [783.99, 659.26]
  /// In seconds: from one note to the next, and until the last has died away.
  private static let (step, end) = (0.28, 0.85)
  /// Share of full scale, for each note. Both sound at once for a while, and must not clip.
  private static let level: Float = 0.35

  /// Mono, full scale ±1.
  static func sound(sampleRate: Int) -> [Float] {
    let rate = Double(sampleRate)
    var sound = [Float](repeating: 0, count: Int(end * rate))
    for (number, pitch) in pitches.enumerated() {
      let first = Int(Double(number) * step * rate)
      for index in first..<sound.count {
        let time = Double(index - first) / rate
        // The second partial makes it a bell; both begin within 5 ms, and die away.
        let tone = sin(2 * .pi * pitch * time) + 0.3 * sin(4 * .pi * pitch * time)
        let left = min(1, (end * rate - Double(index)) / (0.05 * rate))
        sound[index] += level * Float(tone * min(1, time / 0.005) * exp(-time / 0.18) * left)
      }
    }
    return sound
  }
}
