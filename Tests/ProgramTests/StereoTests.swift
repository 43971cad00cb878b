import Foundation
import TestSupport
import Testing

/// Tests of stereo pairs with the finished programs and virtual sound cards.
@Suite struct StereoTests {
  private static let rate = 48_000
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A file whose left channel has the tone, and whose right one is silent.
  private func leftTone(seconds: Int) throws -> String {
    var recording = Recording(rate: Self.rate, frames: 0)
    recording.samples = (0..<seconds * Self.rate).flatMap { frame -> [Int32] in
      let turns = Tone.frequency * Double(frame) / Double(Self.rate)
      return [Int32((sin(2 * .pi * turns) * Tone.amplitude * 32_768).rounded()), 0]
    }
    var header = Tone.wave(rate: Self.rate, seconds: 0)
    func put(_ value: Int, at place: Int) {
      for byte in 0..<4 { header[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }
    put(36 + recording.bytes.count, at: 4)
    put(recording.bytes.count, at: 40)
    return try folder.write(header + recording.bytes, to: "left.wav")
  }

  /// Returns how many tenths of a second of the card's sound were the tone, and of its last second, whether it was silent, and
  /// whether both its channels were the same but for their dither. Rooms are told their channels when they join, and may
  /// begin with both.
  private func heard(_ card: VirtualCard) throws -> (tones: Int, isSilent: Bool, isSame: Bool) {
    let samples = try card.heard(as: Int16.self)
    let left = stride(from: 0, to: samples.count - 1, by: 2).map { samples[$0] }
    let right = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
    let floats = left.map { Float($0) / 32_768 }
    let tones = ToneRecording(rate: Self.rate, sounding: floats[...]).blocks().count {
      abs($0.amplitude - Tone.amplitude) < 0.02 && $0.rest < 1e-2
    }
    let isSame = zip(left, right).suffix(Self.rate).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
    return (tones, samples.suffix(2 * Self.rate).allSatisfy { $0 == 0 }, isSame)
  }

  @Test func `each speaker of a pair is heard with its channel alone`() throws {
    let bed = try AvahiBed(directory: folder.file("bed"))
    try bed.startBus()
    try bed.startDaemon()
    let cards = try (0..<2).map { _ in
      try VirtualCard("RATE=48000", "FORMAT=S16_LE", "CHANNELS=2")
    }
    let rooms = try zip(["Shelf", "Window"], cards).map { name, card in
      let room = try Program(
        "tutti-receiver",
        [
          "--name", name, "--port", "0", "--device", card.device, "--access", "open",
          "--start-volume", "100", "--state-dir", folder.file(name),
        ], environment: bed.environment)
      try room.line(with: "announced: \(name)")
      return room
    }
    let daemon = try Daemon(in: folder, arguments: [], environment: bed.environment)
    let deadline = ContinuousClock.now + .seconds(30)
    var made: [String]?
    repeat {
      // Refused until the daemon has found both.
      made = try? daemon.run("stereo", "shelf", "window", "--name", "Study")
    } while made == nil && ContinuousClock.now < deadline
    #expect(made == ["Study: left Shelf, right Window"])
    #expect(try daemon.run("stereo") == ["Study: left Shelf, right Window"])
    #expect(
      try daemon.run("play", leftTone(seconds: 120), "--on", "study") == ["plays left.wav in Study"]
    )
    for room in rooms { try room.line(with: "playing") }
    try daemon.wait { _ in try heard(cards[0]).tones >= 20 }
    let (left, right) = (try heard(cards[0]), try heard(cards[1]))
    #expect(left.isSame && left.tones >= 20, "\(left)")
    #expect(right.isSilent, "\(right)")
    #expect(try daemon.run("volume", "100", "--on", "Study") == ["Study: volume 100"])
    #expect(try daemon.run("stereo", "--swap", "Study") == ["Study: left Window, right Shelf"])
    try daemon.wait { _ in try heard(cards[1]).tones >= 20 }
    #expect(try heard(cards[1]).isSame)
    #expect(
      try daemon.run("stereo", "--separate", "Study") == [
        "Window and Shelf are rooms of their own again"
      ])
    let groups = try daemon.run("groups")
    #expect(groups.contains { $0.contains("Shelf + Window") }, "\(groups)")
    #expect(throws: Daemon.Refused.self) { try daemon.run("stereo", "Shelf") }
    #expect(throws: Daemon.Refused.self) { try daemon.run("stereo", "--swap", "Shelf") }
    #expect(try daemon.stop() == 0)
  }
}
