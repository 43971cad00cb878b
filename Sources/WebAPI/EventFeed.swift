import Driver
import House
import ProgramJSON
import Sender
import Service
import WebServer

/// The latest changes of the household, for all listeners. Each change is encoded once. A listener has a place in this
/// list and no queue of its own, so a slow one costs nothing; if it falls behind, it starts again with the whole state.
package actor EventFeed {
  /// Intervals of the periodic events.
  package struct Rhythm: Sendable {
    /// Time between two `sync` events.
    package var sync = Duration.seconds(1)
    /// Number of `sync` events between two comments.
    package var syncsOfComment = 10

    package init() {}
  }

  /// Maximum number of changes that are kept.
  package static let changeLimit = 1_000
  /// Maximum size of the kept changes, in bytes.
  static let byteLimit = 4 << 20

  /// The last events that a listener has received.
  struct Place {
    /// Nil if the listener has no state yet.
    var revision: UInt64?
    var sync = 0
    var comment = 0
  }

  private struct Kept {
    let revision: UInt64
    let bytes: [UInt8]
  }

  private let house: any HouseControl
  private let rhythm: Rhythm
  /// Identifies this process in the ids of events, because each process counts revisions from the beginning.
  private let instance = String(UInt32.random(in: .min ... .max), radix: 36)
  private var changes: [Kept] = []
  private var byteCount = 0
  /// All changes after this revision are kept. Nil before the first state.
  private var floor: UInt64?
  private var sync: (number: Int, bytes: [UInt8]) = (0, [])
  private var commentNumber = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isOver = false

  init(_ house: any HouseControl, _ rhythm: Rhythm) { (self.house, self.rhythm) = (house, rhythm) }

  /// Follows the house until the task is cancelled.
  func run() async {
    await withTaskGroup { group in
      group.addTask { await self.follow() }
      group.addTask { await self.beat() }
    }
    isOver = true
    wake()
  }

  private func follow() async {
    while !Task.isCancelled {
      if let news = try? await house.changes(), let state = try? await house.state() {
        // Changes may have been missed before this state, so listeners start again from it.
        (changes, byteCount, floor) = ([], 0, state.revision)
        wake()
        for await change in news { keep(change) }
      }
      // The stream has ended because this actor was too slow, or because the house is about to end.
      try? await Task.sleep(for: rhythm.sync)
    }
  }

  private func keep(_ change: HouseChange) {
    guard let bytes = event("change", id: change.revision, change) else { return }
    changes.append(Kept(revision: change.revision, bytes: bytes))
    byteCount += bytes.count
    while changes.count > Self.changeLimit || byteCount > Self.byteLimit {
      let oldest = changes.removeFirst()
      byteCount -= oldest.bytes.count
      floor = oldest.revision
    }
    wake()
  }

  private func beat() async {
    while (try? await Task.sleep(for: rhythm.sync)) != nil {
      guard !waiting.isEmpty else { continue }
      if let state = try? await house.state(), let bytes = event("sync", SyncEvent(state)) {
        sync = (sync.number + 1, bytes)
      }
      if sync.number % rhythm.syncsOfComment == 0 { commentNumber += 1 }
      wake()
    }
  }

  private func wake() {
    let waiting = waiting
    self.waiting = []
    for one in waiting { one.resume() }
  }

  // MARK: - Listeners

  /// - Parameter lastEventID: the id of the last event that the listener received, if it listened before.
  func place(lastEventID: String?) -> Place {
    let parts = lastEventID?.split(separator: "-") ?? []
    guard parts.count == 2, parts[0] == instance, let revision = UInt64(parts[1]), let floor,
      revision >= floor, revision <= changes.last?.revision ?? floor
    else { return newPlace(nil) }
    return newPlace(revision)
  }

  private func newPlace(_ revision: UInt64?) -> Place {
    Place(revision: revision, sync: sync.number, comment: commentNumber)
  }

  /// Waits for the listener's next event or comment. Returns nil if no more will come.
  ///
  /// - Parameter isHeard: true while the listener may receive events.
  func next(
    after place: Place, while isHeard: @Sendable () -> Bool
  ) async -> (bytes: [UInt8], place: Place, isEvent: Bool)? {
    var place = place
    while !isOver, !Task.isCancelled, isHeard() {
      if let heard = place.revision, let floor, heard >= floor {
        if let change = changes.first(where: { $0.revision > heard }) {
          place.revision = change.revision
          return (change.bytes, place, true)
        }
        if place.sync < sync.number {
          place.sync = sync.number
          return (sync.bytes, place, true)
        }
        if place.comment < commentNumber {
          place.comment = commentNumber
          return ([UInt8](": still here\n\n".utf8), place, false)
        }
      } else if floor != nil, let state = try? await house.state(),
        let bytes = event("state", id: state.revision, state)
      {
        return (bytes, newPlace(state.revision), true)
      }
      await withCheckedContinuation { waiting.append($0) }
    }
    return nil
  }

  /// Wakes all listeners to check their permissions again, because somebody may have lost theirs.
  func recheck() { wake() }

  private func event(_ name: String, id: UInt64? = nil, _ value: some Encodable) -> [UInt8]? {
    guard let data = try? JSON.encode(value) else { return nil }
    let head = "event: \(name)\n" + (id.map { "id: \(instance)-\($0)\n" } ?? "") + "data: "
    return [UInt8](head.utf8) + data + [UInt8]("\n\n".utf8)
  }
}

/// Values of rooms and groups that change all the time, without anything else having changed.
private struct SyncEvent: Encodable {
  struct Room: Encodable {
    let id: String
    let sync: RoomSync
  }

  struct Group: Encodable {
    let id: String
    let positionS: Double
    let positionAtMs: Double
    let bufferedUntilS: Double?
    let keptFromS: Double?
    let liveS: Double?
  }

  let nowMs: Double
  let rooms: [Room]
  let groups: [Group]

  init(_ state: HouseState) {
    nowMs = state.nowMs
    rooms = state.rooms.compactMap { room in room.sync.map { Room(id: room.id, sync: $0) } }
    groups = state.groups.map {
      Group(
        id: $0.id, positionS: $0.positionS, positionAtMs: $0.positionAtMs,
        bufferedUntilS: $0.bufferedUntilS, keptFromS: $0.keptFromS, liveS: $0.liveS)
    }
  }
}

/// One client that listens to events. It remembers the place between two answers of the server.
actor EventListener {
  private let feed: EventFeed
  private var place: EventFeed.Place
  /// Number of events still to send; nil for no limit.
  private var left: Int?
  private let isHeard: @Sendable () -> Bool

  init(
    _ feed: EventFeed, at place: EventFeed.Place, limit: Int?,
    while isHeard: @escaping @Sendable () -> Bool
  ) {
    (self.feed, self.place, left, self.isHeard) = (feed, place, limit, isHeard)
  }

  func next() async -> [UInt8]? {
    guard left != 0, let (bytes, place, isEvent) = await feed.next(after: place, while: isHeard)
    else { return nil }
    self.place = place
    if isEvent, let count = left { left = count - 1 }
    return bytes
  }
}

extension WebAPI {
  func events(_ call: RouteCall) async throws -> WebResponse {
    let limit =
      call.request.query("limit") == nil
      ? nil : try call.integer("limit", in: 1...1_000, default: 1)
    let place = await feed.place(lastEventID: call.request.header("last-event-id"))
    let (access, asker) = (access, call.asker)
    let listener = EventListener(feed, at: place, limit: limit) {
      access.isStill(asker, allowed: .guest)
    }
    return WebResponse(.events { await listener.next() })
  }
}
