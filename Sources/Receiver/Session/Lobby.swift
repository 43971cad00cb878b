import Clock
import WireProtocol

/// Connections that have not yet said what they are: few, for a short time, with little memory.
struct Lobby {
  static let limit = 16
  static let patience = ProtocolLimits.silence

  struct FirstMessage {
    let message: OpeningMessage
    /// What has arrived behind the first message.
    let framer: MessageFramer
    let byteCount: Int
  }

  private struct Guest {
    let id: ConnectionID
    let peer: String
    let leavesAt: LocalTime
    var framer = MessageFramer(limit: ProtocolLimits.openingMessage)
    var byteCount = 0
    /// What it sent is a media connection's, and nobody waits for an answer there.
    var isMedia = false
  }

  /// In order of arrival.
  private var guests: [Guest] = []

  var nextDeadline: LocalTime? { guests.first?.leavesAt }

  /// Returns the guest who has to leave to make room: the first of the host that has the most, so that a host that
  /// connects over and over displaces itself and nobody else.
  mutating func admit(_ id: ConnectionID, peer: String, at now: LocalTime) -> ConnectionID? {
    guests.append(Guest(id: id, peer: peer, leavesAt: now + Self.patience))
    guard guests.count > Self.limit else { return nil }
    let crowds = guests.map { guest in guests.count { $0.peer == guest.peer } }
    let first = crowds.firstIndex { $0 == crowds.max() } ?? 0
    return guests.remove(at: first).id
  }

  func peer(of id: ConnectionID) -> String? { guests.first { $0.id == id }?.peer }

  func isMedia(_ id: ConnectionID) -> Bool { guests.first { $0.id == id }?.isMedia ?? false }

  mutating func remove(_ id: ConnectionID) { guests.removeAll { $0.id == id } }

  mutating func overdue(at now: LocalTime) -> [ConnectionID] {
    let late = guests.filter { $0.leavesAt <= now }.map(\.id)
    guests.removeAll { $0.leavesAt <= now }
    return late
  }

  /// The first message, once it is complete. It says which kind of connection this is.
  mutating func received(
    _ bytes: [UInt8], on id: ConnectionID
  ) throws(DecodeError) -> FirstMessage? {
    guard let index = guests.firstIndex(where: { $0.id == id }) else { return nil }
    guests[index].framer.append(bytes)
    guests[index].byteCount += bytes.count
    guard let raw = try guests[index].framer.next() else { return nil }
    guests[index].isMedia = OpeningMessage.isMedia(raw)
    let message = try OpeningMessage.decode(raw)
    var framer = guests[index].framer
    framer.limit =
      switch message {
      case .control: ProtocolLimits.controlMessage
      case .proof, .pairing: ProtocolLimits.openingMessage
      case .media: ProtocolLimits.mediaMessage
      }
    return FirstMessage(message: message, framer: framer, byteCount: guests[index].byteCount)
  }
}
