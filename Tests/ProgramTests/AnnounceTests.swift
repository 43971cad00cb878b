import Foundation
import Glibc
import TestSupport
import Testing

/// Announcements with real programs: rooms that record hear a tone over another one.
@Suite struct AnnounceTests {
  private static let rate = 48_000
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A tone with 24 bits, so that its own noise is far below what is looked for.
  private func tone(_ hertz: Double, seconds: Double, to name: String) throws -> String {
    var recording = Recording(rate: Self.rate, channels: 1, bits: 24, frames: 0)
    recording.samples = (0..<Int(seconds * Double(Self.rate))).map { frame in
      let value = sin(2 * .pi * hertz * Double(frame) / Double(Self.rate))
      return Int32((value * 0.4 * 8_388_607).rounded())
    }
    return try recording.write(to: name, in: folder)
  }

  private func music() throws -> String {
    try tone(AnnouncedRecording.music, seconds: 60, to: "music.flac")
  }

  private func clip(seconds: Double = 2) throws -> String {
    try tone(AnnouncedRecording.clip, seconds: seconds, to: "clip-\(seconds).flac")
  }

  private func recording(_ room: ReceiverProgram, _ name: String) throws -> AnnouncedRecording {
    let line = try room.program.line(with: "recording: frame 0 at ")
    let match = try #require(line.firstMatch(of: /frame 0 at (\d+) ns/))
    return try AnnouncedRecording(
      folder.file(name + ".wav"), start: try #require(Double(match.1)))
  }

  @Test func `rooms hear it at one instant, and each is afterwards as it was`() throws {
    let rooms = try ["a", "b", "c"].map { try ReceiverProgram($0, in: folder) }
    let daemon = try Daemon(in: folder)
    let music = try music()
    _ = try daemon.run("play", music, "--at", rooms[0].address)
    _ = try daemon.run("play", music, "--at", rooms[1].address)
    for room in rooms[..<2] { try room.program.line(with: "playing") }
    _ = try daemon.run("pause", "--group", "b")
    try daemon.wait { try $0.rooms("--group", "b") == ["b": "paused"] }
    try daemon.wait { try $0.status("--group", "a")["positionS"] as? Double ?? 0 > 2 }
    let paused = try daemon.status("--group", "b")["positionS"] as? Double
    let asked = AnnouncedRecording.now
    let said = try daemon.run(
      "announce", try clip(), "--no-chime", "--volume", "100", "--on", "a,b", "--at",
      rooms[2].address)
    #expect(said == ["a, b, \(rooms[2].address): announced"])
    try daemon.wait { try $0.status("--group", "a")["positionS"] as? Double ?? 0 > 7 }
    #expect(try daemon.rooms("--group", "b") == ["b": "paused"])
    #expect(try daemon.status("--group", "b")["positionS"] as? Double == paused)
    #expect(try daemon.rooms("--group", "a") == ["a": "playing"])
    // The free room was let go.
    try rooms[2].program.line(with: "finished")
    #expect(try daemon.stop() == 0)
    for room in rooms { #expect(try room.program.stop() == 0) }

    let heard = try zip(rooms, ["a", "b", "c"]).map { try recording($0, $1) }
    let begins = try heard.map { try $0.clipBegins() }
    print("   from command to sound, ms:", begins.map { ($0 - asked) / 1e6 })
    try expectTogether(heard, from: begins)
    try expectDucked(heard[0], begins: begins[0], seconds: 2.02)
    for silent in heard[1...] {
      #expect(silent.isSilent(after: 2.1, from: begins[0]))
      #expect(silent.amplitude(of: AnnouncedRecording.music, at: begins[0] + 1e9) < 1e-4)
    }
  }

  private func expectTogether(_ heard: [AnnouncedRecording], from begins: [Double]) throws {
    let start = try #require(begins.max())
    for step in 1...8 {
      let time = start + Double(step) * 0.2e9
      let phases = heard.map { $0.phase(of: AnnouncedRecording.clip, at: time) }
      let (most, least) = (try #require(phases.max()), try #require(phases.min()))
      let spread = most - least
      // A period is more than a millisecond: rooms are nearer than half of that.
      let distance = min(spread, 1 - spread) / AnnouncedRecording.clip * 1e6
      print("   rooms apart by µs:", distance)
      #expect(distance < 100)
    }
  }

  /// The music is lowered below the clip, and has no click anywhere else.
  private func expectDucked(
    _ heard: AnnouncedRecording, begins: Double, seconds: Double
  ) throws {
    let full = heard.amplitude(of: AnnouncedRecording.music, at: begins - 0.5e9)
    let low = heard.amplitude(of: AnnouncedRecording.music, at: begins + 1e9)
    #expect(abs(20 * log10(low / full) + 12) < 0.1, "\(low) of \(full)")
    let before = heard.worstResidual(from: begins - 1e9, to: begins - 0.02e9)
    let end = begins + (seconds + 0.2) * 1e9
    let after = heard.worstResidual(from: end + 0.02e9, to: end + 1.5e9)
    print("   worst residual before and after, dB:", before, after)
    #expect(before < -80)
    #expect(after < -80)
    let again = heard.amplitude(of: AnnouncedRecording.music, at: end + 0.5e9)
    #expect(abs(again / full - 1) < 1e-4)
  }

  @Test func `two announcements come one after the other`() throws {
    let room = try ReceiverProgram("a", in: folder)
    let daemon = try Daemon(in: folder)
    _ = try daemon.run("play", try music(), "--at", room.address)
    try room.program.line(with: "playing")
    try daemon.wait { try $0.status()["positionS"] as? Double ?? 0 > 2 }
    for seconds in [2.0, 1.5] {
      let said = try daemon.run(
        "announce", try clip(seconds: seconds), "--no-chime", "--on", "a")
      #expect(
        said == [
          seconds == 2 ? "a: announced" : "waits until the announcement before it has ended"
        ])
    }
    try daemon.wait { try $0.status()["positionS"] as? Double ?? 0 > 10 }
    #expect(try daemon.stop() == 0)
    #expect(try room.program.stop() == 0)
    let heard = try recording(room, "a")
    let parts = heard.clips()
    #expect(parts.count == 2)
    #expect(zip(parts, [2.0, 1.5]).allSatisfy { abs(($0.count / 1e9) - $1) < 0.05 }, "\(parts)")
  }

  @Test func `a daemon that is killed in the middle is not missed`() throws {
    let rooms = try ["a", "b"].map { try ReceiverProgram($0, in: folder) }
    let daemon = try Daemon(in: folder)
    _ = try daemon.run("play", try music(), "--at", rooms[0].address)
    try rooms[0].program.line(with: "playing")
    try daemon.wait { try $0.status()["positionS"] as? Double ?? 0 > 2 }
    _ = try daemon.run(
      "announce", try clip(), "--no-chime", "--volume", "100", "--on", "a", "--at",
      rooms[1].address)
    daemon.kill()
    try rooms[1].program.line(with: "finished")
    let path = folder.file("a.wav")
    let watch = try FolderWatch(folder.file(""))
    func bytes() throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
    let goal = try bytes() + 3 * Self.rate * 8
    try watch.wait { try bytes() >= goal }
    for room in rooms { #expect(try room.program.stop() == 0) }
    let heard = try zip(rooms, ["a", "b"]).map { try recording($0, $1) }
    let begins = try heard.map { try $0.clipBegins() }
    try expectTogether(heard, from: begins)
    try expectDucked(heard[0], begins: begins[0], seconds: 2.02)
  }

  @Test func `the voice is a command that gets the words on its standard input`() throws {
    let room = try ReceiverProgram("a", in: folder)
    let wave = try tone(AnnouncedRecording.clip, seconds: 1, to: "voice.wav")
    let words = folder.file("words")
    let script = try folder.write(
      Array("#!/bin/sh\n/bin/cat > \(words)\n/bin/cat \(wave)\n".utf8), to: "voice")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
    let configuration = try folder.write(Array("voice = \(script) --loud\n".utf8), to: "own.conf")
    let daemon = try Daemon(in: folder, "--config", configuration)
    _ = try daemon.run("say", "Dinner; rm -rf $HOME", "is", "ready", "--at", room.address)
    try room.program.line(with: "finished")
    #expect(try daemon.stop() == 0)
    #expect(try room.program.stop() == 0)
    #expect(try String(contentsOfFile: words, encoding: .utf8) == "Dinner; rm -rf $HOME is ready\n")
    #expect(try recording(room, "a").clips().count == 1)
  }

  @Test func `what cannot be announced is refused with a sentence`() throws {
    let daemon = try Daemon(in: folder)
    let long = try tone(AnnouncedRecording.clip, seconds: 61, to: "long.flac")
    for (words, sentence) in [
      (["announce", long], "an announcement is 60 seconds long at most"),
      (["announce", "/nowhere.wav"], "no such file"),
      (["announce", "alsa:hw:9"], "nothing that goes on for ever"),
      (["say", "  "], "there is nothing to say"),
      (["announce"], "no room is there that could be heard"),
      (["announce", "--volume", "101"], "volume is 0 to 100"),
      (["announce", "--at", "127.0.0.1:1"], "does not answer"),
    ] {
      #expect { try daemon.run(words) } throws: { "\($0)".contains(sentence) }
    }
    #expect(try daemon.stop() == 0)
  }
}

/// A recording of a room, with the times at which its frames were heard. Both tones are fitted to short blocks.
struct AnnouncedRecording {
  static let music = 440.0
  static let clip = 1_000.0

  private let sound: RecordedSound
  /// When frame 0 was heard, in ns of the machine's raw clock.
  private let start: Double

  init(_ path: String, start: Double) throws {
    (sound, self.start) = (try RecordedSound(path), start)
  }

  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_RAW, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  private func frame(at time: Double) -> Int {
    Int(((time - start) * 1e-9 * Double(sound.rate)).rounded())
  }

  private func time(of frame: Int) -> Double { start + Double(frame) / Double(sound.rate) * 1e9 }

  /// The cosine and the sine of a tone in 50 ms, which are whole periods of both tones, on the machine's clock.
  private func fit(_ hertz: Double, at time: Double) -> (cosine: Double, sine: Double) {
    let (first, count) = (frame(at: time), sound.rate / 20)
    guard first >= 0, first + count <= sound.left.count else { return (0, 0) }
    var (cosine, sine) = (0.0, 0.0)
    // The remainder keeps what is left of the large number of seconds.
    let origin = (self.time(of: first) * 1e-9 * hertz).truncatingRemainder(dividingBy: 1)
    for index in 0..<count {
      let angle = 2 * .pi * (origin + hertz * Double(index) / Double(sound.rate))
      let sample = Double(sound.left[first + index])
      (cosine, sine) = (cosine + sample * cos(angle), sine + sample * sin(angle))
    }
    return (2 * cosine / Double(count), 2 * sine / Double(count))
  }

  func amplitude(of hertz: Double, at time: Double) -> Double {
    let found = fit(hertz, at: time)
    return hypot(found.cosine, found.sine)
  }

  /// In periods, 0..<1.
  func phase(of hertz: Double, at time: Double) -> Double {
    let found = fit(hertz, at: time)
    let turns = atan2(found.cosine, found.sine) / (2 * .pi)
    return turns < 0 ? turns + 1 : turns
  }

  /// What is not the music, in dB below it: the worst block of 10 ms.
  func worstResidual(from: Double, to: Double) -> Double {
    let count = sound.rate / 100
    return stride(from: frame(at: from), to: frame(at: to) - count, by: count / 2).map {
      residual($0..<$0 + count)
    }.max() ?? 0
  }

  private func residual(_ frames: Range<Int>) -> Double {
    var (cc, ss, cs, xc, xs, xx) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for index in frames {
      let angle = 2 * .pi * Self.music * Double(index - frames.lowerBound) / Double(sound.rate)
      let (c, s, x) = (cos(angle), sin(angle), Double(sound.left[index]))
      (cc, ss, cs) = (cc + c * c, ss + s * s, cs + c * s)
      (xc, xs, xx) = (xc + x * c, xs + x * s, xx + x * x)
    }
    let determinant = cc * ss - cs * cs
    let (a, b) = ((xc * ss - xs * cs) / determinant, (xs * cc - xc * cs) / determinant)
    let rest = max(xx - a * xc - b * xs, 1e-30)
    return 10 * log10(rest / max(xx, 1e-30))
  }

  /// When the clip is heard, in ns.
  func clips() -> [(begin: Double, count: Double)] {
    var found: [(begin: Double, count: Double)] = []
    let step = 0.01e9
    var begun: Double?
    for time in stride(from: start, to: time(of: sound.left.count) - 0.05e9, by: step) {
      if amplitude(of: Self.clip, at: time) > 0.01 {
        begun = begun ?? time
      } else if let first = begun {
        // A block holds a part of the clip from 50 ms before it on.
        if time - first > 0.5e9 { found.append((first + 0.05e9, time - first - 0.05e9)) }
        begun = nil
      }
    }
    return found
  }

  /// The first frame of the clip, to some ms, in ns.
  func clipBegins() throws -> Double { try #require(clips().first).begin }

  func isSilent(after seconds: Double, from time: Double) -> Bool {
    sound.left.dropFirst(max(0, frame(at: time + seconds * 1e9))).allSatisfy { abs($0) < 1e-6 }
  }
}
