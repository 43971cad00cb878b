import Clock
import WireProtocol

extension Meaning {
  static let journal: [(name: String, value: Meaning)] = [
    ("journal.playing", journal([.init(group: "g1", record: playing)])),
    ("journal.paused", journal([.init(group: "g2", record: paused)])),
    ("journal.empty", journal([])),
  ]

  private static func journal(_ streams: [StreamJournal.Stream]) -> Meaning {
    .journal(
      StreamJournal(
        boot: .counting(from: 0x30), senderID: .counting(from: 0x10), slept: .seconds(7),
        streams: streams))
  }

  private static func at(_ seconds: Int64) -> MediaTime { MediaTime.zero + .seconds(seconds) }

  private static let playing = StreamRecord(
    state: .playing, clockID: 0x1112_1314_1516_1718, clockLead: .seconds(7), generation: 3,
    nextSequence: 1500, lastArtwork: 7, heldByAll: at(300), heldByOne: at(310),
    anchors: [
      Anchor(
        mediaTime: at(10), groupTime: GroupTime(nanoseconds: 90_000_250_000_000), rate: .playing)
    ],
    cuts: [.init(generation: 3, from: at(42), isRamped: true)],
    segments: [
      .init(
        start: at(42), entry: 12, position: .seconds(60), isChosen: true,
        description: ItemDescription(
          title: "Sinnerman", artist: "Nina Simone", album: "Pastel Blues", track: 10,
          duration: .seconds(622), artwork: 7)),
      .init(start: at(604), entry: 13, position: .zero),
    ])

  private static let paused = StreamRecord(
    state: .paused, clockID: 0x1112_1314_1516_1719, generation: 0, nextSequence: 400,
    heldByAll: at(30), heldByOne: at(30),
    beginning: .init(entry: 5, position: .zero, start: at(30)),
    anchors: [
      Anchor(
        mediaTime: at(0), groupTime: GroupTime(nanoseconds: 90_000_250_000_000), rate: .playing),
      Anchor(
        mediaTime: at(20), groupTime: GroupTime(nanoseconds: 90_020_250_000_000), rate: .paused),
    ],
    segments: [
      .init(
        start: at(0), entry: 4, position: .zero,
        description: ItemDescription(title: "One", track: 1, duration: .seconds(30)))
    ])
}
