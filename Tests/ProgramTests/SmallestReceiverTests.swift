import Foundation
import TestSupport
import Testing

/// Tests of the receiver written from docs/protocol/smallest-receiver.md, beside the real one.
@Suite struct SmallestReceiverTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let rate = 44_100
  /// Frames in the ramp of each start and stop: 5 ms.
  private static let ramp = rate / 200

  private func tutti(_ arguments: String...) throws {
    let program = try Program("tutti", arguments + ["--state-dir", folder.file("player")])
    #expect(try program.exitCode() == 0, "\(program.lines)")
  }

  /// Returns once the player has reported that the item is at `seconds` or later.
  private func wait(for player: Program, at seconds: Double) throws {
    try player.line("a position of \(seconds) s") { line in
      let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return event?["event"] as? String == "position"
        && event?["positionS"] as? Double ?? 0 >= seconds
    }
  }

  @Test func `it plays what the real one plays, through pause and seek, bit for bit`() throws {
    let source = Recording(rate: Self.rate, frames: 8 * Self.rate, seed: 11)
    let file = try source.write(to: "noise.wav", in: folder)
    let smallest = try ScriptedReceiver(recordingTo: folder.file("smallest.wav"))
    let real = try ReceiverProgram("real", in: folder)
    let player = try player(
      [file], at: [smallest.address, real.address], in: folder, "--codec", "pcm", "--json",
      "--position-every", "0.05")
    try wait(for: player, at: 0.6)
    try tutti("pause")
    try player.line("a pause of the room") {
      $0.contains(#""event":"roomState""#) && $0.contains(#""room":"smallest""#)
        && $0.contains(#""state":"paused""#)
    }
    try tutti("resume")
    try wait(for: player, at: 1.3)
    try tutti("seek", "4")
    try wait(for: player, at: 4.8)
    try tutti("stop")
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try smallest.program.stop() == 0, "\(smallest.program.lines)")
    #expect(try real.program.stop() == 0)

    let recording = try FrameRecording(folder.file("smallest.wav"))
    let runs = recording.runs(of: source).filter { $0.count > Self.ramp }
    expectWhole(recording, runs)
    try expectSameTimes(recording, runs, source, as: FrameRecording(folder.file("real.wav")))
  }

  @Test func `it takes no packet that begins before the one before it ends`() throws {
    let script = """
      import struct, sys
      sys.path.insert(0, sys.argv[1])
      import receiver
      flicks = receiver.FLICKS // 48000
      stream = receiver.Stream()
      stream.formats[0] = receiver.Form(struct.pack(">HHIBBH", 0, 1, 48000, 1, 1, 0))
      def packet(sequence, first, generation=0):
          head = struct.pack(">IIQqHHIII", 0, generation, sequence, first * flicks, 0, 0, 480, 0, 960)
          stream.packet(head + bytes(16) + struct.pack("<480h", *range(first, first + 480)))
      def places():
          return [(b.first, b.end, struct.unpack("<h", b.payload[:2])[0]) for b in stream.blocks]
      packet(0, 0)
      packet(1, 479)
      assert places() == [(0, 480, 0), (480, 959, 480)], places()
      try:
          packet(2, 957)
          print("two frames early are taken")
      except receiver.Broken as error:
          print(error)
      stream.cut(300 * flicks, 1, False)
      packet(3, 300, generation=1)
      assert places()[-2:] == [(0, 300, 0), (300, 780, 300)], places()
      """
    let folder = ScriptedReceiver.script.deletingLastPathComponent().path
    let program = try Program("/usr/bin/python3", ["-B", "-c", script, folder])
    #expect(try program.exitCode() == 0, "\(program.lines)")
    #expect(program.lines == ["a packet begins before the one before it ends"])
  }

  /// Expects that only the source sounds, apart from a ramp at each end of each run.
  private func expectWhole(_ recording: FrameRecording, _ runs: [FrameRecording.Run]) {
    #expect(runs.count == 3, "\(runs)")
    guard runs.count == 3 else { return }
    let sounding = recording.frames.count { $0 != .zero }
    #expect(sounding - runs.map(\.count).reduce(0, +) <= 6 * Self.ramp)
    // The pause loses no frame, and new audio begins with the frame that was sought. Where the sound is quiet, the last
    // frames of a ramp are the source's own.
    let resumed = runs[0].source + runs[0].count + 2 * Self.ramp
    #expect(abs(runs[1].source - resumed) <= 8, "\(runs)")
    #expect(abs(runs[2].source - (4 * Self.rate + Self.ramp)) <= 8, "\(runs)")
  }

  /// Expects that each run is later in one recording than in the other by the same number of frames.
  private func expectSameTimes(
    _ recording: FrameRecording, _ runs: [FrameRecording.Run], _ source: Recording,
    as other: FrameRecording
  ) throws {
    var shifts: [Int] = []
    for run in runs {
      let start = run.device + 1000
      let window = recording.frames[start..<start + 64].map(\.x)
      // The recordings began at different times.
      let reach = shifts.isEmpty ? Self.rate : 200
      let guess = start + (shifts.first ?? 0)
      let place = other.place(of: window, in: guess - reach...guess + reach)
      shifts.append(try #require(place) - start)
    }
    let spread = (shifts.max() ?? 0) - (shifts.min() ?? 0)
    // Each receiver takes the time of a start from a few answers of the sender. That is accurate to a tenth of a
    // millisecond if a busy machine answers late.
    #expect(spread <= 4, "\(shifts)")
  }
}

/// A run of Examples/smallest-receiver/receiver.py.
struct ScriptedReceiver {
  static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Examples/smallest-receiver/receiver.py").standardized

  let program: Program
  let address: String

  init(recordingTo path: String, _ arguments: String...) throws {
    program = try Program("/usr/bin/python3", [Self.script.path, path] + arguments)
    let line = try program.line(with: "listening: ")
    address = "127.0.0.1:\(try #require(line.split(separator: " ").last))"
  }
}

/// A receiver's recording, in stereo frames.
struct FrameRecording {
  /// Consecutive frames of the source without a flaw.
  struct Run {
    var device: Int
    var source: Int
    var count: Int
  }

  let frames: [SIMD2<Float>]

  init(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    try #require(bytes.count > 58)
    frames = bytes[58...].withUnsafeBytes { body in
      stride(from: 0, to: body.count - 7, by: 8).map {
        SIMD2(
          body.loadUnaligned(fromByteOffset: $0, as: Float.self),
          body.loadUnaligned(fromByteOffset: $0 + 4, as: Float.self))
      }
    }
  }

  func runs(of source: Recording) -> [Run] {
    let floats = source.floats
    let wanted = (0..<source.frameCount).map { SIMD2(floats[2 * $0], floats[2 * $0 + 1]) }
    let places = Dictionary(wanted.enumerated().map { ($1, $0) }) { first, _ in first }
    var runs: [Run] = []
    var device = 0
    while device < frames.count {
      guard frames[device] != .zero, let place = places[frames[device]] else {
        device += 1
        continue
      }
      let count = zip(frames[device...], wanted[place...]).prefix { $0 == $1 }.count
      runs.append(Run(device: device, source: place, count: count))
      device += count
    }
    return runs
  }

  /// Returns the frame within `range` at which the left channel is most like `window`.
  func place(of window: [Float], in range: ClosedRange<Int>) -> Int? {
    let last = frames.count - window.count
    let starts = range.clamped(to: 0...max(0, last))
    return starts.map { start in
      (start, zip(window, frames[start..<start + window.count]).reduce(0) { $0 + $1.0 * $1.1.x })
    }.max { $0.1 < $1.1 }?.0
  }
}
