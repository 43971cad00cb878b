import Foundation
import TestSupport
import Testing

/// The example that makes the rooms an ALSA device, heard on two virtual cards.
@Suite(.timeLimit(.minutes(2)))
struct ALSADeviceLongTests {
  /// Two rooms, and an environment in which the device `tutti` plays in both.
  private struct Bed {
    let folder: TemporaryFolder
    let rate: Int
    let cards: [VirtualCard]
    let rooms: [ReceiverProgram]
    let environment: [String: String]

    init(rate: Int = 48_000) throws {
      self.rate = rate
      let folder = try TemporaryFolder()
      cards = try (0..<2).map { _ in
        try VirtualCard("RATE=\(rate)", "FORMAT=S16_LE", "CHANNELS=2")
      }
      rooms = try cards.enumerated().map {
        try ReceiverProgram("Room\($0)", in: folder, "--device", $1.device)
      }
      self.folder = folder
      let library = try Self.build(in: folder)
      let addresses = rooms.map(\.address).joined(separator: ",")
      let configuration = """
        pcm_type.tutti { lib "\(library)" }
        pcm.tutti { type plug  slave.pcm { type tutti  rooms "\(addresses)" } }

        """
      let file = try folder.write(Array(configuration.utf8), to: "tutti.conf")
      let usual = ProcessInfo.processInfo.environment["ALSA_CONFIG_PATH"] ?? ""
      environment = [
        "ALSA_CONFIG_PATH": "\(usual):\(file)", "XDG_STATE_HOME": folder.file("state"),
      ]
    }

    /// Compiles the device as its first lines say, with the library that is built beside the tests.
    private static func build(in folder: TemporaryFolder) throws -> String {
      let root = Self.root
      let built = URL(filePath: Program.path(of: "libtutti-c.so")).deletingLastPathComponent().path
      let library = folder.file("libasound_module_pcm_tutti.so")
      try run(
        "cc",
        [
          "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-DPIC",
          "-I", "\(root)/Sources/CTutti/include", "-o", library,
          "\(root)/Examples/Sources/alsa/pcm_tutti.c", "-L", built, "-ltutti-c", "-lasound",
          "-Wl,-z,nodelete", "-Wl,-rpath,\(built)",
        ])
      return library
    }

    static let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path

    /// Ends the rooms, and returns the left channel that each has heard.
    func heard() throws -> [[Float]] {
      for room in rooms { _ = try room.program.stop() }
      return try cards.map { card in
        let samples = try card.heard(as: Int16.self)
        return stride(from: 0, to: samples.count, by: 2).map { Float(samples[$0]) / 32_768 }
      }
    }

    /// The frame that a card sounds at an instant of CLOCK_MONOTONIC.
    func frame(of card: VirtualCard, at nanoseconds: Int64) throws -> Int {
      let start = try #require(card.starts().last { $0.nanoseconds <= nanoseconds })
      let later = Double(nanoseconds - start.nanoseconds) * Double(rate) / 1e9
      return Int(start.frame) + Int(later.rounded())
    }
  }

  @Test func `a program that knows only ALSA plays a file in all rooms, whole`() throws {
    let bed = try Bed()
    let noise = SoftNoise(rate: bed.rate, seconds: 5)
    let file = try noise.recording.write(to: "a.wav", in: bed.folder)
    let player = try Program(
      "/usr/bin/ffmpeg", ["-v", "error", "-i", file, "-f", "alsa", "tutti"],
      environment: bed.environment)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    for left in try bed.heard() {
      let first = try #require(left.firstIndex { abs($0) > 1e-3 })
      let last = try #require(left.lastIndex { abs($0) > 1e-3 })
      #expect(abs(last - first - 5 * bed.rate) < 50, "\(last - first)")
      let places = stride(from: 2_400, to: 5 * bed.rate - 4_800, by: 24_000)
      let lags = places.map { noise.lag(in: left, at: first + $0, from: $0) }
      // The rooms fade in, so the first frames are too quiet to be found; nothing moves from then on.
      let known = lags.compactMap(\.self)
      #expect(known.count == lags.count, "\(lags)")
      #expect(known.allSatisfy { (-60...2).contains($0) && abs($0 - known[0]) <= 2 }, "\(lags)")
    }
  }

  /// A player of films shows its pictures by this delay.
  @Test(arguments: [48_000, 44_100])
  func `the delay says what is heard, to the millisecond, also after a pause`(rate: Int) throws {
    let bed = try Bed(rate: rate)
    let noise = SoftNoise(rate: rate, seconds: 6)
    let samples = try bed.folder.write(noise.recording.bytes, to: "a.raw")
    let listener = bed.folder.file("listener")
    try run("cc", ["-o", listener, "\(Bed.root)/Tests/Support/alsa/listener.c", "-lasound"])
    let player = try Program(
      listener, ["tutti", samples, "\(rate)", "3"], environment: bed.environment)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(!player.lines(with: "paused").isEmpty)
    let said = player.lines.map { line in line.split(separator: " ").compactMap { Int64($0) } }
      .filter { $0.count == 2 && $0[1] > rate / 4 }
    #expect(said.count > 100, "\(player.lines.suffix(5))")
    // Rooms fade out and in around it, so frames beside it are too quiet to be found.
    let pause = zip(said, said.dropFirst()).first { $1[0] - $0[0] > 400_000_000 }
    let paused = try #require(pause).0[1]
    let heard = try bed.heard()
    for (left, card) in zip(heard, bed.cards) {
      for told in stride(from: 0, to: said.count - 20, by: max(1, said.count / 24)) {
        guard abs(said[told][1] - paused) > rate / 4 else { continue }
        let place = try bed.frame(of: card, at: said[told][0])
        let lag = noise.lag(in: left, at: place, from: Int(said[told][1]))
        #expect(
          lag.map { abs($0) <= rate / 1_000 } ?? false, "\(said[told]): \(String(describing: lag))")
      }
    }
    // The end is told when all is heard, and soon.
    let drained = try #require(player.lines(with: "drained").first?.split(separator: " ").last)
    let end = try bed.frame(of: bed.cards[0], at: #require(Int64(drained)))
    let last = try #require(heard[0].lastIndex { abs($0) > 1e-3 })
    #expect(end >= last - rate / 1_000 && end < last + rate / 2)
  }
}
