import Testing

@testable import Tutti

/// A program's log takes the events from a level on.
@Suite struct EventLevelTests {
  private func room(_ change: RoomEvent.Change) -> RoomEvent {
    RoomEvent(id: "a", name: "Kitchen", change: change)
  }

  @Test func `events have levels, and print as one line`() {
    #expect(EventLevel.allCases == EventLevel.allCases.sorted())
    let levels: [(PlayerEvent, EventLevel)] = [
      (.playlistChanged, .debug), (.started, .info), (.stopped, .info),
      (.sourceNotice("the server is slow"), .notice),
      (.buffering(.init(1), arrived: .zero, needed: .seconds(1)), .notice),
      (.itemFailed(.init(1), reason: "/a.flac: no such file"), .warning),
      (.room(room(.connected)), .info), (.room(room(.gone(reason: "it is off"))), .notice),
      (.room(room(.refused(reason: "pair it first"))), .warning),
      (.room(room(.changed(.playing, detail: ""))), .debug),
      (.room(room(.changed(.noDevice, detail: "no card"))), .warning),
    ]
    for (event, level) in levels {
      #expect(event.level == level)
      #expect(!event.description.contains("\n") && !event.description.isEmpty)
    }
    #expect(AudioRendererEvent.failed(reason: "no encoder").level == .error)
    #expect(AudioRendererEvent.late(.zero, by: .seconds(1)).level == .notice)
    #expect(AudioRendererEvent.started.level == .info)
    let shown = levels.filter { $0.0.level >= .warning }
    #expect(shown.count == 3)
  }
}
