internal import CTutti
internal import Synchronization
internal import Tutti

/// An event as C reads it.
struct CEvent: Sendable {
  var kind: tutti_event_kind
  var level: EventLevel
  var item: Int64 = 0
  var text: String
}

/// Events that wait to be read, and the descriptor that tells of them.
final class EventQueue: Sendable {
  /// Largest number of waiting events; the oldest are lost first.
  static let limit = 1024

  let descriptor: Int32
  private let waiting = Mutex<[CEvent]>([])

  init() throws(TuttiError) {
    descriptor = ctutti_signal()
    guard descriptor >= 0 else { throw .unavailable("the system gives no descriptor for events") }
  }

  deinit { ctutti_close(descriptor) }

  func add(_ event: CEvent) {
    waiting.withLock { waiting in
      if waiting.count == Self.limit { waiting.removeFirst() }
      waiting.append(event)
      ctutti_raise(descriptor)
    }
  }

  func next() -> CEvent? {
    waiting.withLock { waiting in
      let event = waiting.isEmpty ? nil : waiting.removeFirst()
      if waiting.isEmpty { ctutti_clear(descriptor) }
      return event
    }
  }

  /// Fills in the next event. Returns 1, or 0 if there is none.
  func read(into event: UnsafeMutablePointer<tutti_event>?) -> Int32 {
    guard let event, let next = next() else { return 0 }
    ctutti_fill_event(
      event, Int32(next.kind.rawValue), Int32(next.level.rawValue), next.item, next.text)
    return 1
  }
}

/// The numbers by which C knows items.
final class ItemNumbers: Sendable {
  private let numbers = Mutex<(last: Int64, all: [Player.Item.ID: Int64])>((0, [:]))

  /// The number of an item, a new one if it has none: an event about it may come before its program knows it.
  func number(of id: Player.Item.ID) -> Int64 {
    numbers.withLock { numbers in
      if let known = numbers.all[id] { return known }
      numbers.last += 1
      numbers.all[id] = numbers.last
      return numbers.last
    }
  }
}

extension CEvent {
  init(_ event: PlayerEvent, _ numbers: ItemNumbers) {
    self.init(kind: TUTTI_EVENT_NOTICE, level: event.level, text: event.description)
    switch event {
    case .started: kind = TUTTI_EVENT_STARTED
    case .paused: kind = TUTTI_EVENT_PAUSED
    case .resumed: kind = TUTTI_EVENT_RESUMED
    case .itemStarted(let current):
      (kind, item) = (TUTTI_EVENT_ITEM_STARTED, numbers.number(of: current.item.id))
    case .itemEnded(let id): (kind, item) = (TUTTI_EVENT_ITEM_ENDED, numbers.number(of: id))
    case .itemFailed(let id, _): (kind, item) = (TUTTI_EVENT_ITEM_FAILED, numbers.number(of: id))
    case .stopped: kind = TUTTI_EVENT_ENDED
    case .room: kind = TUTTI_EVENT_ROOM
    case .buffering, .buffered, .itemDescribed, .playlistChanged, .sourceNotice: break
    }
  }

  init(_ event: AudioRendererEvent) {
    self.init(kind: TUTTI_EVENT_NOTICE, level: event.level, text: event.description)
    switch event {
    case .started: kind = TUTTI_EVENT_STARTED
    case .ended: kind = TUTTI_EVENT_ENDED
    case .failed: kind = TUTTI_EVENT_FAILED
    case .late: kind = TUTTI_EVENT_LATE
    case .room: kind = TUTTI_EVENT_ROOM
    }
  }
}
