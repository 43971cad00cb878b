import Foundation
import TestSupport
import Testing
import Tutti

/// Effects of renderers and players, heard in a room of this program.
@Suite(.timeLimit(.minutes(2))) struct RendererEffectsTests {
  private static let tone = 440.0
  private static let level: Float = 0.2

  private static func renderer(in room: Room) async throws -> (AudioRenderer, RenderSynchronizer) {
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    let renderer = try await AudioRenderer(rooms: [room], settings: settings)
    let synchronizer = RenderSynchronizer()
    try await synchronizer.add(renderer)
    return (renderer, synchronizer)
  }

  private static func feedTone(_ renderer: AudioRenderer, to end: PlaybackTime) async throws {
    try await feed(renderer, from: .zero, to: end) { level * Float(sin(2 * .pi * tone * $0)) }
  }

  /// Frequency, in Hz, and root mean square of what is heard in half a second.
  private static func sound(
    _ frames: [(time: HostTime, level: Float)], from start: HostTime
  ) -> (frequency: Double, level: Double) {
    let heard = frames.filter { $0.time >= start && $0.time < start + .milliseconds(500) }
      .map { Double($0.level) }
    let crossings = zip(heard, heard.dropFirst()).count { $0 < 0 && $1 >= 0 }
    let power = heard.reduce(0) { $0 + $1 * $1 } / Double(max(1, heard.count))
    return (Double(crossings) * 48_000 / Double(max(1, heard.count)), power.squareRoot())
  }

  @Test func `pitch and filters of a renderer act in the middle of what sounds, and time goes on`()
    async throws
  {
    let ear = Ear()
    let (renderer, synchronizer) = try await Self.renderer(in: ear.room)
    let feeding = Task { try await Self.feedTone(renderer, to: .seconds(60)) }
    let began = try await synchronizer.setRate(1)
    await ear.listen(until: began + .seconds(1))
    let raised = try await renderer.setPitch(12)
    await ear.listen(until: raised + .seconds(1))
    let muffled = try await renderer.setFilters([.lowpass(frequency: 100)])
    await ear.listen(until: muffled + .seconds(1))
    let faster = try await synchronizer.setRate(1.5)
    await ear.listen(until: faster + .seconds(1))
    try await renderer.setFilters([])
    let plain = try await renderer.setPitch(0)
    await ear.listen(until: plain + .seconds(1))
    // Nobody need enqueue anything again.
    #expect(synchronizer.rate == 1.5)
    await renderer.close()
    _ = await feeding.result

    let frames = ear.frames
    let before = Self.sound(frames, from: began + .milliseconds(300))
    #expect(abs(before.frequency / Self.tone - 1) < 0.02)
    let high = Self.sound(frames, from: raised + .milliseconds(300))
    #expect(abs(high.frequency / Self.tone - 2) < 0.06, "\(high)")
    // An octave and more above its corner, by 12 dB each.
    let low = Self.sound(frames, from: muffled + .milliseconds(300))
    #expect(abs(low.frequency / Self.tone - 2) < 0.06, "\(low)")
    #expect(low.level < high.level / 20)
    let quick = Self.sound(frames, from: faster + .milliseconds(300))
    #expect(
      abs(quick.frequency / Self.tone - 2) < 0.06 && quick.level < high.level / 20, "\(quick)")
    let last = Self.sound(frames, from: plain + .milliseconds(300))
    #expect(abs(last.frequency / Self.tone - 1) < 0.03 && last.level > before.level / 2, "\(last)")
    // The old sound plays on until the new one is there.
    let sounding = frames.filter { $0.time > began + .milliseconds(50) && $0.time < muffled }
    #expect(Self.longestSilence(sounding) < .milliseconds(20))
  }

  private static func longestSilence(_ frames: [(time: HostTime, level: Float)]) -> Duration {
    var (run, longest) = (0, 0)
    for frame in frames {
      run = abs(frame.level) < 1e-4 ? run + 1 : 0
      longest = max(longest, run)
    }
    return .seconds(Double(longest) / 48_000)
  }

  /// The tone goes on as another one of known frequency, so that each sample of an ideal cross-fade is known.
  @Test func `filters, pitch and rate take over in a cross-fade, and nothing else is heard`()
    async throws
  {
    let ear = Ear()
    let (renderer, synchronizer) = try await Self.renderer(in: ear.room)
    let feeding = Task { try await Self.feedTone(renderer, to: .seconds(60)) }
    let began = try await synchronizer.setRate(1)
    await ear.listen(until: began + .seconds(1))
    var changes: [(name: String, at: HostTime, before: Double, after: Double)] = []
    changes.append(
      ("filter", try await renderer.setFilters([.lowpass(frequency: 300)]), Self.tone, Self.tone))
    await ear.listen(until: changes[0].at + .seconds(1))
    changes.append(("no filter", try await renderer.setFilters([]), Self.tone, Self.tone))
    await ear.listen(until: changes[1].at + .seconds(1))
    changes.append(("pitch", try await renderer.setPitch(12), Self.tone, 2 * Self.tone))
    await ear.listen(until: changes[2].at + .seconds(1))
    changes.append(("no pitch", try await renderer.setPitch(0), 2 * Self.tone, Self.tone))
    await ear.listen(until: changes[3].at + .seconds(1))
    changes.append(("rate", try await synchronizer.setRate(1.5), Self.tone, Self.tone))
    await ear.listen(until: changes[4].at + .seconds(1))
    await renderer.close()
    _ = await feeding.result

    let frames = ear.frames
    let heard = frames.map { Double($0.level) }
    for change in changes {
      let place = try #require(frames.firstIndex { $0.time >= change.at })
      let fade = CrossFade(heard, near: place, from: change.before, to: change.after)
      print(change.name, fade)
      #expect(fade.silence < 3, "\(change.name): \(fade)")
      // The parts from which stretched sound is made do not join in the tone's own phase.
      let isStretched =
        ![change.before, change.after].allSatisfy { $0 == Self.tone } || change.name == "rate"
      #expect(fade.error < (isStretched ? -30 : -60), "\(change.name): \(fade)")
    }
  }

  @Test func `the loudness of a player's items changes, and is switched off, without silence`()
    async throws
  {
    let ear = Ear()
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    let player = try await Player(rooms: [ear.room], settings: settings)
    try await player.append([
      .custom("tone") {
        MadeSound { Self.level * Float(sin(2 * .pi * Self.tone * Double($0) / 48_000)) }
      }
    ])
    /// The instant since which a change is heard, once it has sounded for a second.
    func heard(_ outcome: Player.Outcome) async throws -> HostTime {
      guard case .heard(let time) = outcome else { throw TestFailure(line: "\(outcome)") }
      await ear.listen(until: time + .seconds(1))
      return time
    }
    let began = try await heard(try await player.play())
    let changes = [
      ("loudness", try await heard(try await player.setLoudness(-30))),
      ("another loudness", try await heard(try await player.setLoudness(-20))),
      ("a filter", try await heard(try await player.setFilters([.lowpass(frequency: 300)]))),
      ("no filter", try await heard(try await player.setFilters([]))),
      ("no loudness", try await heard(try await player.setLoudness(nil))),
    ]
    await player.close()

    let frames = ear.frames
    var before = Self.sound(frames, from: began + .milliseconds(300)).level
    for (name, time) in changes {
      let around = frames.filter {
        $0.time > time - .milliseconds(500) && $0.time < time + .milliseconds(500)
      }
      let silence = Self.longestSilence(around)
      #expect(silence < .milliseconds(1), "\(name): \(silence)")
      let after = Self.sound(frames, from: time + .milliseconds(300)).level
      #expect(abs(20 * log10(after / before)) > 3, "\(name): \(before), \(after)")
      before = after
    }
  }

  @Test func `a player's pitch is heard since it returns, and its speed leaves the pitch`()
    async throws
  {
    let ear = Ear()
    var settings = OutputSettings()
    settings.identity = .temporary
    settings.codec = .pcm
    let player = try await Player(rooms: [ear.room], settings: settings)
    try await player.append([
      .custom("tone") {
        MadeSound { Self.level * Float(sin(2 * .pi * Self.tone * Double($0) / 48_000)) }
      }
    ])
    /// The instant since which a change is heard, once it has sounded for a second.
    func heard(_ outcome: Player.Outcome) async throws -> HostTime {
      guard case .heard(let time) = outcome else { throw TestFailure(line: "\(outcome)") }
      await ear.listen(until: time + .seconds(1))
      return time
    }
    _ = try await heard(try await player.play())
    let instants = [
      try await heard(try await player.setPitch(12)), try await heard(try await player.setRate(2)),
    ]
    await player.close()
    for time in instants {
      let heard = Self.sound(ear.frames, from: time + .milliseconds(200))
      #expect(abs(heard.frequency / Self.tone - 2) < 0.06, "\(heard)")
    }
  }

  @Test func `effects that are set before the start are heard from it on, and the length stays`()
    async throws
  {
    let ear = Ear()
    let (renderer, synchronizer) = try await Self.renderer(in: ear.room)
    try await renderer.setPitch(-12)
    let feeding = Task {
      try await Self.feedTone(renderer, to: .seconds(3))
      renderer.finish()
    }
    let events = renderer.events
    let began = try await synchronizer.setRate(1)
    _ = try await events.first { $0 == .ended }
    await ear.listen(until: began + .seconds(3.3))
    _ = try await feeding.value
    await renderer.close()
    let frames = ear.frames
    let heard = Self.sound(frames, from: began + .milliseconds(500))
    #expect(abs(heard.frequency / Self.tone - 0.5) < 0.02, "\(heard)")
    let last = try #require(frames.last { abs($0.level) > 0.01 }?.time)
    #expect(abs((last - began) / .seconds(3) - 1) < 0.03)
  }

  @Test func `effects out of range are refused, and those of a closed renderer`() async throws {
    let renderer = try await AudioRenderer()
    await #expect(throws: TuttiError.self) { try await renderer.setPitch(13) }
    await #expect(throws: TuttiError.self) { try await renderer.setPitch(.nan) }
    await #expect(throws: TuttiError.self) {
      try await renderer.setFilters([.lowpass(frequency: 5)])
    }
    await #expect(throws: TuttiError.self) {
      try await renderer.setFilters(Array(repeating: .bass(gain: 1), count: 17))
    }
    await renderer.close()
    await #expect(throws: TuttiError.closed) { try await renderer.setPitch(1) }
  }
}
