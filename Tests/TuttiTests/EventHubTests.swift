import Testing

@testable import Driver
@testable import Sender
@testable import Tutti

@Suite struct EventHubTests {
  private static func room(_ id: String, _ change: RoomEvent.Change) -> PlayerEvent {
    .room(RoomEvent(id: id, name: "Room \(id)", change: change))
  }

  private func told(by hub: EventHub<PlayerEvent>, then: () -> Void = {}) async -> [PlayerEvent] {
    let stream = hub.stream()
    then()
    hub.finish()
    return await stream.reduce(into: []) { $0.append($1) }
  }

  @Test func `who comes late hears how the rooms are, and nothing else that is past`() async {
    let hub = EventHub<PlayerEvent>()
    hub.send(Self.room("a", .unreachable(reason: "no route")))
    hub.send(.started)
    hub.send(Self.room("a", .connected))
    hub.send(Self.room("a", .changed(.priming, detail: "")))
    hub.send(Self.room("b", .connected))
    hub.send(Self.room("a", .flushedAutomatically))
    hub.send(Self.room("a", .changed(.playing, detail: "")))
    let told = await told(by: hub) { hub.send(.paused) }
    #expect(
      told == [
        Self.room("a", .connected), Self.room("b", .connected),
        Self.room("a", .changed(.playing, detail: "")), .paused,
      ])
  }

  @Test func `a room that is gone is that and no more, and one that was let go is nothing`() async {
    let hub = EventHub<PlayerEvent>()
    for id in ["a", "b"] {
      hub.send(Self.room(id, .connected))
      hub.send(Self.room(id, .changed(.playing, detail: "")))
    }
    hub.send(Self.room("a", .gone(reason: "unplugged")))
    hub.forget("b")
    #expect(await told(by: hub) == [Self.room("a", .gone(reason: "unplugged"))])
  }

  @Test func `who comes late hears that another has a room, and not that one was named twice`()
    async
  {
    let hub = EventHub<PlayerEvent>()
    for id in ["a", "b"] {
      hub.send(Self.room(id, .connected))
      hub.send(Self.room(id, .namedTwice))
      hub.send(Self.room(id, .changed(.playing, detail: "")))
    }
    hub.send(Self.room("a", .replaced(reason: "loft at 10.0.0.7 has taken it over")))
    let told = await told(by: hub)
    #expect(
      told == [
        Self.room("b", .connected), Self.room("b", .changed(.playing, detail: "")),
        Self.room("a", .replaced(reason: "loft at 10.0.0.7 has taken it over")),
      ])
  }

  @Test func `what happens to the rooms of a group is told to the library's users`() {
    func change(_ change: SenderEvent.RoomChange) -> RoomEvent.Change? {
      RoomEvent(.init(id: RoomID(1), name: "Loft"), change) { "\($0.number)" }?.change
    }
    #expect(change(.replaced(reason: "gone")) == .replaced(reason: "gone"))
    #expect(change(.namedTwice(as: RoomID(2))) == .namedTwice)
    #expect(change(.refused(reason: "busy")) == .refused(reason: "busy"))
  }

  @Test func `a room that has lost what it held is told of, and gets it again`() {
    let lost = RoomEvent(.init(id: RoomID(1), name: "Loft"), .flushed) { "\($0.number)" }
    #expect(lost?.change == .flushedAutomatically)
    #expect(lost?.description == "Loft: lost audio that it held, and gets it again")
    #expect(lost?.level == .notice)
  }

  @Test func `a listener that takes nothing loses the oldest`() async {
    let hub = EventHub<PlayerEvent>()
    let bound = EventHub<PlayerEvent>.bound
    let told = await told(by: hub) {
      for number in 0...bound { hub.send(.sourceNotice("\(number)")) }
    }
    #expect(told.count == bound)
    #expect(told.first == .sourceNotice("1"))
  }

  @Test func `the sequence of a listener too many is empty`() async {
    let hub = EventHub<PlayerEvent>()
    let streams = (0..<EventHub<PlayerEvent>.listenerLimit).map { _ in hub.stream() }
    var count = 0
    for await _ in hub.stream() { count += 1 }
    #expect(count == 0)
    withExtendedLifetime(streams) {}
  }

  @Test func `an event of a room is a line with its name`() {
    let event = RoomEvent(id: "ab74", name: "Kitchen", change: .unreachable(reason: "no route"))
    #expect("\(event)" == "Kitchen: no route")
  }
}
