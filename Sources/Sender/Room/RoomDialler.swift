package import Clock
import WireProtocol

/// How rooms are reached, without I/O: their addresses, the look-up of their names, and the connections to them. Whether
/// and when a room is wanted is its session's matter.
package struct RoomDialler<Address: Hashable & Sendable> {
  package enum Output: Equatable {
    /// The answer is `connected` or `failed`.
    case connect(RoomConnectionID, Address, for: Channel)
    /// After what was sent has left; an attempt ends at once. Nothing more is heard of it.
    case close(RoomConnectionID)
    /// The answer is `lookedUp`.
    case lookUp(RoomID, RoomHost)
    /// None of the room's addresses answers, or it has none.
    case unreachable(Place, reason: String)
  }

  package struct Place: Hashable, Sendable {
    package var room: RoomID
    package var channel: Channel
  }

  private enum Line {
    case closed
    case dialling(RoomDial.Attempts<Address>)
    case open(RoomConnectionID)
  }

  /// The name is looked up at each attempt, as the machine may have another address by then, or the name server be there
  /// at last. One look-up a room at a time, as each keeps a thread.
  private struct LookUp {
    let host: RoomHost
    var isUnderWay = false
    /// Nothing can be tried before.
    var isAwaited = false
  }

  private struct Room {
    let id: RoomID
    var addresses: RoomAddresses<Address>
    var lookUp: LookUp?
    /// Where it was reached last; its media connection goes there too.
    var reached: Address?
    var control = Line.closed
    var media = Line.closed

    subscript(channel: Channel) -> Line {
      get { channel == .control ? control : media }
      set { if channel == .control { control = newValue } else { media = newValue } }
    }
  }

  /// In the order in which they were added.
  private var rooms: [Room] = []
  private var places: [RoomConnectionID: Place] = [:]
  private var lastConnection = 0
  private var outputs = OutputQueue<Output>()

  package init() {}

  // MARK: - Rooms

  package mutating func add(_ room: RoomID, at addresses: [Address], host: RoomHost? = nil) {
    rooms.append(
      Room(
        id: room, addresses: RoomAddresses(addresses), lookUp: host.map { LookUp(host: $0) }))
  }

  /// Discovery says that it is there now.
  package mutating func learned(_ room: RoomID, _ addresses: [Address]) {
    with(room) { $0.addresses.learned(addresses) }
  }

  /// A session began with it, with the right receiver.
  package mutating func confirmed(_ room: RoomID) {
    with(room) { $0.addresses.reached($0.reached) }
  }

  package mutating func remove(_ room: RoomID) {
    close(room, .media)
    close(room, .control)
    rooms.removeAll { $0.id == room }
  }

  // MARK: - Connections

  package mutating func dial(_ room: RoomID, _ channel: Channel, at now: LocalTime) {
    close(room, channel)
    guard let index = index(of: room) else { return }
    if channel == .media {
      let reached = rooms[index].reached.map { [$0] } ?? []
      rooms[index].media = .dialling(.init(reached, at: now))
    } else {
      lookUp(index)
      if rooms[index].lookUp?.isAwaited != true { dialControl(index, at: now) }
    }
    advance(to: now)
  }

  private mutating func dialControl(_ index: Int, at now: LocalTime) {
    rooms[index].control = .dialling(.init(rooms[index].addresses.nextCandidates(), at: now))
  }

  private mutating func lookUp(_ index: Int) {
    guard let lookUp = rooms[index].lookUp else { return }
    rooms[index].lookUp = LookUp(
      host: lookUp.host, isUnderWay: true, isAwaited: rooms[index].addresses.isEmpty)
    if !lookUp.isUnderWay { outputs.append(.lookUp(rooms[index].id, lookUp.host)) }
  }

  /// `failure` is for people, where the look-up ended in one.
  package mutating func lookedUp(
    _ room: RoomID, _ found: [Address], failure: String?, at now: LocalTime
  ) {
    guard let index = index(of: room) else { return }
    let isAwaited = rooms[index].lookUp?.isAwaited ?? false
    rooms[index].lookUp?.isUnderWay = false
    rooms[index].lookUp?.isAwaited = false
    if !found.isEmpty { rooms[index].addresses.learned(found) }
    guard isAwaited else { return }
    if let failure {
      return outputs.append(.unreachable(Place(room: room, channel: .control), reason: failure))
    }
    dialControl(index, at: now)
    advance(to: now)
  }

  package mutating func close(_ room: RoomID, _ channel: Channel) {
    guard let index = index(of: room) else { return }
    if channel == .control { rooms[index].lookUp?.isAwaited = false }
    switch rooms[index][channel] {
    case .closed: break
    case .dialling(let attempts): for attempt in attempts.underWay { drop(attempt.id) }
    case .open(let id): drop(id)
    }
    rooms[index][channel] = .closed
  }

  private mutating func drop(_ id: RoomConnectionID) {
    places[id] = nil
    outputs.append(.close(id))
  }

  /// Returns what is connected now, where it is wanted still.
  package mutating func connected(_ id: RoomConnectionID) -> Place? {
    guard let place = places[id], let index = index(of: place.room) else { return nil }
    switch rooms[index][place.channel] {
    case .closed, .open: return nil
    case .dialling(let attempts):
      for attempt in attempts.underWay where attempt.id != id { drop(attempt.id) }
      rooms[index].reached = attempts.underWay.first { $0.id == id }?.address
    }
    rooms[index][place.channel] = .open(id)
    return place
  }

  package mutating func failed(_ id: RoomConnectionID, _ reason: String, at now: LocalTime) {
    guard let place = places.removeValue(forKey: id), let index = index(of: place.room) else {
      return
    }
    switch rooms[index][place.channel] {
    case .closed, .open: break
    case .dialling(var attempts):
      attempts.failed(id, reason, at: now)
      rooms[index][place.channel] = .dialling(attempts)
      advance(to: now)
    }
  }

  /// A connection that stood is gone; returns which.
  package mutating func closed(_ id: RoomConnectionID) -> Place? {
    guard let place = places.removeValue(forKey: id) else { return nil }
    with(place.room) { $0[place.channel] = .closed }
    return place
  }

  /// Nil for one that is gone.
  package func place(of id: RoomConnectionID) -> Place? { places[id] }

  /// Nil while it is not open.
  package func connection(to room: RoomID, _ channel: Channel) -> RoomConnectionID? {
    guard let index = index(of: room), case .open(let id) = rooms[index][channel] else {
      return nil
    }
    return id
  }

  /// Those that are open, in the order of the rooms.
  package var mediaConnections: [RoomConnectionID] {
    rooms.compactMap { if case .open(let id) = $0.media { id } else { nil } }
  }

  // MARK: - Time

  package var nextDeadline: LocalTime? {
    rooms.flatMap { [$0.control, $0.media] }.compactMap { line in
      if case .dialling(let attempts) = line { attempts.deadline } else { nil }
    }.min()
  }

  /// Begins the attempts that are due, and tells of rooms that cannot be reached.
  package mutating func advance(to now: LocalTime) {
    for index in rooms.indices {
      for channel in [Channel.control, .media] { advance(index, channel, to: now) }
    }
  }

  private mutating func advance(_ index: Int, _ channel: Channel, to now: LocalTime) {
    guard case .dialling(var attempts) = rooms[index][channel] else { return }
    let place = Place(room: rooms[index].id, channel: channel)
    guard !attempts.isExhausted else {
      rooms[index][channel] = .closed
      return outputs.append(.unreachable(place, reason: attempts.lastError))
    }
    guard attempts.isDue(at: now) else { return }
    let id = newConnection(place)
    let address = attempts.begin(id, at: now)
    rooms[index][channel] = .dialling(attempts)
    outputs.append(.connect(id, address, for: channel))
  }

  private mutating func newConnection(_ place: Place) -> RoomConnectionID {
    lastConnection += 1
    let id = RoomConnectionID(number: lastConnection)
    places[id] = place
    return id
  }

  /// Returns the next thing to do; nil if there is nothing left to do.
  package mutating func nextOutput() -> Output? { outputs.next() }

  private func index(of room: RoomID) -> Int? { rooms.firstIndex { $0.id == room } }

  private mutating func with(_ room: RoomID, _ body: (inout Room) -> Void) {
    if let index = index(of: room) { body(&rooms[index]) }
  }
}
