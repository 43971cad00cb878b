import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of live sound, with the finished programs and virtual sound cards.
@Suite struct LiveTests {
  private static let rate = 48_000
  private static let seconds = 4
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A named pipe, and a program that writes these bytes into it as fast as they are played.
  private func pipe(_ bytes: [UInt8]) throws -> String {
    let path = folder.file("sound.fifo")
    try #require(mkfifo(path, 0o600) == 0)
    Thread.detachNewThread {
      let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
      defer { close(descriptor) }
      let block = Self.rate / 100 * 4
      let begin = Date.now
      for (place, start) in stride(from: 0, to: bytes.count, by: block).enumerated() {
        let piece = Array(bytes[start..<min(start + block, bytes.count)])
        guard Glibc.write(descriptor, piece, piece.count) == piece.count else { return }
        Thread.sleep(until: begin + Double(place + 1) / 100)
      }
    }
    return path
  }

  /// Returns for each tenth of a second of a card's sound whether it was the tone.
  private func tones(_ card: VirtualCard) throws -> [Bool] {
    let heard = try card.heard(as: Int16.self)
    let left = stride(from: 0, to: heard.count, by: 2).map { Float(heard[$0]) / 32768 }
    let blocks = ToneRecording(rate: Self.rate, sounding: left[...]).blocks()
    return blocks.map { abs($0.amplitude - Tone.amplitude) < 0.02 && $0.rest < 1e-2 }
  }

  @Test(arguments: [false, true])
  func `what comes on standard input is heard while it comes, in all rooms`(
    hasHeader: Bool
  ) throws {
    let cards = try (0..<2).map { _ in try VirtualCard("RATE=48000", "FORMAT=S16_LE", "CHANNELS=2")
    }
    let rooms = try cards.enumerated().map {
      try ReceiverProgram("source\($0)", in: folder, "--device", $1.device)
    }
    let bytes =
      hasHeader
      ? Tone.wave(rate: Self.rate, seconds: Double(Self.seconds))
      : Tone.samples(rate: Self.rate, frames: Self.rate * Self.seconds)
    let player = try Program(
      "tutti",
      ["play", "-", "--live", "600", "--state-dir", folder.file("player")]
        + (hasHeader ? [] : ["--raw", "48000:16:2"]) + rooms.flatMap { ["--at", $0.address] },
      input: try pipe(bytes))
    #expect(try player.exitCode() == 0, "\(player.lines)")
    for (room, card) in zip(rooms, cards) {
      _ = try room.program.stop()
      // A room connects a moment after the source starts, and on a busy machine a card may run dry.
      let tones = try tones(card).count { $0 }
      #expect(tones > Self.seconds * 10 * 3 / 4, "\(tones): \(room.program.lines)")
    }
  }

  @Test(arguments: ["pcm", "opus"])
  func `what programs write into a named pipe is heard live, in all rooms`(codec: String) throws {
    let card = try VirtualCard("RATE=48000", "FORMAT=S16_LE", "CHANNELS=2")
    let room = try ReceiverProgram("source-pipe", in: folder, "--device", card.device)
    let path = try pipe(Tone.samples(rate: Self.rate, frames: Self.rate * Self.seconds))
    let player = try player("pipe:" + path, codec, at: room)
    try wait(for: player, at: Double(Self.seconds))
    _ = try player.stop()
    _ = try room.program.stop()
    let tones = try tones(card).count { $0 }
    #expect(tones > Self.seconds * 10 / 2, "\(tones): \(room.program.lines) \(player.lines)")
    #expect(player.lines.contains { $0.contains(#""liveLatencyMs":600"#) })
  }

  /// Frames of the virtual input contain their own numbers: the left channel has a slope of one.
  @Test func `what a sound card records is heard live`() throws {
    let input = try VirtualInput("PPM=150")
    let card = try VirtualCard("RATE=48000", "FORMAT=S16_LE", "CHANNELS=2")
    let room = try ReceiverProgram("source-card", in: folder, "--device", card.device)
    let player = try player(
      "alsa:turntable", "pcm", at: room, input.environment(naming: "turntable"))
    try wait(for: player, at: Double(Self.seconds))
    _ = try player.stop()
    _ = try room.program.stop()
    let heard = try card.heard(as: Int16.self)
    let left = stride(from: 0, to: heard.count, by: 2).map { Int(heard[$0]) }
    let slopes = stride(from: 0, to: left.count - 480, by: 480).map { left[$0 + 480] - left[$0] }
    let even = slopes.count { abs($0 - 480) <= 2 }
    // Allow for a second before the room is there, and for the place where the numbers start again.
    #expect(even > (Self.seconds - 1) * 100 / 2, "\(even) of \(slopes.count): \(player.lines)")
  }

  private func player(
    _ source: String, _ codec: String, at room: ReceiverProgram,
    _ environment: [String: String] = [:]
  ) throws -> Program {
    try Program(
      "tutti",
      [
        "play", source, "--live", "600", "--codec", codec, "--json", "--position-every", "0.1",
        "--state-dir", folder.file("player"), "--at", room.address,
      ], environment: environment)
  }

  /// Returns once the player has reported that the source is at `seconds` or later.
  private func wait(for player: Program, at seconds: Double) throws {
    try player.line("a position of \(seconds) s") { line in
      let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return event?["event"] as? String == "position"
        && event?["positionS"] as? Double ?? 0 >= seconds
    }
  }

  @Test func `a latency that cannot be is refused in one line`() throws {
    for live in ["5", "soon", "3000"] {
      let player = try Program("tutti", ["play", "-", "--live", live])
      #expect(try player.exitCode() == 64)
      #expect(player.lines == ["tutti: --live \(live): 10 to 2000 ms, or auto"])
    }
  }
}
