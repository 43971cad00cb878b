internal import AvahiDiscovery
internal import Driver
internal import Sender
internal import Synchronization
internal import WireProtocol

/// The rooms on this network, found by Avahi (mDNS): an endless sequence of the present rooms, with a value for each
/// change.
///
///     for await rooms in try Receivers() { print(rooms.map(\.name)) }
///
/// The search starts with `init` and ends when the value and its iterators are gone. Each value is for one iteration.
/// Avahi may be started later: the sequence waits for it.
public struct Receivers: AsyncSequence, Sendable {
  public typealias Element = [Room]
  public typealias Failure = Never

  private let stream: AsyncStream<[Room]>

  /// - Throws: `TuttiError.unavailable` if Avahi's library refuses to work at all.
  public init() throws(TuttiError) {
    let (stream, listener) = AsyncStream.makeStream(
      of: [Room].self, bufferingPolicy: .bufferingNewest(1))
    let table = RoomTable { listener.yield($0) }
    let search: Search
    do {
      search = try Search { table.handle($0) }
    } catch {
      throw .unavailable("cannot look for rooms: \(error)")
    }
    listener.onTermination = { _ in search.end() }
    self.stream = stream
  }

  public func makeAsyncIterator() -> AsyncStream<[Room]>.Iterator { stream.makeAsyncIterator() }

  /// Returns the rooms found within a time; rooms that were just switched on take two seconds to appear.
  ///
  /// - Parameter time: time of the search.
  /// - Throws: `TuttiError.unavailable` as `init`; `cancelled` with the task.
  public static func search(for time: Duration = .seconds(2)) async throws(TuttiError) -> [Room] {
    let receivers = try Receivers()
    let latest = Latest()
    let hasSlept = await withTaskGroup(of: Bool.self) { group in
      group.addTask { (try? await Task.sleep(for: time)) != nil }
      group.addTask {
        for await rooms in receivers { latest.rooms.withLock { $0 = rooms } }
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    guard hasSlept else { throw .cancelled }
    return latest.rooms.withLock { $0 }
  }
}

private final class Latest: Sendable {
  let rooms = Mutex<[Room]>([])
}

/// Keeps the browser until a call of `end`, which may come from any thread.
private final class Search: Sendable {
  private let browser: Mutex<ServiceBrowser?>

  init(_ report: @escaping @Sendable (ServiceBrowser.Event) -> Void) throws(DiscoveryError) {
    browser = Mutex(
      try ServiceBrowser(
        type: ReceiverAdvertisement.serviceType, identifierKey: "id", onEvent: report))
  }

  func end() { browser.withLock { $0 = nil } }
}

/// The rooms that Avahi's thread has found.
private final class RoomTable: Sendable {
  private let directory = Mutex(RoomDirectory(remembered: []))
  private let changed: @Sendable ([Room]) -> Void

  init(_ changed: @escaping @Sendable ([Room]) -> Void) { self.changed = changed }

  func handle(_ event: ServiceBrowser.Event) {
    let rooms = directory.withLock { directory -> [Room]? in
      let before = directory.present
      switch event {
      case .found(let service), .updated(let service): _ = directory.found(service)
      case .lost(let service): directory.gone(serviceNamed: service.name)
      case .settled: return directory.present.map(Room.init)
      case .daemonAppeared, .daemonVanished, .failed: return nil
      }
      return directory.present == before ? nil : directory.present.map(Room.init)
    }
    if let rooms { changed(rooms) }
  }
}
