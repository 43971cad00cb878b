package import Clock

/// The reason why a sink takes no more frames; one line for users.
package struct SinkError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String

  package init(description: String) { self.description = description }
}

/// Frames that a room plays, with the time at which the first of them is heard.
package struct SoundingFrames {
  /// Interleaved stereo, full scale ±1. Valid only during the call of the sink.
  package let samples: UnsafeBufferPointer<Float>
  package let localTime: LocalTime
  /// The same instant by the sender's clock; nil while that is not known, when only silence is played.
  package let groupTime: GroupTime?
}

/// Takes the sound of a room without a sound card, each frame once and in order. Created, called and released on the
/// output thread, which it may block: frames that become due meanwhile are rendered afterwards, each at its place.
package protocol FrameSink: AnyObject {
  func take(_ frames: SoundingFrames) throws(SinkError)
  /// Called after the last frame.
  func finish() throws(SinkError)
}

/// The destination of the sound of a room without a card.
package struct SinkChoice: Sendable {
  /// A longer time would leave no decoded audio in reserve for a machine that stalls.
  package static let longestAhead = Nanoseconds.seconds(1)

  /// A name for people.
  package var name: String
  /// Time before its sound at which the sink takes each frame, at most `longestAhead`. A sink that sends frames on
  /// needs it. Frames that it has taken can no longer be silenced.
  package var ahead: Nanoseconds
  let make: @Sendable (_ sampleRate: Int) throws(SinkError) -> (any FrameSink)?

  /// - Parameter make: called on the output thread each time the room opens its output, with the sample rate of the
  ///   music; nil drops the sound.
  package init(
    name: String, ahead: Nanoseconds = .zero,
    make: @escaping @Sendable (_ sampleRate: Int) throws(SinkError) -> (any FrameSink)?
  ) {
    self.name = name
    self.ahead = min(max(.zero, ahead), Self.longestAhead)
    self.make = make
  }

  package static let nowhere = SinkChoice(name: "null") { _ in nil }

  /// Records to a WAV file, which is valid at any time.
  package static func wave(path: String, format: WaveFormat = .float32) -> SinkChoice {
    SinkChoice(name: "wav:\(path)") { rate throws(SinkError) in
      try WaveSink(path: path, sampleRate: rate, format: format)
    }
  }
}

/// Records to a file. Frames are in the file within a second.
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
