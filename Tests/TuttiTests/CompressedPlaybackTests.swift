import Audio
import Codecs
import Foundation
import TestSupport
import Testing
import Tutti

/// Tests of compressed audio in a real room, and of format changes in the middle.
@Suite struct CompressedPlaybackTests {
  private static let tone = 500.0

  /// A tone at a quarter of full scale, in phase with media time.
  private static func sine(_ frames: Range<Int>, at rate: Int) -> [Float] {
    frames.flatMap { frame in
      let sample = Float(0.25 * sin(2 * .pi * tone * Double(frame) / Double(rate)))
      return [sample, sample]
    }
  }

  private static func buffers(
    _ seconds: Range<Int>, _ format: PCMFormat
  ) throws -> [AudioBuffer] {
    let rate = format.sampleRate
    return try stride(from: seconds.lowerBound * rate, to: seconds.upperBound * rate, by: rate / 10)
      .map { frame in
        try AudioBuffer(
          sine(frame..<frame + rate / 10, at: rate), format: format,
          at: PlaybackTime(frame: Int64(frame), at: rate))
      }
  }

  private static func flac(_ seconds: Range<Int>, at rate: Int) throws -> [CompressedBuffer] {
    let audio = AudioFormat(sampleRate: rate, channelCount: 2)
    let encoder = try FLACEncoder(audio: audio, sampleType: .int16)
    var packets: [EncodedPacket] = []
    try encoder.encode(
      sine(seconds.lowerBound * rate..<seconds.upperBound * rate, at: rate),
      appendingTo: &packets)
    try encoder.finish(appendingTo: &packets)
    let format = try CompressedFormat(
      .flac, sampleRate: rate, channelCount: 2, configuration: encoder.format.configuration)
    var time = PlaybackTime(frame: Int64(seconds.lowerBound * rate), at: rate)
    return try packets.map { packet in
      let buffer = try CompressedBuffer(packet.payload, format: format, at: time)
      time = buffer.endTime
      return buffer
    }
  }

  /// Makes packets from FFmpeg's output, which has a header before each packet. The first packet
  /// has no sound.
  private static func aac(
    _ seconds: Range<Int>, in folder: TemporaryFolder
  ) throws -> [CompressedBuffer] {
    var recording = Recording(rate: 44_100, frames: 0)
    let frames = seconds.lowerBound * 44_100..<seconds.upperBound * 44_100
    recording.samples = sine(frames, at: 44_100).map { Int32(($0 * 32_768).rounded()) }
    let path = folder.file("a.aac")
    try run(
      "ffmpeg",
      ["-v", "error", "-y", "-i", recording.write(to: "a.wav", in: folder), "-b:a", "256k", path])
    let format = try CompressedFormat(
      .aac, sampleRate: 44_100, channelCount: 2, configuration: [0x12, 0x10])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))[...]
    var buffers: [CompressedBuffer] = []
    var time = PlaybackTime(frame: Int64(frames.lowerBound), at: 44_100)
    let end = PlaybackTime(frame: Int64(frames.upperBound), at: 44_100)
    while bytes.count > 7, time < end {
      let head = bytes.prefix(7).map(Int.init)
      let size = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
      let left = end.frame(at: 44_100) - time.frame(at: 44_100)
      let buffer = try CompressedBuffer(
        Array(bytes.prefix(size).dropFirst(7)), format: format, at: time,
        trimAtStart: buffers.isEmpty ? 1_024 : 0,
        trimAtEnd: buffers.isEmpty ? 0 : max(0, 1_024 - Int(left)))
      buffers.append(buffer)
      time = buffer.endTime
      bytes = bytes.dropFirst(size)
    }
    return buffers
  }

  private enum Part: Sendable {
    case samples(AudioBuffer)
    case packet(CompressedBuffer)

    func enqueue(in renderer: AudioRenderer) throws {
      switch self {
      case .samples(let buffer): try renderer.enqueue(buffer)
      case .packet(let buffer): try renderer.enqueue(buffer)
      }
    }
  }

  private static func parts(in folder: TemporaryFolder) throws -> [Part] {
    let slower = try PCMFormat(sampleRate: 44_100)
    var parts = try buffers(0..<1, .stereo48k).map(Part.samples)
    parts += try buffers(1..<2, slower).map(Part.samples)
    parts += try flac(2..<3, at: 48_000).map(Part.packet)
    parts += try aac(3..<5, in: folder).map(Part.packet)
    return parts + (try buffers(5..<6, .stereo48k).map(Part.samples))
  }

  /// Enqueues the parts one after the other, as the renderer takes them.
  private static func enqueue(_ parts: [Part], in renderer: AudioRenderer) async throws {
    var parts = parts[...]
    for await _ in renderer.mediaDataRequests {
      while renderer.isReadyForMoreMediaData, let part = parts.popFirst() {
        try part.enqueue(in: renderer)
      }
      if parts.isEmpty { return }
    }
  }

  @Test(.timeLimit(.minutes(2)), arguments: [1, 1.5])
  func `samples and packets of all formats follow each other without a gap or a click`(
    rate: Double
  ) async throws {
    let folder = try TemporaryFolder()
    let receiver = try ReceiverProgram("Room", in: folder)
    let renderer = try await AudioRenderer(rooms: [.at("127.0.0.1", port: receiver.port)])
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    let events = renderer.events
    let parts = try Self.parts(in: folder)
    var began = HostTime.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await Self.enqueue(parts, in: renderer) }
      began = try await synchronizer.setRate(rate, time: .zero)
      try await group.waitForAll()
    }
    renderer.finish()
    let ended = try #require(synchronizer.hostTime(of: .seconds(6)))
    _ = try await events.first { event in
      if case .failed(let reason) = event { Issue.record("\(reason)") }
      return event == .ended
    }
    await renderer.close()
    #expect(try receiver.program.stop() == 0)

    let heard = try RecordedSound(folder.file("Room.wav"))
    #expect(heard.gaps(atLeast: heard.rate / 100).isEmpty)
    let length = Double(heard.sounding.count) / Double(heard.rate)
    // A busy machine may miss the beginning, but no other part.
    #expect(abs(length - (ended - began) / .seconds(1)) < 0.5)
    let inside = heard.sounding.dropFirst(heard.rate / 10).dropLast(heard.rate / 10)
    let steepest = Float(0.25 * 2 * Double.pi * Self.tone / 48_000)
    let largest = zip(inside, inside.dropFirst()).reduce(Float(0)) { max($0, abs($1.1 - $1.0)) }
    // At another rate, pieces of the sound are joined.
    #expect(largest < steepest * (rate == 1 ? 1.3 : 6))
    let rises = zip(inside, inside.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
    let frequency = Double(rises * heard.rate) / Double(inside.count)
    #expect(abs(frequency - Self.tone) < 5)
  }
}
