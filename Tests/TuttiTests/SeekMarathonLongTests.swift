import Clock
import Foundation
import Synchronization
import TestSupport
import Testing
import Tutti

/// A thousand seeks in a room of this program: files of four kinds, renderers of several rates, and time that runs at half
/// to twice its speed. Each place is heard on its sample; stretched, within a window of the stretching filter.
@Suite struct SeekMarathonLongTests {
  @Test(.timeLimit(.minutes(30)), arguments: Marathon.files, [48_000, 44_100])
  func `a thousand seeks at any rate are heard where they lead`(
    file: SeekedFile, rendererRate: Int
  ) async throws {
    try await Marathon(file, rendererRate: rendererRate).run(seeks: 125)
  }
}

/// Used by one task at a time, and by the thread that compares once that has ended.
private final class Marathon: @unchecked Sendable {
  static let files = SeekedFile.all

  private struct Expected {
    var instant: HostTime
    var frame: Int64
    var rate: Double
  }

  private static let seconds = 20
  private static let rates = [0.5, 0.75, 1, 1, 1.25, 1.5, 2]
  /// So much of each place is heard.
  private static let span = Duration.milliseconds(300)

  private let file: SeekedFile
  private let folder: TemporaryFolder
  private let ear = Recorder()
  private let reader: MediaReader
  private let renderer: AudioRenderer
  private let events: AsyncStream<AudioRendererEvent>
  private let synchronizer = RenderSynchronizer()
  private let sound: SoftNoise
  private var expected: [Expected] = []

  init(_ file: SeekedFile, rendererRate: Int) async throws {
    self.file = file
    folder = try TemporaryFolder()
    sound = SoftNoise(rate: file.rate, seconds: Self.seconds)
    reader = try await MediaReader(
      .file(sound.recording.write(to: file.name, file.arguments, in: folder)))
    var settings = OutputSettings()
    settings.identity = .temporary
    renderer = try await AudioRenderer(
      rooms: [ear.room], format: PCMFormat(sampleRate: rendererRate), settings: settings)
    events = renderer.events
    try await synchronizer.add(renderer)
  }

  func run(seeks: Int) async throws {
    var random = SplitMix64(seed: UInt64(renderer.format.sampleRate))
    for _ in 0..<seeks {
      let frame = Int64.random(in: 0..<Int64((Self.seconds - 6) * file.rate), using: &random)
      let rate = Self.rates[Int.random(in: 0..<Self.rates.count, using: &random)]
      try await seek(to: frame, rate: rate)
    }
    await renderer.close()
    for await event in events {
      if case .late = event { Issue.record("\(event)") }
      if case .failed = event { Issue.record("\(event)") }
    }
    // To compare takes minutes, and would keep tasks waiting that feed other renderers.
    let result: (line: String, faults: [String]) = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: self.check()) }
    }
    print(result.line)
    for fault in result.faults { Issue.record("\(fault)") }
  }

  private func seek(to frame: Int64, rate: Double) async throws {
    let time = PlaybackTime(frame: frame, at: file.rate)
    try await reader.seek(to: time)
    try await synchronizer.seek(to: time)
    let last = time + .seconds(4)
    let filling = Task { [reader, renderer] in
      for await _ in renderer.mediaDataRequests {
        guard reader.position < last, let buffer = try await reader.next() else { return }
        try renderer.enqueue(buffer)
      }
    }
    let instant = try await synchronizer.setRate(rate)
    expected.append(Expected(instant: instant, frame: frame, rate: rate))
    let end = time + Self.span * rate
    _ = try await synchronizer.boundaries(at: [end]).first { _ in true }
    filling.cancel()
    _ = await filling.result
  }

  // MARK: - What was heard

  /// Returns a line that sums up, and what is wrong.
  private func check() -> (line: String, faults: [String]) {
    let heard = ear.sound
    var faults: [String] = []
    if heard.rate != file.rate { faults.append("heard at \(heard.rate) Hz") }
    var lags: [Int] = []
    var places: [Double] = []
    var onsets: [Double] = []
    for one in expected {
      let wanted = heard.frame(at: one.instant)
      let line = "frame \(one.frame) at rate \(one.rate)"
      guard let onset = heard.onset(near: wanted) else {
        faults.append("\(line): silent")
        continue
      }
      let milliseconds = Double(onset - wanted) * 1_000 / Double(heard.rate)
      onsets.append(abs(milliseconds))
      if abs(milliseconds) >= 50 { faults.append("\(line): begins \(milliseconds) ms off") }
      let later = heard.rate / 10
      let source = Int(one.frame) + Int(Double(later) * one.rate)
      if one.rate == 1 {
        let lag = sound.lag(in: heard.left, at: onset + later, from: source)
        lags.append(lag.map(abs) ?? .max)
        // A fade begins with a sample or two of silence.
        if lags.last ?? .max > 3 {
          faults.append("\(line): \(lag.map(String.init) ?? "not found")")
        }
      } else {
        let error = sound.displacement(
          in: heard.left, at: onset + later, from: source, rate: one.rate)
        places.append(error.map { abs(Double($0)) * 1_000 / Double(heard.rate) } ?? .infinity)
        let place = places.last ?? .infinity
        if place >= 50 { faults.append("\(line): \(place) ms") }
      }
    }
    let line = """
      \(file) in \(renderer.format.sampleRate) Hz: \(expected.count) seeks; \
      rate 1: \(lags.count), at most \(lags.max() ?? 0) samples off; \
      stretched: \(places.count), at most \(places.max() ?? 0) ms off; \
      first sound at most \(onsets.max() ?? 0) ms from its instant
      """
    return (line, faults)
  }
}

/// Keeps the left channel of what a room sounds.
private final class Recorder: Sendable {
  struct Sound {
    var rate = 0
    var start = HostTime(nanoseconds: 0)
    var left: [Float] = []

    func frame(at time: HostTime) -> Int {
      Int(((time - start) / .seconds(1) * Double(rate)).rounded())
    }

    /// Where sound begins after silence.
    func onset(near place: Int) -> Int? {
      var quiet = 0
      for index in max(0, place - rate / 20)..<min(left.count, place + rate / 5) {
        if abs(left[index]) > 1e-6 {
          if quiet > rate / 200 { return index }
          quiet = 0
        } else {
          quiet += 1
        }
      }
      return nil
    }
  }

  private let state = Mutex(Sound())

  var sound: Sound { state.withLock { $0 } }

  var room: Room {
    .listening { audio in
      self.state.withLock { sound in
        if sound.left.isEmpty { (sound.rate, sound.start) = (audio.sampleRate, audio.hostTime) }
        for place in stride(from: 0, to: audio.samples.count, by: 2) {
          sound.left.append(audio.samples[place])
        }
      }
    }
  }
}

extension SoftNoise {
  /// How many frames later than at `place` stretched sound from frame `source` on is heard, by the likest of several short
  /// windows; nil if it is not there.
  fileprivate func displacement(
    in heard: [Float], at place: Int, from source: Int, rate: Double
  ) -> Int? {
    let best = stride(from: 0, to: 3_200, by: 400).compactMap { step in
      lagAndLikeness(
        in: heard, at: place + step, from: source + Int(Double(step) * rate), width: 256,
        reach: 1_500)
    }.max { $0.likeness < $1.likeness }
    return best.flatMap { $0.likeness > 0.7 ? $0.lag : nil }
  }
}
