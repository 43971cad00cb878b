import Audio
package import Clock
import WireProtocol

/// How far a room is with a clip.
package enum ClipProgress: Hashable, Sendable {
  /// It has no session yet.
  case away
  /// It is of a version that plays no clips, or does not decode their codec.
  case cannot
  case taking
  case ready
  /// The reason, for people.
  case refused(String)

  /// True if nothing more is to come of it.
  package var isSettled: Bool {
    switch self {
    case .ready, .cannot, .refused: true
    case .away, .taking: false
    }
  }
}

/// The clips on their way to the rooms of a group.
struct OutgoingClips {
  /// One clip on its way to one room.
  struct Delivery {
    let room: RoomID
    var progress = ClipProgress.away
    /// Bytes of pieces that were sent, and that the room has.
    var sent = 0
    var acknowledged = 0
  }

  struct Outgoing {
    let number: UInt32
    let clip: Clip
    /// Nil: as loud as each room.
    let volume: UInt16?
    var deliveries: [Delivery]
  }

  private(set) var clips: [Outgoing] = []
  private var last: UInt32

  /// Numbers go on from `first`, which is random: rooms may hold clips of a process before this one.
  init(first: UInt64) { last = UInt32(truncatingIfNeeded: first) }

  mutating func add(_ clip: Clip, volume: UInt16?, to rooms: [RoomID]) -> UInt32 {
    last &+= 1
    let wanted = Set(rooms)
    while let crowded = clips.firstIndex(where: { sharesFullRoom($0, wanted) }) {
      clips.remove(at: crowded)
    }
    clips.append(
      Outgoing(
        number: last, clip: clip, volume: volume, deliveries: rooms.map { Delivery(room: $0) }))
    return last
  }

  /// True if a room is to have the clip, and as many in all as it holds, and is one of these.
  private func sharesFullRoom(_ clip: Outgoing, _ rooms: Set<RoomID>) -> Bool {
    clip.deliveries.contains { delivery in
      rooms.contains(delivery.room) && numbers(for: delivery.room).count >= ProtocolLimits.heldClips
    }
  }

  subscript(number: UInt32) -> Outgoing? { clips.first { $0.number == number } }

  mutating func remove(_ number: UInt32) { clips.removeAll { $0.number == number } }

  /// The numbers of the clips that the room is to have.
  func numbers(for room: RoomID) -> [UInt32] {
    clips.filter { $0.deliveries.contains { $0.room == room } }.map(\.number)
  }

  /// Changes a delivery in its place.
  mutating func with(_ number: UInt32, _ room: RoomID, _ body: (inout Delivery) -> Void) {
    guard let index = clips.firstIndex(where: { $0.number == number }),
      let delivery = clips[index].deliveries.firstIndex(where: { $0.room == room })
    else { return }
    body(&clips[index].deliveries[delivery])
  }

  /// Begins the delivery to a room anew. Returns the messages to send; none if the room cannot play it.
  mutating func begin(_ number: UInt32, for room: ConnectedRoom, _ id: RoomID) -> [ControlMessage] {
    guard let outgoing = self[number] else { return [] }
    let clip = outgoing.clip
    guard room.welcome.playsClips, room.welcome.codecs.contains(clip.format.codec) else {
      with(number, id) { $0.progress = .cannot }
      return []
    }
    with(number, id) { $0 = Delivery(room: id, progress: .taking) }
    let offer = ClipOffer(
      number: number, byteCount: clip.bytes.count, volume: outgoing.volume, format: clip.format)
    return [.clip(offer)] + pieces(of: number, for: id)
  }

  /// Returns the pieces that may be sent now.
  mutating func pieces(of number: UInt32, for room: RoomID) -> [ControlMessage] {
    guard let bytes = self[number]?.clip.bytes else { return [] }
    var messages: [ControlMessage] = []
    with(number, room) { delivery in
      while delivery.sent < bytes.count {
        let count = min(ProtocolLimits.clipPiece, bytes.count - delivery.sent)
        guard delivery.sent + count - delivery.acknowledged <= ProtocolLimits.clipWindow else {
          return
        }
        let piece = Array(bytes[delivery.sent..<delivery.sent + count])
        messages.append(
          .clipPiece(ClipPiece(number: number, offset: delivery.sent, bytes: piece)))
        delivery.sent += count
      }
    }
    return messages
  }

  /// Takes what a room says. Returns the pieces that may follow.
  mutating func received(_ state: ClipState, from room: RoomID) -> [ControlMessage] {
    with(state.number, room) { delivery in
      // No more than was sent, whatever it says.
      delivery.acknowledged = max(delivery.acknowledged, min(state.received, delivery.sent))
      switch state.stage {
      case .taking: delivery.progress = .taking
      case .ready: delivery.progress = .ready
      case .refused: delivery.progress = .refused(state.detail)
      }
    }
    return state.stage == .refused ? [] : pieces(of: state.number, for: room)
  }
}

extension RoomSet {
  mutating func offer(
    _ clip: Clip, volume: UInt16?, to rooms: [RoomID], at now: LocalTime
  ) -> UInt32 {
    let number = clips.add(clip, volume: volume, to: rooms)
    for id in rooms { deliver(number, to: id, at: now) }
    return number
  }

  /// Clips that wait for the room that was just welcomed.
  mutating func deliverClips(to id: RoomID, at now: LocalTime) {
    for number in clips.numbers(for: id) { deliver(number, to: id, at: now) }
  }

  private mutating func deliver(_ number: UInt32, to id: RoomID, at now: LocalTime) {
    guard let index = index(of: id), let room = links[index].connected else { return }
    for message in clips.begin(number, for: room, id) { tell(index, message, at: now) }
  }

  mutating func received(_ state: ClipState, from index: Int, at now: LocalTime) {
    for message in clips.received(state, from: links[index].id) { tell(index, message, at: now) }
  }

  /// Tells the clip's time to the rooms that have it, which need nothing more. It can still be withdrawn.
  mutating func begin(_ number: UInt32, at time: GroupTime, now: LocalTime) {
    for delivery in clips[number]?.deliveries ?? [] where delivery.progress == .ready {
      guard let index = index(of: delivery.room) else { continue }
      tell(index, .clipTime(ClipTime(number: number, begins: time)), at: now)
    }
    clips.remove(number)
  }

  mutating func withdraw(_ number: UInt32, at now: LocalTime) {
    clips.remove(number)
    for index in links.indices where links[index].connected?.welcome.playsClips == true {
      tell(index, .clipTime(ClipTime(number: number, begins: nil)), at: now)
    }
  }

  /// How far the rooms are with a clip; those that are in the group no more are left out.
  func progress(of number: UInt32) -> [(room: RoomID, progress: ClipProgress)] {
    (clips[number]?.deliveries ?? []).compactMap { delivery in
      guard let link = self[delivery.room] else { return nil }
      return (delivery.room, link.connected == nil ? .away : delivery.progress)
    }
  }
}

extension GroupSession {
  /// How far the rooms are with a clip that was offered and has not begun.
  package func progress(
    ofClip number: UInt32
  ) -> [(room: RoomID, progress: ClipProgress)] {
    rooms.progress(of: number)
  }

  /// The time until all rooms can begin a clip at the same sample.
  package var clipHorizon: Nanoseconds { commitHorizon }
}
