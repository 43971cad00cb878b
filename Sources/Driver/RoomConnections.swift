import Clock
import LinuxIO
import Sender

/// The connections to the rooms, between the session's names for them and the reactor's.
struct RoomConnections {
  struct Place: Hashable {
    let room: RoomID
    let channel: Channel
  }

  private let reactor: Reactor
  private var places: [LinuxIO.ConnectionID: Place] = [:]
  private var connections: [Place: LinuxIO.ConnectionID] = [:]
  private var finishing: [LinuxIO.ConnectionID] = []
  private var dialers: [(place: Place, dialer: RoomDialer)] = []
  private var pacing: [LinuxIO.ConnectionID: Pacing] = [:]
  private var nextPacing = LocalTime(nanoseconds: 0)

  private struct Pacing {
    var media = MediaPacing()
    /// When the next turn to send begins; nil while the room may be sent everything at once.
    var nextTurn: LocalTime?
  }
  /// Where a room was reached last; its media connection goes there too.
  private(set) var reached: [RoomID: SocketAddress] = [:]

  mutating func forget(_ room: RoomID) { reached[room] = nil }

  init(reactor: Reactor) {
    self.reactor = reactor
  }

  func place(of connection: LinuxIO.ConnectionID) -> Place? { places[connection] }

  var deadline: LocalTime? {
    let pacing = isStreaming ? nextPacing : nil
    return (dialers.compactMap(\.dialer.deadline) + [pacing].compactMap { $0 }).min()
  }

  /// Whether a room is being sent more than its connection takes at once.
  private var isStreaming: Bool {
    connections.contains { $0.key.channel == .media && reactor.queuedBytes(on: $0.value) > 0 }
  }

  /// Slows down where a queue builds up on the way to a room. `needed` is what the music takes, in bytes a second;
  /// `isPatient` says which rooms have enough to wait for their turn.
  mutating func pace(at now: LocalTime, needed: Double, isPatient: (RoomID) -> Bool) {
    guard isStreaming else { return }
    let isDue = nextPacing <= now
    if isDue { nextPacing = now + MediaPacing.interval }
    for (place, connection) in connections where place.channel == .media {
      var room = pacing[connection] ?? Pacing()
      if isDue { look(at: connection, needed: needed, &room.media) }
      takeTurns(connection, at: now, isPatient: isPatient(place.room), &room)
      pacing[connection] = room
    }
  }

  private func look(
    at connection: LinuxIO.ConnectionID, needed: Double, _ media: inout MediaPacing
  ) {
    guard let path = reactor.path(of: connection) else { return }
    let before = media.sendingRate
    media.observed(
      roundTrip: path.roundTrip, shortest: path.shortest, deliveryRate: path.deliveryRate,
      needed: needed)
    let rate = media.sendingRate
    if rate != before { reactor.pace(connection, bytesPerSecond: UInt32(rate)) }
  }

  private func takeTurns(
    _ connection: LinuxIO.ConnectionID, at now: LocalTime, isPatient: Bool, _ room: inout Pacing
  ) {
    guard isPatient, let bytes = room.media.turnBytes else {
      if room.nextTurn != nil { reactor.setTurn(connection, bytes: nil) }
      room.nextTurn = nil
      return
    }
    guard room.nextTurn.map({ $0 <= now }) ?? true else { return }
    room.nextTurn = now + MediaPacing.turnInterval
    reactor.setTurn(connection, bytes: bytes)
  }

  mutating func dial(_ place: Place, candidates: [SocketAddress], at now: LocalTime) {
    close(place)
    let targets = place.channel == .media ? reached[place.room].map { [$0] } : nil
    dialers.append((place, RoomDialer(targets ?? candidates, at: now)))
  }

  /// Begins the attempts that are due; returns the places that cannot be reached.
  mutating func advance(to now: LocalTime) -> [(place: Place, reason: String)] {
    for index in dialers.indices {
      let place = dialers[index].place
      dialers[index].dialer.advance(to: now) { address in
        let connection = reactor.connect(to: address, options: Self.options(place.channel))
        places[connection] = place
        return connection
      }
    }
    let lost = dialers.filter(\.dialer.isExhausted).map { ($0.place, $0.dialer.lastError) }
    dialers.removeAll(where: \.dialer.isExhausted)
    return lost
  }

  mutating func connected(_ connection: LinuxIO.ConnectionID) -> Place? {
    guard let place = places[connection],
      let index = dialers.firstIndex(where: { $0.place == place }),
      let (address, losers) = dialers[index].dialer.won(connection)
    else { return nil }
    for loser in losers {
      places[loser] = nil
      reactor.close(loser)
    }
    dialers.remove(at: index)
    connections[place] = connection
    reached[place.room] = address
    return place
  }

  mutating func failed(
    _ connection: LinuxIO.ConnectionID, _ reason: String, at now: LocalTime
  ) {
    guard let place = places.removeValue(forKey: connection),
      let index = dialers.firstIndex(where: { $0.place == place })
    else { return }
    dialers[index].dialer.failed(connection, reason, at: now)
  }

  /// A connection that had been made is gone; returns whose it was.
  mutating func closed(_ connection: LinuxIO.ConnectionID) -> Place? {
    finishing.removeAll { $0 == connection }
    guard let place = places.removeValue(forKey: connection) else { return nil }
    if connections[place] == connection { connections[place] = nil }
    pacing[connection] = nil
    return place
  }

  func send(_ bytes: [UInt8], to place: Place) {
    if let connection = connections[place] { reactor.send(bytes, on: connection) }
  }

  /// Lets what was sent leave first.
  mutating func close(_ place: Place) {
    if let index = dialers.firstIndex(where: { $0.place == place }) {
      for attempt in dialers[index].dialer.attempts {
        places[attempt.connection] = nil
        reactor.close(attempt.connection)
      }
      dialers.remove(at: index)
    }
    if let connection = connections.removeValue(forKey: place) {
      places[connection] = nil
      pacing[connection] = nil
      finishing.append(connection)
      reactor.finish(connection)
    }
  }

  /// Whether connections that were closed still have something to send.
  var isSending: Bool { finishing.contains { reactor.queuedBytes(on: $0) > 0 } }

  func queuedBytes(on place: Place) -> Int {
    connections[place].map { reactor.queuedBytes(on: $0) } ?? 0
  }

  private static func options(_ channel: Channel) -> ConnectionOptions {
    var options = ConnectionOptions()
    options.lowMark = 16 << 10
    // A room whose buffer is full may read nothing for as long as a pause lasts. Whether it lives is seen on control.
    if case .media = channel { options.answerTimeout = nil }
    return options
  }
}
