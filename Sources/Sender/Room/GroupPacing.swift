package import Clock

/// What the driver sees of a media connection.
package struct MediaQueue: Sendable {
  package var connection: RoomConnectionID
  /// Bytes that were sent, and that the kernel has not taken.
  package var bytes: Int
  /// What is known of the way to the room. Only looked for where `GroupSender.looksAtPaths` asks for it.
  package var path: MediaPath?

  package init(_ connection: RoomConnectionID, bytes: Int, path: MediaPath? = nil) {
    self.connection = connection
    self.bytes = bytes
    self.path = path
  }
}

/// The way to a room, as TCP knows it.
package struct MediaPath: Hashable, Sendable {
  /// Now, and the shortest of some minutes.
  package var roundTrip: Nanoseconds
  package var shortest: Nanoseconds
  /// Bytes a second that arrived lately; 0 while not known.
  package var deliveryRate: UInt64

  package init(roundTrip: Nanoseconds, shortest: Nanoseconds, deliveryRate: UInt64) {
    self.roundTrip = roundTrip
    self.shortest = shortest
    self.deliveryRate = deliveryRate
  }
}

/// Which room is sent how much, how fast and when: `MediaPacing` for each media connection.
struct GroupPacing {
  enum Limit: Equatable {
    /// Bytes a second.
    case rate(RoomConnectionID, Double)
    /// Bytes that may leave from now on in this turn; nil ends the turns.
    case turn(RoomConnectionID, Int?)
  }

  private struct Room {
    let connection: RoomConnectionID
    var media = MediaPacing()
    /// When the next turn to send begins; nil while the room may be sent everything at once.
    var nextTurn: LocalTime?
    /// When the present turn ends; nil between turns.
    var turnEnd: LocalTime?

    /// Bytes a second, where they change.
    mutating func rate(on path: MediaPath, needed: Double) -> Double? {
      let before = media.sendingRate
      media.observed(
        roundTrip: path.roundTrip, shortest: path.shortest, deliveryRate: path.deliveryRate,
        needed: needed)
      return media.sendingRate == before ? nil : media.sendingRate
    }

    mutating func turn(at now: LocalTime, isPatient: Bool) -> Limit? {
      guard isPatient, let bytes = media.turnBytes else {
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
  /// When to look at the paths again.
  private var nextLook = LocalTime(nanoseconds: 0)
  /// Whether a room may have been sent more than its connection takes at once.
  private var isStreaming = false

  var nextDeadline: LocalTime? { isStreaming ? nextLook : nil }

  func looksAtPaths(at now: LocalTime) -> Bool { isStreaming && nextLook <= now }

  mutating func sent() { isStreaming = true }

  /// What changes. `needed` bytes a second are what the music takes; `isPatient` says which connections' rooms have enough
  /// to wait for their turn.
  mutating func limits(
    _ queues: [MediaQueue], needed: Double, at now: LocalTime,
    isPatient: (RoomConnectionID) -> Bool
  ) -> [Limit] {
    isStreaming = queues.contains { $0.bytes > 0 } || rooms.contains { $0.turnEnd != nil }
    guard isStreaming else { return [] }
    rooms = queues.map { queue in
      rooms.first { $0.connection == queue.connection } ?? Room(connection: queue.connection)
    }
    if nextLook <= now { nextLook = now + MediaPacing.interval }
    var limits: [Limit] = []
    for (index, queue) in queues.enumerated() {
      if let path = queue.path, let rate = rooms[index].rate(on: path, needed: needed) {
        limits.append(.rate(queue.connection, rate))
      }
      if let turn = rooms[index].turn(at: now, isPatient: isPatient(queue.connection)) {
        limits.append(turn)
      }
    }
    return limits
  }
}
