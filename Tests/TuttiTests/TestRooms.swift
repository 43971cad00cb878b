import TestSupport
import Testing
import Tutti

/// Receivers of this machine, given by their addresses, without sound output.
struct TestRooms {
  let folder: TemporaryFolder
  let receivers: [ReceiverProgram]

  init(_ count: Int = 1) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    receivers = try (1...count).map {
      try ReceiverProgram("Room\($0)", in: folder, "--output", "null")
    }
  }

  var rooms: [Room] { receivers.map { .at("127.0.0.1", port: $0.port) } }
}

/// Frame `n` of a ramp, as quiet as possible.
final class Ramp: SampleSource {
  let format: PCMFormat
  let frameCount: Int64?
  let title: String?
  private var next: Int64 = 0

  init(seconds: Double, title: String? = nil, format: PCMFormat = .stereo48k) {
    self.format = format
    self.title = title
    frameCount = Int64(seconds * Double(format.sampleRate))
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(next + Int64(count), frameCount ?? .max)
    while next < end {
      for _ in 0..<format.channelCount { frames.append(Float(next % 1000) / 8_388_608) }
      next += 1
    }
  }

  func seek(toFrame frame: Int64) { next = frame }
}

extension Media {
  static func ramp(_ name: String, seconds: Double) -> Media {
    .custom(name) { Ramp(seconds: seconds, title: name) }
  }
}

extension AsyncSequence where Failure == Never {
  /// Returns the first value for which `isMeant` returns true.
  func first(_ isMeant: (Element) -> Bool) async throws -> Element {
    for await value in self where isMeant(value) { return value }
    throw TestFailure(line: "the sequence ended before its time")
  }
}

struct TestFailure: Error {
  let line: String
}

/// Enqueues buffers from `start` up to `end`, as long as the renderer asks for them. All channels have the `level` of
/// their time in seconds.
func feed(
  _ renderer: AudioRenderer, from start: PlaybackTime, to end: PlaybackTime,
  level: (Double) -> Float = { Float($0 * 48e-6) }
) async throws {
  let rate = renderer.format.sampleRate
  var frame = start.frame(at: rate)
  for await room in renderer.mediaDataRequests {
    let count = min(Int64(room), 4_800, end.frame(at: rate) - frame)
    guard count > 0 else { return }
    let samples = (0..<Int(count)).flatMap { index in
      let level = level(Double(frame + Int64(index)) / Double(rate))
      return repeatElement(level, count: renderer.format.channelCount)
    }
    try renderer.enqueue(
      AudioBuffer(samples, format: renderer.format, at: PlaybackTime(frame: frame, at: rate)))
    frame += count
  }
}
