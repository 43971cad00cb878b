import Audio
import Clock
import Foundation
import Testing
import WireProtocol

@testable import Sender

/// Checks that what is heard where songs fade is what is shown, whatever is asked for meanwhile. Each song is ten seconds
/// long and fades for two.
@Suite struct GroupSessionCrossfadeTests {
  private static func tone(_ name: String) -> (Int64) -> Float {
    let frequency = 300 + 100 * Double(name.utf8.first ?? 0)
    return { Float(0.5 * sin(2 * .pi * frequency * Double($0) / 8_000)) }
  }

  /// Songs of one letter. Those with a capital letter are of one album.
  private static func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    guard item.location.count == 1 else { throw .notFound(path: item.location) }
    let source = FadeSource(80_000, isKnown: item.location != "?", sample: tone(item.location))
    if item.location.first?.isUppercase ?? false { source.metadata.album = "X" }
    return source
  }

  private static func effects(_ seconds: Double, rate: Double = 1) -> Effects {
    var effects = Effects()
    (effects.crossfade, effects.rate) = (seconds, rate)
    return effects
  }

  /// A group that has played the songs for half a second.
  private static func playing(_ names: String..., seconds: Double = 2) -> TestGroup {
    var group = TestGroup(names, producesAtOnce: false, endsWithPlaylist: false, openSource: open)
    group.command(.effects(effects(seconds)))
    group.producesAtOnce = true
    group.joinReady()
    group.produce()
    group.advance(by: .milliseconds(600))
    group.take()
    return group
  }

  private func shown(_ group: TestGroup) -> String? {
    group.session.status(at: group.now).item?.item.location
  }

  /// Advances until this place of the stream sounds.
  private func advance(_ group: inout TestGroup, to seconds: Double) {
    let here = (group.session.mediaTime(at: group.now) - .zero).seconds
    group.advance(by: .milliseconds(Int64(((seconds - here) * 1_000).rounded(.up))))
  }

  /// The audio from `second` on for as many seconds, as the rooms get it.
  private func heard(_ group: TestGroup, from second: Int, for seconds: Int) -> [Float?] {
    var samples = [Float?](repeating: nil, count: seconds * 8_000)
    for entry in group.session.store.entries where !entry.bytes.isEmpty {
      var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
      framer.append(entry.bytes)
      guard let raw = try? framer.next(), case .packet(let packet)? = try? MediaMessage.decode(raw)
      else { continue }
      var frames: [Float] = []
      SampleFormat.float32.decode(packet.encoded.payload, appendingTo: &frames)
      let first = Int(((entry.mediaTime - .zero).seconds * 8_000).rounded()) - second * 8_000
      let count = Int(((entry.end - entry.mediaTime).seconds * 8_000).rounded())
      for (offset, frame) in frames.prefix(count).enumerated()
      where samples.indices.contains(first + offset) { samples[first + offset] = frame }
    }
    return samples
  }

  /// Two songs, one of which fades out over its last seconds while the other fades in.
  private func mix(_ old: String, _ new: String, seconds: Int = 2) -> [Float] {
    let (count, old, new) = (seconds * 8_000, Self.tone(old), Self.tone(new))
    return (0..<count).map { index in
      let angle = (Double(index) + 0.5) / Double(count) * .pi / 2
      return Float(
        cos(angle) * Double(old(Int64(80_000 - count + index)))
          + sin(angle) * Double(new(Int64(index))))
    }
  }

  private func expect(
    _ heard: [Float?], _ ideal: [Float], _ location: SourceLocation = #_sourceLocation
  ) {
    let wrong = zip(heard, ideal).count { heard, ideal in
      heard.map { abs($0 - ideal) > 1e-5 } ?? true
    }
    #expect(heard.count == ideal.count && wrong == 0, sourceLocation: location)
  }

  @Test func `the next song is shown from where it begins to be heard`() {
    var group = Self.playing("a", "b", "c")
    expect(heard(group, from: 8, for: 2), mix("a", "b"))
    expect(heard(group, from: 16, for: 2), mix("b", "c"))
    advance(&group, to: 7.99)
    #expect(shown(group) == "a")
    advance(&group, to: 8.01)
    #expect(shown(group) == "b")
    #expect(group.session.status(at: group.now).position < .milliseconds(50))
    let told = group.events.compactMap { event -> String? in
      switch event {
      case .itemEnded(let item): "end " + item.location
      case .itemStarted(let opened): "start " + opened.item.location
      default: nil
      }
    }
    #expect(told == ["end a", "start b"])
  }

  @Test func `a skip and a seek while songs fade act at once, and nothing fades`() throws {
    for command in [PlayerCommand.next, .seek(to: .seconds(5)), .previous, .jump(to: 2)] {
      var group = Self.playing("a", "b", "c")
      advance(&group, to: 9)
      group.take()
      group.command(command)
      let begun = try #require(group.beginnings.first)
      #expect(begun.fading == nil && !begun.continues)
      let flush = try #require(group.flushes.first)
      #expect((flush.from - .zero).seconds < 9.2)
      group.advance(by: .milliseconds(300))
      #expect(shown(group) == begun.item.location)
    }
  }

  // MARK: - Edits

  @Test(arguments: [0.6, 7.5]) func `a next song that is removed is heard nowhere`(
    time: Double
  ) throws {
    var group = Self.playing("a", "b", "c")
    advance(&group, to: time)
    group.take()
    group.command(.edit(.remove([1])))
    group.advance(by: .milliseconds(10))
    let flush = try #require(group.flushes.first)
    #expect(flush.from == .zero + .seconds(8))
    #expect(!flush.isRamped)
    expect(heard(group, from: 8, for: 2), mix("a", "c"))
    advance(&group, to: 8.01)
    #expect(shown(group) == "c")
  }

  @Test func `a song put before the next one fades in instead of it`() {
    var group = Self.playing("a", "b", "c")
    group.command(.edit(.insert([PlaylistEntry("d")], .next)))
    group.advance(by: .milliseconds(10))
    expect(heard(group, from: 8, for: 2), mix("a", "d"))
    expect(heard(group, from: 16, for: 2), mix("d", "b"))
  }

  @Test func `where no song follows any more the one that plays comes to its end`() {
    var group = Self.playing("a", "b", "c")
    group.command(.edit(.remove([1, 2])))
    group.advance(by: .milliseconds(10))
    let alone = (64_000..<80_000).map { Self.tone("a")($0) }
    expect(heard(group, from: 8, for: 2), alone)
    #expect(group.session.timeline.end == .zero + .seconds(10))
    // All of the list was produced by then, and another song comes.
    group.command(.edit(.insert([PlaylistEntry("d")], .end)))
    group.advance(by: .milliseconds(10))
    expect(heard(group, from: 8, for: 2), mix("a", "d"))
  }

  @Test func `a song that comes after the last second before a fade follows without one`() {
    var group = Self.playing("a")
    advance(&group, to: 7.5)
    group.command(.edit(.insert([PlaylistEntry("d")], .end)))
    group.advance(by: .milliseconds(10))
    let joined =
      (64_000..<80_000).map { Self.tone("a")($0) } + (0..<8_000).map { Self.tone("d")($0) }
    expect(heard(group, from: 8, for: 3), joined)
  }

  @Test func `a song that comes between two of an album fades, and they do where they meet again`()
  {
    var group = Self.playing("A", "B", "c")
    let joined =
      (64_000..<80_000).map { Self.tone("A")($0) } + (0..<8_000).map { Self.tone("B")($0) }
    expect(heard(group, from: 8, for: 3), joined)
    group.command(.edit(.insert([PlaylistEntry("d")], .next)))
    group.advance(by: .milliseconds(10))
    expect(heard(group, from: 8, for: 2), mix("A", "d"))
    group.command(.edit(.remove([3])))
    group.advance(by: .milliseconds(10))
    expect(heard(group, from: 8, for: 3), joined)
  }

  @Test func `a song that is removed while it fades in makes way at once`() throws {
    var group = Self.playing("a", "b", "c")
    advance(&group, to: 9)
    group.take()
    group.command(.edit(.remove([1])))
    group.advance(by: .milliseconds(300))
    #expect(try #require(group.beginnings.first).fading == nil)
    #expect(shown(group) == "c")
  }

  // MARK: - Settings

  @Test func `a change of effects while songs fade lets them fade on`() throws {
    var group = Self.playing("a", "b", "c")
    advance(&group, to: 9)
    group.take()
    group.command(.effects(Self.effects(2, rate: 1.5)))
    let begun = try #require(group.beginnings.first)
    let fading = try #require(begun.fading)
    #expect(begun.item.location == "b" && fading.item.location == "a")
    #expect(fading.elapsed == begun.position)
    #expect(fading.position == begun.position + .seconds(8))
    #expect(fading.span + fading.elapsed == .seconds(2))
    #expect(fading.effects.rate == 1.5)
  }

  @Test func `a crossfade that is switched on or off is that from the next song on`() {
    var group = Self.playing("a", "b", seconds: 0)
    #expect(group.session.timeline.segments.last?.start == .zero + .seconds(10))
    group.command(.effects(Self.effects(2)))
    group.advance(by: .milliseconds(600))
    expect(heard(group, from: 8, for: 2), mix("a", "b"))
    group.command(.effects(Self.effects(0)))
    group.advance(by: .milliseconds(600))
    #expect(group.session.timeline.segments.last?.start == .zero + .seconds(10))
  }

  @Test func `what cannot be sought plays on, and the crossfade holds for what comes later`() {
    var group = Self.playing("?", "b", seconds: 0)
    #expect(group.command(.effects(Self.effects(2))) == .success(.done))
    #expect(group.flushes.isEmpty)
    #expect(group.session.status(at: group.now).effects.crossfade == 2)
    #expect(group.command(.effects(Self.effects(2, rate: 2))) != .success(.done))
  }

  @Test func `a successor finds out of a record which songs fade`() throws {
    let group = Self.playing("a", "b")
    var segments = group.session.timeline.segments
    let (one, other) = (segments[0].opened, segments[1].opened)
    segments[0].opened.fadeOut = .zero
    segments[1].opened.fade = nil
    var before = segments[0]
    segments[1].findFade(after: &before, seconds: 2)
    #expect(segments[1].opened.fade == other.fade && other.fade != nil)
    #expect(before.opened.fadeOut == one.fadeOut)
    // The next song may have begun where somebody had left it.
    segments[1].opened.fade = nil
    segments[1].opened.position = .seconds(4)
    segments[1].findFade(after: &before, seconds: 2)
    #expect(segments[1].opened.fade == other.fade)
    // Where none is set, the next song was chosen.
    segments[1].opened.fade = nil
    segments[1].findFade(after: &before, seconds: 0)
    #expect(segments[1].opened.fade == nil)
    // A song that ends where the next one begins has no part that fades.
    segments[1].opened.fade = nil
    segments[0].opened.duration = segments[1].start - segments[0].start
    before = segments[0]
    segments[1].findFade(after: &before, seconds: 2)
    #expect(segments[1].opened.fade == nil && before.opened.fadeOut == .zero)
  }
}
