import Clock
import Foundation
import TestSupport
import Testing
import Tutti

/// Random seeks in files of four kinds, heard in a real room: each on its sample.
@Suite struct RandomSeekTests {
  @Test(.timeLimit(.minutes(2)), arguments: SeekedFile.all)
  func `each place is heard on its sample`(file: SeekedFile) async throws {
    try await RandomSeeker(file).seek(times: 3)
  }
}

@Suite struct RandomSeekLongTests {
  @Test(.timeLimit(.minutes(20)), arguments: SeekedFile.all)
  func `a thousand places are heard on their samples`(file: SeekedFile) async throws {
    try await RandomSeeker(file).seek(times: 250)
  }
}

/// A file of noise, and the format of the renderer that plays it.
struct SeekedFile: Sendable, CustomTestStringConvertible {
  var name: String
  var arguments: [String] = []
  var rate = 44_100
  var rendererRate = 48_000

  var testDescription: String { "\(name), \(rate) Hz in a renderer of \(rendererRate) Hz" }

  static let all = [
    SeekedFile(name: "a.mp3", arguments: ["-b:a", "256k"]),
    SeekedFile(name: "a.m4a", arguments: ["-b:a", "256k"]),
    SeekedFile(name: "a.flac", rate: 48_000, rendererRate: 44_100),
    SeekedFile(name: "a.wav"),
  ]
}

/// Reads a file, and plays it from one place after another.
private final class RandomSeeker {
  private static let seconds = 20
  /// So much of each place is played and compared.
  private static let span = 0.15

  private let file: SeekedFile
  private let folder: TemporaryFolder
  private let receiver: ReceiverProgram
  private let reader: MediaReader
  private let renderer: AudioRenderer
  private let events: AsyncStream<AudioRendererEvent>
  private let synchronizer = RenderSynchronizer()
  private let sound: SoftNoise
  private var expected: [(instant: HostTime, frame: Int64)] = []

  init(_ file: SeekedFile) async throws {
    self.file = file
    folder = try TemporaryFolder()
    receiver = try ReceiverProgram("Room", in: folder)
    sound = SoftNoise(rate: file.rate, seconds: Self.seconds)
    reader = try await MediaReader(
      .file(sound.recording.write(to: file.name, file.arguments, in: folder)))
    renderer = try await AudioRenderer(
      rooms: [.at("127.0.0.1", port: receiver.port)],
      format: PCMFormat(sampleRate: file.rendererRate))
    events = renderer.events
    try await synchronizer.add(renderer)
  }

  func seek(times: Int) async throws {
    var random = SplitMix64(seed: 5)
    for _ in 0..<times {
      let frame = Int64.random(in: 0..<Int64((Self.seconds - 3) * file.rate), using: &random)
      try await seek(to: frame)
    }
    await renderer.close()
    for await event in events {
      if case .late = event { Issue.record("\(event)") }
      if case .failed = event { Issue.record("\(event)") }
    }
    #expect(try receiver.program.stop() == 0)
    try check()
  }

  private func seek(to frame: Int64) async throws {
    let time = PlaybackTime(frame: frame, at: file.rate)
    try await self.reader.seek(to: time)
    try await synchronizer.seek(to: time)
    let end = time + .seconds(2.0)
    let (reader, renderer) = (reader, renderer)
    async let enqueued: Void = Self.enqueue(reader, until: end, in: renderer)
    let instant = try await synchronizer.setRate(1)
    try await enqueued
    expected.append((instant, frame))
    _ = try await synchronizer.boundaries(at: [time + .seconds(Self.span)]).first { _ in true }
  }

  private static func enqueue(
    _ reader: MediaReader, until end: PlaybackTime, in renderer: AudioRenderer
  ) async throws {
    for await _ in renderer.mediaDataRequests {
      guard reader.position < end, let buffer = try await reader.next() else { return }
      try renderer.enqueue(buffer)
    }
  }

  // MARK: - What was heard

  private func check() throws {
    let heard = try RecordedSound(folder.file("Room.wav"))
    let line = try receiver.program.line(with: "recording: frame 0 at ")
    let match = try #require(line.firstMatch(of: /frame 0 at (\d+) ns/))
    let start = HostTime(nanoseconds: try #require(Int64(match.1)))
    #expect(heard.rate == file.rate)
    for one in expected {
      let wanted = Int(((one.instant - start) / .seconds(1) * Double(heard.rate)).rounded())
      // A room that was connected a moment ago does not know the time to the sample, but what it begins with is exact.
      let onset = try #require(Self.onset(in: heard, near: wanted), "frame \(one.frame)")
      #expect(abs(onset - wanted) < heard.rate / 20, "frame \(one.frame)")
      // Behind the fade at the start, and before anything that the next seek may do.
      let later = heard.rate / 20
      let lag = sound.lag(in: heard.left, at: onset + later, from: Int(one.frame) + later)
      // A fade begins with a sample or two of silence.
      #expect(lag.map(abs) ?? .max <= 3, "frame \(one.frame): \(String(describing: lag))")
    }
  }

  /// Where sound begins after silence.
  private static func onset(in heard: RecordedSound, near place: Int) -> Int? {
    var quiet = 0
    for index in max(0, place - heard.rate / 20)..<heard.left.count {
      if abs(heard.left[index]) > 1e-6 {
        if quiet > heard.rate / 100 { return index }
        quiet = 0
      } else {
        quiet += 1
      }
    }
    return nil
  }
}
