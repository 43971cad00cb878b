package import Clock

/// Why a sink takes nothing any more; one line for users.
package struct SinkError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String

  package init(description: String) { self.description = description }
}

/// Frames that a room sounds, with the time at which the first of them is heard.
package struct SoundingFrames {
  /// Interleaved stereo, full scale ±1. Valid while the sink is called.
  package let samples: UnsafeBufferPointer<Float>
  package let localTime: LocalTime
  /// The same instant by the sender's clock; nil while that is not known, and nothing but silence sounds.
  package let groupTime: GroupTime?
}

/// Takes what a room without a sound card sounds, each frame once and in order. Made, called and dropped on the output
/// thread, which may wait here: what it misses meanwhile is rendered afterwards, each frame at its place.
package protocol FrameSink: AnyObject {
  func take(_ frames: SoundingFrames) throws(SinkError)
  /// Nothing follows.
  func finish() throws(SinkError)
}

/// Where the sound of a room without a card goes.
package struct SinkChoice: Sendable {
  /// More would leave nothing of what is decoded ahead for a machine that stalls.
  package static let longestAhead = Nanoseconds.seconds(1)

  /// For people.
  package var name: String
  /// How long before it is heard the sink takes each frame, at most `longestAhead`: time for a sink that sends it on. What
  /// it has taken cannot be silenced any more.
  package var ahead: Nanoseconds
  let make: @Sendable (_ sampleRate: Int) throws(SinkError) -> (any FrameSink)?

  /// `make` is called on the output thread each time the room opens its output, with the rate of the music.
  package init(
    name: String, ahead: Nanoseconds = .zero,
    make: @escaping @Sendable (_ sampleRate: Int) throws(SinkError) -> (any FrameSink)?
  ) {
    self.name = name
    self.ahead = min(max(.zero, ahead), Self.longestAhead)
    self.make = make
  }

  package static let nowhere = SinkChoice(name: "null") { _ in nil }

  /// A recording, which is there and whole at any time.
  package static func wave(path: String, format: WaveFormat = .float32) -> SinkChoice {
    SinkChoice(name: "wav:\(path)") { rate throws(SinkError) in
      try WaveSink(path: path, sampleRate: rate, format: format)
    }
  }
}

/// Records to a file; what it has written is whole within a second.
private final class WaveSink: FrameSink {
  private var file: WaveFile
  private let sampleRate: Int
  private var unflushed = 0

  init(path: String, sampleRate: Int, format: WaveFormat) throws(SinkError) {
    self.sampleRate = sampleRate
    file = try WaveFile(path: path, sampleRate: sampleRate, format: format)
    try file.flush()
  }

  func take(_ frames: SoundingFrames) throws(SinkError) {
    guard let samples = frames.samples.baseAddress else { return }
    let count = frames.samples.count / 2
    try file.append(samples, count: count)
    unflushed += count
    guard unflushed >= sampleRate else { return }
    unflushed = 0
    try file.flush()
  }

  func finish() throws(SinkError) { try file.flush() }
}
