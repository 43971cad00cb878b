import Audio
import Clock
import FFmpegSource
import ProgramJSON
import Testing
import WireProtocol

@testable import Driver
@testable import Sender

/// The one form in which programs, terminals and the library receive events of a group.
@Suite struct GroupEventTests {
  private static let item = PlayItem(id: 4, location: "/music/a.flac")
  private static let kitchen = SenderEvent.Room(id: RoomID(2), name: "Kitchen")

  private static func opened(isSeekable: Bool, _ metadata: ItemMetadata) -> OpenedItem {
    var opened = OpenedItem(
      item: item, duration: .seconds(61), position: .zero, isSeekable: isSeekable,
      metadata: metadata)
    opened.wire = WireChoice(codec: .flac, reason: .passedOn)
    return opened
  }

  private static let events: [SenderEvent] =
    [
      .started, .paused, .resumed, .playlistChanged, .stopped, .finished,
      .buffering(.init(item: item, arrived: .milliseconds(500), needed: .seconds(2))),
      .buffered(after: .milliseconds(7_250)),
      .itemStarted(
        opened(isSeekable: false, ItemMetadata(title: "A", artist: "B", album: "C"))),
      .itemDescribed(opened(isSeekable: true, ItemMetadata())), .itemEnded(item),
      .itemFailed(item, .endsEarly(path: "a.flac", after: 1, of: 2)),
      .itemFailed(item, .notFound(path: "a.flac")), .position(item, .milliseconds(1_500)),
    ]
    + [
      .connected, .gone(reason: "timeout"), .unreachable(reason: "no route"),
      .refused(reason: "busy"), .replaced(reason: "study plays there"),
      .namedTwice(as: RoomID(3)), .state(.noDevice, detail: "unplugged"),
      .state(.playing, detail: ""), .flushed, .recoded(from: .aac), .weak(getting: .opus),
      .recovered,
      .choseLatency(.milliseconds(80)),
    ].map { .room(kitchen, $0) }

  private static let changes: [GroupEvent.Change] =
    events.map { .group($0) } + [
      .source(.stalled(location: "http://x/a")),
      .source(.resumed(location: "http://x/a", afterSeconds: 3)),
      .source(.reconnecting(location: "http://x/a", reason: "reset")),
      .source(.away(location: "alsa:hw:1", reason: "gone")), .source(.back(location: "alsa:hw:1")),
      .source(.longBlocks(location: "pipe:/x", milliseconds: 500, latency: 1010)),
      .source(.withoutEffects(location: "a.flac", reason: "a.flac: no filters")),
      .waiting(reason: "looking for Kitchen"), .leftOut(events: 3, positions: 40),
    ]

  private static func json(_ event: GroupEvent) throws -> String {
    String(decoding: try JSON.encode(event), as: UTF8.self)
  }

  @Test func `programs read one flat object`() throws {
    let lines = try Self.changes.map { try Self.json(GroupEvent(revision: 7, $0)) }
    for line in [
      #"{"event":"paused","revision":7}"#,
      #"{"event":"itemEnded","item":"/music/a.flac","itemId":4,"revision":7}"#,
      #"{"event":"position","item":"/music/a.flac","itemId":4,"positionS":1.5,"revision":7}"#,
      #"{"event":"roomState","reason":"unplugged","revision":7,"room":"Kitchen","roomId":2,"state":"noDevice"}"#,
      #"{"event":"roomState","revision":7,"room":"Kitchen","roomId":2,"state":"playing"}"#,
      #"{"event":"buffered","revision":7,"silenceS":7.25}"#,
      #"{"album":"C","artist":"B","codec":"flac","durationS":61,"event":"itemStarted","item":"/music/a.flac","itemId":4,"reason":"FLAC as it is","revision":7,"seekable":false,"title":"A"}"#,
    ] { #expect(lines.contains(line)) }
  }
}
