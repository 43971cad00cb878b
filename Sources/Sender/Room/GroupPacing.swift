package import Clock

/// The state of a media connection, as the driver sees it.
package struct MediaQueue: Sendable {
  package var connection: RoomConnectionID
  /// Bytes that were sent, but not yet taken by the kernel.
  package var bytes: Int
  /// The network path to the room, if known. The driver reads it only when `GroupSender.looksAtPaths` asks for it.
  package var path: MediaPath?

  package init(_ connection: RoomConnectionID, bytes: Int, path: MediaPath? = nil) {
    self.connection = connection
    self.bytes = bytes
    self.path = path
  }
}

/// The network path to a room, as TCP knows it.
package struct MediaPath: Hashable, Sendable {
  /// The present round trip, and the shortest of some minutes.
  package var roundTrip: Nanoseconds
  package var shortest: Nanoseconds
  /// Bytes per second that arrived lately; 0 if not known.
  package var deliveryRate: UInt64
  /// Bytes that the kernel took, and that are not known to have arrived.
  package var unacknowledged: Int

  package init(
    roundTrip: Nanoseconds, shortest: Nanoseconds, deliveryRate: UInt64, unacknowledged: Int = 0
  ) {
    self.roundTrip = roundTrip
    self.shortest = shortest
    self.deliveryRate = deliveryRate
    self.unacknowledged = unacknowledged
  }
}

/// Decides how much, how fast and when to send to each room, with a `MediaPacing` for each media connection.
struct GroupPacing {
  enum Limit: Equatable {
    /// Bytes per second.
    case rate(RoomConnectionID, Double)
    /// Bytes that may be sent from now on in this turn; nil ends the turns.
    case turn(RoomConnectionID, Int?)
  }

  /// A room's need of its connection.
  struct Need {
    /// Bytes per second of the music in the encoding that the room is sent.
    var rate: Double
    /// True if it has enough audio to wait for its turn.
    var isAhead: Bool
  }

  private struct Room {
    let connection: RoomConnectionID
    var media = MediaPacing()
    /// Start of the next turn to send; nil while everything may be sent to the room at once.
    var nextTurn: LocalTime?
    /// End of the present turn; nil between turns.
    var turnEnd: LocalTime?

    /// Returns the new rate in bytes per second; nil if it does not change.
    mutating func rate(on path: MediaPath, needed: Double) -> Double? {
      let before = media.sendingRate
      media.observed(
        roundTrip: path.roundTrip, shortest: path.shortest, deliveryRate: path.deliveryRate,
        needed: needed)
      return media.sendingRate == before ? nil : media.sendingRate
    }

    mutating func turn(at now: LocalTime, isAhead: Bool) -> Limit? {
      guard isAhead, let bytes = media.turnBytes else {
        defer { (nextTurn, turnEnd) = (nil, nil) }
        return nextTurn == nil ? nil : .turn(connection, nil)
      }
      if nextTurn.map({ $0 <= now }) ?? true {
        nextTurn = now + MediaPacing.turnInterval
        turnEnd = now + MediaPacing.turnTime
        return .turn(connection, bytes)
      }
      guard let end = turnEnd, end <= now else { return nil }
      turnEnd = nil
      return .turn(connection, 0)
    }
  }

  private var rooms: [Room] = []
  /// The time at which to look at the paths again.
  private var nextLook = LocalTime(nanoseconds: 0)
  /// True if a room may have been sent more than its connection takes at once.
  private var isStreaming = false

  var nextDeadline: LocalTime? { isStreaming ? nextLook : nil }

  func looksAtPaths(at now: LocalTime) -> Bool { isStreaming && nextLook <= now }

  mutating func sent() { isStreaming = true }

  /// Returns the limits that change. `needs` tells of each queue what its room needs. While `isProbing`, the paths are
  /// looked at though nothing is sent.
  mutating func limits(
    _ queues: [MediaQueue], _ needs: [Need], isProbing: Bool = false, at now: LocalTime
  ) -> [Limit] {
    isStreaming =
      isProbing || queues.contains { $0.bytes > 0 } || rooms.contains { $0.turnEnd != nil }
    guard isStreaming else { return [] }
    rooms = queues.map { queue in
      rooms.first { $0.connection == queue.connection } ?? Room(connection: queue.connection)
    }
    if nextLook <= now { nextLook = now + MediaPacing.interval }
    var limits: [Limit] = []
    for (index, queue) in queues.enumerated() {
      if let path = queue.path, let rate = rooms[index].rate(on: path, needed: needs[index].rate) {
        limits.append(.rate(queue.connection, rate))
      }
      if let turn = rooms[index].turn(at: now, isAhead: needs[index].isAhead) {
        limits.append(turn)
      }
    }
    return limits
  }
}
