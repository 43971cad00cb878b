import Audio

/// The time in which two items sound at once: one fades out while the next one fades in. The squares of both gains add
/// up to one, so music of two items that have nothing to do with each other is as loud as before.
struct Overlap {
  /// The end of the item that fades out.
  let end: HeldEnd
  /// Frames of all of the fade, and the number of the next one.
  private let frameCount: Int
  private var frame: Int
  private let begin: Int

  /// - Parameter elapsed: frames of the fade that came before the end's first.
  init(_ end: HeldEnd, elapsed: Int = 0) {
    self.end = end
    (begin, frame, frameCount) = (elapsed, elapsed, elapsed + end.frameCount)
  }

  var isOver: Bool { frame >= frameCount }
  /// True if nothing of it was mixed yet.
  var isUntouched: Bool { frame == 0 }

  /// Mixes the next frames of both items.
  mutating func mix(into frames: inout [Float]) {
    let channels = end.format.channelCount
    var place = 0
    while place < frames.count, !isOver {
      let (rising, falling) = gains
      let from = (frame - begin) * channels
      for channel in 0..<channels {
        frames[place + channel] =
          rising * frames[place + channel] + falling * end.samples[from + channel]
      }
      place += channels
      frame += 1
    }
  }

  /// Returns what is left of the item that fades out, alone.
  mutating func rest() -> [Float] {
    var rest = [Float](repeating: 0, count: (frameCount - frame) * end.format.channelCount)
    mix(into: &rest)
    return rest
  }

  private var gains: (rising: Float, falling: Float) {
    let progress = (Double(frame) + 0.5) / Double(frameCount)
    return (Float(sineOfHalfTurns(progress / 2)), Float(sineOfHalfTurns((1 - progress) / 2)))
  }
}
