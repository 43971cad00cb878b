import House
import MPRISProtocol
import Sender
import Testing

/// A group of three items, of which the second plays since 10 s.
private func group(
  _ state: HouseState.Group.State = .playing, index: Int? = 1,
  _ change: (inout HouseState.Group) -> Void = { _ in }
) -> HouseState.Group {
  var item = index.map {
    HouseState.Item(
      entryId: 40 + $0, title: "Two", isSeekable: true, isLive: false, hasVideo: false)
  }
  item?.durationS = 200
  var group = HouseState.Group(
    id: "g1", name: "Kitchen", isNamed: false, roomIds: ["1"], state: state, item: item,
    positionS: 10, positionAtMs: 1_000, volume: 37, muted: false, repeat: .off,
    effects: EffectsReport(Effects()),
    queue: .init(revision: 1, count: index == nil ? 0 : 3, index: index, canUndo: nil))
  change(&group)
  return group
}

private func shown(_ group: HouseState.Group, art: String? = nil) -> MediaPlayer.Shown {
  MediaPlayer.Shown(slug: "kitchen", name: "Tutti: \(group.name)", group: group, art: art)
}

private func player(_ group: HouseState.Group) -> MediaPlayer {
  MediaPlayer(shown(group), at: 1_000)
}

/// Tests of a group's properties on the bus.
@Suite struct MediaPlayerPropertyTests {
  private func value(
    _ property: PlayerProperty, _ group: HouseState.Group, at nowMs: Double = 1_000
  ) -> BusValue {
    player(group).value(of: property, at: nowMs)
  }

  @Test func `each state of a group has its word`() {
    let words: [(HouseState.Group.State, String)] = [
      (.stopped, "Stopped"), (.starting, "Playing"), (.playing, "Playing"), (.paused, "Paused"),
      (.buffering, "Playing"),
    ]
    #expect(words.count == HouseState.Group.State.allCases.count)
    for (state, word) in words { #expect(value(.status, group(state)) == .text(word)) }
  }

  @Test func `each way to repeat has its word, and is set by it`() {
    for (repetition, word) in [
      (Playlist.Repetition.off, "None"), (.one, "Track"), (.all, "Playlist"),
    ] {
      let group = group { $0.repeat = repetition }
      #expect(value(.loop, group) == .text(word))
      #expect(player(group).answer(.loop(word)) == .nothing)
      let other = player(self.other(than: repetition)).answer(.loop(word))
      #expect(other == .order(.change(group: "g1", .init(repeat: repetition))))
    }
    #expect(
      player(group()).answer(.loop("playlist"))
        == .refuse(.invalid, "LoopStatus is None, Track or Playlist."))
  }

  private func other(than repetition: Playlist.Repetition) -> HouseState.Group {
    group { $0.repeat = repetition == .off ? .all : .off }
  }

  @Test func `the position moves on while it plays, by its rate, to the end of the item`() {
    #expect(value(.position, group(), at: 3_500) == .span(12_500_000))
    #expect(value(.position, group { $0.rate = 2 }, at: 3_500) == .span(15_000_000))
    #expect(value(.position, group(.paused), at: 3_500) == .span(10_000_000))
    #expect(value(.position, group { $0.targetS = 99 }, at: 3_500) == .span(99_000_000))
    #expect(value(.position, group(), at: 1e12) == .span(200_000_000))
    #expect(value(.position, group { $0.positionS = -3 }, at: 0) == .span(0))
    for wrong in [Double.nan, .infinity, -.infinity] {
      #expect(
        value(.position, endless(at: wrong)) == .span(0))
    }
    let century = endless(at: 1e300)
    #expect(value(.position, century) == .span(3_200_000_000_000_000))
  }

  private func endless(at seconds: Double) -> HouseState.Group {
    group {
      $0.positionS = seconds
      $0.item?.durationS = nil
    }
  }

  @Test func `the volume is that of the group, from 0 to 1`() {
    #expect(value(.volume, group()) == .number(0.37))
    #expect(value(.volume, group { $0.volume = 100 }) == .number(1))
    #expect(value(.volume, group { $0.volume = 104 }) == .number(1))
  }

  @Test func `the track has an identity, a length, a title, and what else is known`() {
    let full = group {
      $0.item?.artist = "Jo"
      $0.item?.album = "Third"
    }
    let player = MediaPlayer(shown(full, art: "http://localhost:1/a"), at: 1_000)
    #expect(
      player.value(of: .metadata, at: 0)
        == .fields([
          BusValue.Field("mpris:trackid", .path("/org/tutti/entry/41")),
          BusValue.Field("mpris:length", .span(200_000_000)),
          BusValue.Field("mpris:artUrl", .text("http://localhost:1/a")),
          BusValue.Field("xesam:title", .text("Two")),
          BusValue.Field("xesam:artist", .texts(["Jo"])),
          BusValue.Field("xesam:album", .text("Third")),
        ]))
    let bare = group { $0.item?.durationS = nil }
    #expect(
      value(.metadata, bare)
        == .fields([
          BusValue.Field("mpris:trackid", .path("/org/tutti/entry/41")),
          BusValue.Field("xesam:title", .text("Two")),
        ]))
    #expect(value(.metadata, group(.stopped, index: nil)) == .fields([]))
  }

  @Test func `what can be done is told, and what cannot`() {
    func can(_ group: HouseState.Group) -> [BusValue] {
      [.canPlay, .canPause, .canGoNext, .canGoPrevious, .canSeek, .canControl].map {
        value($0, group)
      }
    }
    #expect(can(group()) == [true, true, true, true, true, true].map(BusValue.flag))
    #expect(can(group(index: 2)) == [true, true, false, true, true, true].map(BusValue.flag))
    #expect(value(.canGoNext, group(index: 2) { $0.repeat = .all }) == .flag(true))
    #expect(
      can(group(.stopped, index: nil))
        == [false, false, false, false, false, true].map(BusValue.flag))
    // A station whose last hour is kept.
    #expect(value(.canSeek, group { $0.item?.isLive = true }) == .flag(true))
    #expect(value(.canSeek, group { $0.item?.isSeekable = false }) == .flag(false))
    for property in [PlayerProperty.canQuit, .canRaise, .hasTrackList] {
      #expect(value(property, group()) == .flag(false))
    }
    #expect(value(.shuffle, group { $0.queue.isShuffled = true }) == .flag(true))
    #expect(value(.leastRate, group()) == .number(Effects.rates.lowerBound))
    #expect(value(.mostRate, group()) == .number(Effects.rates.upperBound))
    #expect(value(.schemes, group()) == .texts(["http", "https"]))
    #expect(value(.identity, group()) == .text("Tutti: Kitchen"))
  }

  @Test func `no text has what the bus refuses`() {
    var text = "a\u{0}b\u{1b}[31m\u{85}"
    for value: UInt32 in [0xfffe, 0x1ffff, 0xfdd0] {
      if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
    }
    #expect(
      BusText.clean(text + "é😀") == "a\u{fffd}b\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}é😀")
    #expect(BusText.clean(String(repeating: "é", count: 600)).utf8.count == BusText.limit)
    #expect(BusText.clean(String(repeating: "é", count: 600), limit: 3) == "é")
    let title = group { $0.item?.title = "x\u{0}y" }
    #expect(
      value(.metadata, title)
        == .fields([
          BusValue.Field("mpris:trackid", .path("/org/tutti/entry/41")),
          BusValue.Field("mpris:length", .span(200_000_000)),
          BusValue.Field("xesam:title", .text("x�y")),
        ]))
    #expect(BusText.address(ofFile: "/a b/é%.png") == "file:///a%20b/%C3%A9%25.png")
  }
}

/// Tests of calls that others make.
@Suite struct MediaPlayerCallTests {
  private func answer(
    _ call: PlayerCall, _ group: HouseState.Group, at nowMs: Double = 1_000
  ) -> BusAnswer {
    player(group).answer(call, at: nowMs)
  }

  private func transport(_ transport: Order.Transport) -> BusAnswer {
    .order(.transport(group: "g1", transport))
  }

  @Test func `play, pause and stop do what is left to be done`() {
    let empty = group(.stopped, index: nil)
    for state in [HouseState.Group.State.playing, .starting, .buffering] {
      #expect(answer(.play, group(state)) == .nothing)
      #expect(answer(.pause, group(state)) == transport(.pause))
      #expect(answer(.playPause, group(state)) == transport(.pause))
      #expect(answer(.stop, group(state)) == transport(.stop))
    }
    for state in [HouseState.Group.State.paused, .stopped] {
      #expect(answer(.play, group(state)) == transport(.play))
      #expect(answer(.pause, group(state)) == .nothing)
      #expect(answer(.playPause, group(state)) == transport(.play))
    }
    #expect(answer(.stop, group(.paused)) == transport(.stop))
    #expect(answer(.stop, group(.stopped)) == .nothing)
    #expect(answer(.play, empty) == .nothing)
    #expect(answer(.playPause, empty) == .refuse(.failed, "Nothing is in the queue."))
    #expect(answer(.raise, group()) == .nothing && answer(.quit, group()) == .nothing)
  }

  @Test func `next and previous go where there is something`() {
    #expect(answer(.next, group()) == transport(.next))
    #expect(answer(.next, group(index: 2)) == .nothing)
    #expect(answer(.next, group(index: 2) { $0.repeat = .all }) == transport(.next))
    #expect(answer(.previous, group()) == transport(.previous))
    #expect(answer(.previous, group(.stopped, index: nil)) == .nothing)
  }

  @Test func `a seek stays within the item, and beyond its end is the next one`() {
    func seek(_ seconds: Double, _ isRelative: Bool) -> BusAnswer {
      .order(.seek(group: "g1", seconds: seconds, isRelative: isRelative))
    }
    #expect(answer(.seek(by: 5_500_000), group()) == seek(5.5, true))
    #expect(answer(.seek(by: -5_000_000), group()) == seek(-5, true))
    #expect(answer(.seek(by: -10_000_000), group()) == seek(0, false))
    #expect(answer(.seek(by: .min), group()) == seek(0, false))
    #expect(answer(.seek(by: 190_000_000), group()) == transport(.next))
    #expect(answer(.seek(by: .max), group()) == transport(.next))
    #expect(answer(.seek(by: .max), group(index: 2)) == .nothing)
    // It has moved on since.
    #expect(answer(.seek(by: 180_000_000), group(), at: 12_000) == transport(.next))
    #expect(answer(.seek(by: 1), group { $0.item?.isSeekable = false }) == .nothing)
    #expect(answer(.seek(by: 1), group(.stopped, index: nil)) == .nothing)
  }

  @Test func `a place is set in the track that is meant, and nowhere else`() {
    let track = "/org/tutti/entry/41"
    func set(_ span: Int64, in track: String = track) -> BusAnswer {
      answer(.setPosition(track: track, span), group())
    }
    #expect(set(30_000_000) == .order(.seek(group: "g1", seconds: 30, isRelative: false)))
    #expect(set(0) == .order(.seek(group: "g1", seconds: 0, isRelative: false)))
    for wrong in ["/org/tutti/entry/40", "/org/mpris/MediaPlayer2/TrackList/NoTrack", "/", ""] {
      #expect(set(30_000_000, in: wrong) == .nothing)
    }
    for wrong in [-1, .min, .max, 200_000_000] as [Int64] { #expect(set(wrong) == .nothing) }
    #expect(
      answer(.setPosition(track: track, 0), group { $0.item?.isSeekable = false }) == .nothing)
  }

  @Test func `an address is handed on, and one without end is refused`() {
    #expect(answer(.open("http://a/b"), group()) == .open("http://a/b"))
    let long = String(repeating: "a", count: MediaPlayer.addressLimit + 1)
    #expect(
      answer(.open(long), group()) == .refuse(.invalid, "An address has at most 4000 bytes."))
  }

  @Test func `volume, rate and shuffle are set within their ranges`() {
    func volume(_ value: Double) -> BusAnswer { player(group()).answer(.volume(value)) }
    func set(_ volume: Double) -> BusAnswer {
      .order(.change(group: "g1", .init(rooms: RoomChange(volume: volume))))
    }
    #expect(volume(0.25) == set(25) && volume(-1) == set(0) && volume(7) == set(100))
    #expect(volume(.infinity) == set(100) && volume(-.infinity) == set(0))
    #expect(volume(.nan) == .refuse(.invalid, "Volume is 0 to 1."))
    func rate(_ value: Double, _ group: HouseState.Group = group()) -> BusAnswer {
      player(group).answer(.rate(value))
    }
    #expect(rate(1.25) == .order(.change(group: "g1", .init(effects: EffectsChange(rate: 1.25)))))
    #expect(rate(0) == transport(.pause) && rate(0, group(.paused)) == .nothing)
    for wrong in [-1, 4.01, 0.1, .infinity, .nan] {
      #expect(rate(wrong) == .refuse(.invalid, "Rate is 0.25 to 4."))
    }
    func shuffle(_ value: Bool, _ group: HouseState.Group = group()) -> BusAnswer {
      player(group).answer(.shuffle(value))
    }
    #expect(shuffle(true) == .order(.edit(group: "g1", .shuffle, expected: nil)))
    #expect(shuffle(false) == .nothing && shuffle(true, group(.stopped, index: nil)) == .nothing)
    let shuffled = group { $0.queue.isShuffled = true }
    #expect(shuffle(false, shuffled) == .order(.edit(group: "g1", .unshuffle, expected: nil)))
    #expect(shuffle(true, shuffled) == .nothing)
  }

  @Test func `methods and settings have their names on the bus`() {
    #expect(PlayerCall("SetPosition", text: "/a", span: 3) == .setPosition(track: "/a", 3))
    #expect(PlayerCall("OpenUri", text: "x", span: 0) == .open("x"))
    #expect(PlayerCall("playpause", text: "", span: 0) == nil)
    #expect(PlayerSetting("Shuffle", text: "", number: 1) == .shuffle(true))
    #expect(PlayerSetting("Position", text: "", number: 1) == nil)
    let names = ["Next", "Previous", "Pause", "PlayPause", "Stop", "Play", "Seek", "Raise", "Quit"]
    #expect(names.allSatisfy { PlayerCall($0, text: "", span: 0) != nil })
  }
}

/// Tests of the news that others are told.
@Suite struct MediaPlayerNewsTests {
  @Test func `changes are told once, at an interval, and only if they last`() {
    var player = player(group())
    #expect(player.nextDeadlineMs == nil && player.nextNews(at: 1_000) == nil)
    player.show(shown(group { $0.volume = 40 }), at: 1_000)
    #expect(player.nextNews(at: 1_000) == .init(changed: [.volume]))
    for volume in 41...60 {
      player.show(shown(group { $0.volume = Double(volume) }), at: 1_050)
      #expect(player.nextNews(at: 1_050) == nil && player.nextDeadlineMs == 1_100)
    }
    #expect(player.nextNews(at: 1_100) == .init(changed: [.volume]))
    // There and back again is no news.
    player.show(shown(group { $0.volume = 20 }), at: 1_110)
    player.show(shown(group { $0.volume = 60 }), at: 1_120)
    #expect(player.nextNews(at: 2_000) == nil && player.nextDeadlineMs == nil)
  }

  @Test func `a position that moves by itself is no news, and one that leaps is told`() {
    var player = player(group())
    player.show(
      shown(group { ($0.positionS, $0.positionAtMs) = (15.1, 6_000) }), at: 6_000)
    #expect(player.nextNews(at: 6_000) == nil)
    player.show(
      shown(group { ($0.positionS, $0.positionAtMs) = (60, 7_000) }), at: 7_000)
    #expect(player.nextNews(at: 8_000) == .init(changed: [], seekedUs: 61_000_000))
    // The next item, from its beginning, and then another one from where somebody has left it.
    func item(_ id: Int, from seconds: Double) -> MediaPlayer.Shown {
      shown(
        group {
          $0.item?.entryId = id
          ($0.positionS, $0.positionAtMs) = (seconds, 9_000)
        })
    }
    player.show(item(42, from: 0), at: 9_000)
    #expect(player.nextNews(at: 9_000) == .init(changed: [.metadata]))
    player.show(item(43, from: 50), at: 9_500)
    #expect(player.nextNews(at: 10_000) == .init(changed: [.metadata], seekedUs: 51_000_000))
  }

  @Test func `a stop tells the state, the track and what can be done`() {
    var player = player(group())
    player.show(shown(group(.stopped, index: nil)), at: 1_000)
    #expect(
      player.nextNews(at: 1_000)?.changed
        == [.status, .metadata, .canGoNext, .canGoPrevious, .canPlay, .canPause, .canSeek])
  }

  @Test func `whoever comes anew asks, and is not told what was before`() {
    var player = player(group())
    player.show(shown(group(.paused)), at: 1_000)
    player.begin(at: 1_000)
    #expect(player.nextNews(at: 1_000) == nil)
  }
}

/// Tests of the connection and its name.
@Suite struct BusPresenceTests {
  @Test func `names on the bus are letters, figures and underscores`() {
    #expect(BusName.player(nil) == "org.mpris.MediaPlayer2.tutti")
    #expect(BusName.player("living-room") == "org.mpris.MediaPlayer2.tutti.living_room")
    #expect(BusName.player("2nd-floor") == "org.mpris.MediaPlayer2.tutti._2nd_floor")
    #expect(BusName.player("") == "org.mpris.MediaPlayer2.tutti._")
    #expect(BusName.player("a.b/ü") == "org.mpris.MediaPlayer2.tutti.a_b___")
    #expect(BusName.player(String(repeating: "a", count: 999)).utf8.count <= 255 - 20)
  }

  @Test func `a name that another program has is not waited for`() {
    var presence = BusPresence(name: "n", process: 7, at: 5)
    #expect(presence.nextAttemptMs == 5)
    #expect(presence.opened() == "n" && presence.nextAttemptMs == nil)
    #expect(presence.answered(isOurs: false) == "n.instance7")
    #expect(presence.answered(isOurs: true) == nil && presence.name == "n.instance7")
    // Its own connection before may still have it.
    var again = BusPresence(name: "n", process: 7, at: 5)
    _ = again.opened()
    _ = again.answered(isOurs: true)
    again.lost(at: 0)
    _ = again.opened()
    for _ in 0..<BusPresence.nameAttempts { #expect(again.answered(isOurs: false) == "n") }
    #expect(again.answered(isOurs: false) == "n.instance7")
    var other = BusPresence(name: "n", process: 7, at: 5)
    _ = other.opened()
    _ = other.answered(isOurs: false)
    #expect(other.answered(isOurs: false) == nil && other.isNameless && !other.isNamed)
  }

  @Test
  func `a bus that is away is asked less and less often, and one that is back like a new one`() {
    var presence = BusPresence(name: "n", process: 7, at: 0)
    var now = 0.0
    var delays: [Double] = []
    for _ in 0..<7 {
      presence.lost(at: now)
      delays.append((presence.nextAttemptMs ?? 0) - now)
      now = presence.nextAttemptMs ?? 0
    }
    #expect(delays == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    _ = presence.opened()
    _ = presence.answered(isOurs: true)
    presence.lost(at: 0)
    #expect(presence.nextAttemptMs == 1_000)
  }
}
