import Sender

/// Rooms that were given by host names: the name is looked up at each attempt, as the machine may have another address
/// by then, or the name server be there at last. One look-up a room at a time, as each keeps a thread.
struct RoomLookups {
  private struct Lookup {
    let host: String
    let port: UInt16
    var isUnderWay = false
    /// Nothing can be tried before.
    var isAwaited = false
  }

  private var lookups: [RoomID: Lookup] = [:]

  mutating func add(_ room: RoomID, host: String, port: UInt16) {
    lookups[room] = Lookup(host: host, port: port)
  }

  mutating func remove(_ room: RoomID) { lookups[room] = nil }

  /// What is to be looked up now; nil where nothing is, or it is under way.
  mutating func begin(_ room: RoomID, isNeeded: Bool) -> (host: String, port: UInt16)? {
    guard let lookup = lookups[room] else { return nil }
    lookups[room]?.isUnderWay = true
    lookups[room]?.isAwaited = isNeeded
    return lookup.isUnderWay ? nil : (lookup.host, lookup.port)
  }

  func isAwaited(by room: RoomID) -> Bool { lookups[room]?.isAwaited ?? false }

  mutating func stopWaiting(_ room: RoomID) { lookups[room]?.isAwaited = false }

  /// Returns whether it was awaited.
  mutating func ended(_ room: RoomID) -> Bool {
    defer {
      lookups[room]?.isUnderWay = false
      lookups[room]?.isAwaited = false
    }
    return isAwaited(by: room)
  }
}
