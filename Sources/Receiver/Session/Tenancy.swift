import Clock
import WireProtocol

/// Who has a room.
enum Tenancy {
  /// Time for which it is held.
  static let heldTime = ProtocolLimits.reservation
  /// Time for which it is kept for a sender that has lent it. That asks every 5 s: two attempts, and a second for the way.
  static let lentTime = Nanoseconds.seconds(11)
  /// Interval of looks, after that, whether what is buffered has sounded. Nobody notices a second more.
  static let lookInterval = Nanoseconds.seconds(1)

  struct Reservation {
    let owner: RoomOwner
    /// The sender from which the owner has borrowed the room.
    var lender: RoomOwner?
    /// Others wait until then, and on until what is buffered has sounded.
    var until: LocalTime
  }

  case free
  /// Kept for a sender whose session has ended in the middle of its music, or that has lent the room.
  case held(for: Reservation)
  case playing(SenderLink)

  var reservation: Reservation? {
    if case .held(let reservation) = self { reservation } else { nil }
  }

  /// Nil without a session: one that is set to nil leaves the room free. Changed in its place, because it holds what has
  /// come in and is not read yet.
  var link: SenderLink? {
    get { if case .playing(let link) = self { link } else { nil } }
    _modify {
      var link = takeLink()
      defer { if let link { self = .playing(link) } }
      yield &link
    }
  }

  private mutating func takeLink() -> SenderLink? {
    guard case .playing(let link) = self else { return nil }
    self = .free
    return link
  }
}
