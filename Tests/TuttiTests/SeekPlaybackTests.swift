import Foundation
import TestSupport
import Testing
import Tutti

/// Tests of programs that go from one place to another, and of the sound of a real room.
@Suite struct SeekPlaybackTests {
  @Test(.timeLimit(.minutes(2)))
  func `packets of another rate than the renderer's are heard at the place that was asked for`()
    async throws
  {
    let player = try await SeekingPlayer(packets: true)
    try await player.seek(to: 0)
    for place in [59.98, 20, 40] { try await player.seek(to: place) }
    try await player.change(to: 1.5)
    try player.check(await player.end())
  }

  @Test(.timeLimit(.minutes(2)), arguments: [true, false])
  func `each seek is heard from its first frame on`(isStopping: Bool) async throws {
    let player = try await SeekingPlayer(packets: false)
    try await player.seek(to: 60)
    for step in 1...4 {
      try await player.seek(to: 60 - Double(step) * 2, isStopping: isStopping)
    }
    try player.check(await player.end())
  }
}

/// Plays a tone whose pitch encodes the time, and remembers what must be heard when.
private final class SeekingPlayer {
  private struct Expected {
    var instant: HostTime
    var place: Double
    var rate = 1.0
    /// True if there is silence before.
    var isStart = true
  }

  private let folder: TemporaryFolder
  private let receiver: ReceiverProgram
  private let renderer: AudioRenderer
  private let events: AsyncStream<AudioRendererEvent>
  private let synchronizer = RenderSynchronizer()
  private let packets: [CompressedBuffer]
  private var expected: [Expected] = []

  init(packets: Bool) async throws {
    folder = try TemporaryFolder()
    receiver = try ReceiverProgram("Room", in: folder)
    self.packets = packets ? try Self.mp3(in: folder) : []
    renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    events = renderer.events
    try await synchronizer.add(renderer)
  }

  // MARK: - What sounds

  private static func sound(_ time: Double) -> Double {
    0.25 * cos(2 * .pi * (200 * time + 10 * time * time))
  }

  /// 70 seconds at 44.1 kHz.
  private static func mp3(in folder: TemporaryFolder) throws -> [CompressedBuffer] {
    var recording = Recording(rate: 44_100, frames: 0)
    recording.samples = (0..<62 * 44_100).flatMap { frame in
      let sample = Int32((sound(Double(frame) / 44_100) * 32_768).rounded())
      return [sample, sample]
    }
    let path = folder.file("a.mp3")
    try run(
      "ffmpeg",
      [
        "-v", "error", "-y", "-i", recording.write(to: "a.wav", in: folder), "-b:a", "128k",
        "-write_xing", "0", "-id3v2_version", "0", path,
      ])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let format = try CompressedFormat(.mp3, sampleRate: 44_100, channelCount: 2)
    var (packets, place) = ([CompressedBuffer](), 0)
    while place + 4 <= bytes.count {
      // 1152 frames at 128 kbit/s, and one byte more if the header says so.
      let size = 417 + Int(bytes[place + 2] >> 1 & 1)
      let time = PlaybackTime(frame: Int64(packets.count) * 1_152, at: 44_100)
      packets.append(
        try CompressedBuffer(
          Array(bytes[place..<min(bytes.count, place + size)]), format: format, at: time))
      place += size
    }
    return packets
  }

  /// Enqueues as the renderer takes buffers.
  private static func enqueue(
    _ samples: [AudioBuffer], _ packets: [CompressedBuffer], in renderer: AudioRenderer
  ) async throws {
    var (samples, packets) = (samples[...], packets[...])
    for await _ in renderer.mediaDataRequests {
      while renderer.isReadyForMoreMediaData {
        if let buffer = samples.popFirst() {
          try renderer.enqueue(buffer)
        } else if let packet = packets.popFirst() {
          try renderer.enqueue(packet)
        } else {
          return
        }
      }
    }
  }

  /// Makes three seconds of buffers. Call it before audio is flushed, because a program would not
  /// take that long then.
  private static func buffers(from start: PlaybackTime) throws -> [AudioBuffer] {
    let first = start.frame(at: 48_000)
    return try (0..<30).map { number in
      let from = first + Int64(number) * 4_800
      var samples: [Float] = []
      for frame in from..<from + 4_800 {
        let sample = Float(sound(Double(frame) / 48_000))
        samples += [sample, sample]
      }
      return try AudioBuffer(
        samples, format: .stereo48k, at: PlaybackTime(frame: from, at: 48_000))
    }
  }

  // MARK: - What the program does

  func seek(to place: Double, isStopping: Bool = true) async throws {
    let time = PlaybackTime.seconds(place)
    let buffers = packets.isEmpty ? try Self.buffers(from: time) : []
    let end = time + .seconds(3)
    let parts = packets.filter { $0.endTime > time && $0.presentationTime < end }
    if synchronizer.rate != 0 {
      if isStopping { try await synchronizer.setRate(0) }
      try await renderer.flush()
    }
    let renderer = renderer
    async let enqueued: Void = Self.enqueue(buffers, parts, in: renderer)
    let instant = try await synchronizer.setRate(1, time: time)
    try await enqueued
    expected.append(Expected(instant: instant, place: place))
    try await wait(until: time + .seconds(0.4))
  }

  func change(to rate: Double) async throws {
    let instant = try await synchronizer.setRate(rate)
    let place = expected[expected.count - 1].place
    let time = place + (instant - expected[expected.count - 1].instant) / .seconds(1)
    expected.append(Expected(instant: instant, place: time, rate: rate, isStart: false))
    try await wait(until: .seconds(time + 0.6))
  }

  private func wait(until time: PlaybackTime) async throws {
    _ = try await synchronizer.boundaries(at: [time]).first { _ in true }
  }

  /// Closes the renderer, and returns the recording.
  func end() async throws -> RecordedSound {
    await renderer.close()
    for await event in events {
      if case .late = event { Issue.record("\(event)") }
      if case .failed = event { Issue.record("\(event)") }
    }
    #expect(try receiver.program.stop() == 0)
    return try RecordedSound(folder.file("Room.wav"))
  }

  // MARK: - What was heard

  func check(_ heard: RecordedSound) throws {
    let began = try #require(expected.first?.instant)
    for one in expected {
      let span = (one.instant - began) / .seconds(1)
      let first = heard.sounding.startIndex + Int(span * Double(heard.rate))
      let later = 0.2
      let pitch = pitch(heard, at: first + Int(later * Double(heard.rate)))
      let place = pitch.map { ($0 - 200) / 20 } ?? .infinity
      let error = place - one.place - later * one.rate
      let onset = one.isStart ? onset(heard, near: first) ?? heard.left.count : first
      let lost = Double(onset - first) / Double(heard.rate)
      #expect(abs(error) < 0.1, "\(one.place)")
      // An MP3 encoder begins some 25 ms late.
      #expect(abs(lost) < 0.06, "\(one.place)")
    }
  }

  /// Returns the pitch in Hz.
  private func pitch(_ heard: RecordedSound, at index: Int) -> Double? {
    let width = heard.rate / 20
    guard index >= width, index + width < heard.left.count else { return nil }
    var rises: [Double] = []
    for place in index - width..<index + width {
      let (before, after) = (Double(heard.left[place]), Double(heard.left[place + 1]))
      if before < 0, after >= 0 { rises.append(Double(place) - before / (after - before)) }
    }
    guard let first = rises.first, let last = rises.last, last > first else { return nil }
    return Double(rises.count - 1) / (last - first) * Double(heard.rate)
  }

  /// Returns the place at which sound begins after silence.
  private func onset(_ heard: RecordedSound, near index: Int) -> Int? {
    let silence = heard.rate / 100
    var quiet = 0
    for place in max(0, index - heard.rate / 20)..<heard.left.count {
      if abs(heard.left[place]) < 1e-4 {
        quiet += 1
      } else {
        if quiet >= silence || place == heard.sounding.startIndex { return place }
        quiet = 0
      }
    }
    return nil
  }
}
