import Clock
import WireProtocol

/// The session with one sender: its identity, its two connections, and the times at which either side must speak.
struct SenderLink {
  let hello: Hello
  /// Peer of the control connection.
  let secured: SecuredPeer
  /// True if the sender has proved to be of this machine's own user.
  let isOwn: Bool
  let peer: String
  let control: ConnectionID
  /// The sender that gets the room back afterwards; nil if it was nobody's.
  var lender: RoomOwner?
  private(set) var media: ConnectionID?
  var controlFramer = MessageFramer(limit: ProtocolLimits.controlMessage)
  var mediaFramer = MessageFramer(limit: ProtocolLimits.mediaMessage)
  /// How often packets of a live stream were asked for.
  var askCount: UInt32 = 0
  private(set) var lastHeard: LocalTime
  private(set) var nextStatus: LocalTime
  /// Bytes received over the present media connection, and the limit last granted for it.
  private(set) var mediaBytes: UInt64 = 0
  private(set) var grantedLimit: UInt64 = 0
  private var controlLimit = RateLimit(
    perSecond: ProtocolLimits.controlMessagesPerSecond, burst: ProtocolLimits.controlMessageBurst)

  init(
    hello: Hello, secured: SecuredPeer, isOwn: Bool = false, peer: String, control: ConnectionID,
    at now: LocalTime
  ) {
    self.hello = hello
    self.secured = secured
    self.isOwn = isOwn
    self.peer = peer
    self.control = control
    lastHeard = now
    nextStatus = now + ProtocolLimits.statusInterval
  }

  var giveUpTime: LocalTime { lastHeard + ProtocolLimits.silence }
  var nextDeadline: LocalTime { min(giveUpTime, nextStatus) }

  /// Counts a control message. Returns false if there are too many.
  mutating func admitsControl(at now: LocalTime) -> Bool { controlLimit.admits(at: now) }

  mutating func heard(at now: LocalTime) { lastHeard = now }
  mutating func statusSent(at now: LocalTime) { nextStatus = now + ProtocolLimits.statusInterval }

  /// Attaches a media connection. Returns the one that it replaces.
  mutating func attach(_ connection: ConnectionID) -> ConnectionID? {
    defer {
      media = connection
      mediaBytes = 0
      grantedLimit = 0
    }
    return media
  }

  mutating func mediaClosed() { media = nil }

  mutating func receivedMedia(bytes: Int) { mediaBytes += UInt64(bytes) }

  /// True if the sender exceeded its credit by more than one read can hold.
  var overrunsCredit: Bool { mediaBytes > grantedLimit + Self.toleratedOverrun }

  /// Bytes: one read of a socket.
  private static let toleratedOverrun: UInt64 = 64 << 10
  /// With its head. A smaller credit might never let it pass.
  private static let largestMessage = UInt64(ProtocolLimits.mediaMessage + 4)

  /// Returns a new limit to grant, if it is worth a message: at least a sixteenth of the capacity more than before.
  /// Grants at most half of the free space, so that the memory overhead of small packets shows in time; but always
  /// enough for the largest message, if there is space for it.
  mutating func limitToGrant(heldBytes: UInt64, capacity: UInt64) -> UInt64? {
    guard media != nil else { return nil }
    guard heldBytes < capacity else { return nil }
    let free = capacity - heldBytes
    let limit = mediaBytes + min(free, max(free / 2, Self.largestMessage))
    guard limit > grantedLimit, grantedLimit == 0 || limit - grantedLimit >= capacity / 16 else {
      return nil
    }
    grantedLimit = limit
    return limit
  }
}
