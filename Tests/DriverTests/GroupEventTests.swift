import Audio
import Clock
import FFmpegSource
import Foundation
import Sender
import Testing
import WireProtocol

@testable import Driver

/// The one form in which programs, terminals and the library receive events of a group.
@Suite struct GroupEventTests {
  private static let item = PlayItem(id: 4, location: "/music/a.flac")
  private static let kitchen = GroupEvent.Room(id: RoomID(2), name: "Kitchen")

  private static let changes: [GroupEvent.Change] =
    [
      .started, .paused, .resumed, .playlistChanged, .stopped, .finished,
      .buffering(.init(item: item, arrived: .milliseconds(500), needed: .seconds(2))),
      .buffered(after: .milliseconds(7_250)),
      .itemStarted(
        .init(
          item: item, title: "A", artist: "B", album: "C", duration: .seconds(61),
          isSeekable: false, codec: .flac, codecReason: "FLAC as it is")),
      .itemDescribed(.init(item: item)), .itemEnded(item),
      .itemFailed(item, reason: "a.flac: damaged", hasSounded: true),
      .itemFailed(item, reason: "a.flac: not audio", hasSounded: false),
      .position(item, .milliseconds(1_500)), .source(.stalled(location: "http://x/a")),
      .source(.resumed(location: "http://x/a", afterSeconds: 3)),
      .source(.reconnecting(location: "http://x/a", reason: "reset")),
      .source(.away(location: "alsa:hw:1", reason: "gone")), .source(.back(location: "alsa:hw:1")),
      .source(.longBlocks(location: "pipe:/x", milliseconds: 500, latency: 1010)),
      .source(.withoutEffects(location: "a.flac", reason: "a.flac: no filters")),
      .waiting(reason: "looking for Kitchen"), .leftOut(events: 3, positions: 40),
    ]
    + [
      .connected, .gone(reason: "timeout"), .unreachable(reason: "no route"),
      .refused(reason: "busy"), .replaced(reason: "study plays there"), .namedTwice,
      .state(.noDevice, detail: "unplugged"), .state(.playing, detail: ""), .flushed,
      .recoded(from: .aac), .choseLatency(.milliseconds(80)),
    ].map { .room(kitchen, $0) }

  private static func json(_ event: GroupEvent) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(event), as: UTF8.self)
  }

  private static func event(_ json: String) throws -> GroupEvent {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(GroupEvent.self, from: Data(json.utf8))
  }

  @Test(arguments: changes) func `an event that is read is the one that was written`(
    change: GroupEvent.Change
  ) throws {
    let event = GroupEvent(revision: 7, change)
    #expect(try Self.event(try Self.json(event)) == event)
  }

  @Test func `programs read one flat object`() throws {
    let lines = try Self.changes.map { try Self.json(GroupEvent(revision: 7, $0)) }
    for line in [
      #"{"event":"paused","revision":7}"#,
      #"{"event":"item_ended","item":"/music/a.flac","item_id":4,"revision":7}"#,
      #"{"event":"position","item":"/music/a.flac","item_id":4,"position_s":1.5,"revision":7}"#,
      #"{"event":"room_state","reason":"unplugged","revision":7,"room":"Kitchen","room_id":2,"state":"noDevice"}"#,
      #"{"event":"room_state","revision":7,"room":"Kitchen","room_id":2,"state":"playing"}"#,
      #"{"event":"buffered","revision":7,"silence_s":7.25}"#,
      #"{"album":"C","artist":"B","codec":"flac","duration_s":61,"event":"item_started","item":"/music/a.flac","item_id":4,"reason":"FLAC as it is","revision":7,"seekable":false,"title":"A"}"#,
    ] { #expect(lines.contains(line)) }
  }

  @Test func `a line that says too little is no event`() {
    for line in [
      #"{"event":"item_ended","revision":7}"#, #"{"event":"room_gone","room":"Kitchen"}"#,
      #"{"event":"room_state","room":"Kitchen","room_id":2,"state":"dancing"}"#,
      #"{"event":"unheard_of"}"#, #"{"revision":7}"#,
    ] {
      #expect(throws: DecodingError.self) { try Self.event(line) }
    }
  }

  @Test func `a room without a name is told by its number`() {
    let change = GroupEvent.Change(.roomConnected(RoomID(3))) { _ in nil }
    #expect(change == .room(.init(id: RoomID(3), name: "room 3"), .connected))
  }
}
