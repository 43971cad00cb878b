import Audio
import Clock
import WireProtocol

/// How far the packets have got on one media connection.
struct MediaFlow {
  /// What may wait in the connection's queue: little, so that a flush never stands behind much.
  static let queueLimit = 64 * 1024

  private(set) var sentBytes: UInt64 = 0
  private var limit: UInt64 = 0
  /// What the room can hold, in bytes: no true limit is farther ahead of what was sent.
  private let capacity: UInt64
  private var queuedBytes = 0
  /// The packet to send next.
  private(set) var nextSequence: UInt64
  private var artwork = ArtworkFlow()
  /// As announced on this connection.
  private var knownFormats: [UInt16: StreamFormat] = [:]
  /// Since when the next packet has waited for credit.
  private var withheldSince: LocalTime?

  init(from sequence: UInt64, capacity: UInt64 = .max) {
    nextSequence = sequence
    self.capacity = capacity
  }

  /// A limit that leaves more than the room can hold is of another connection, or a mistake.
  mutating func granted(_ limit: UInt64) {
    guard limit <= sentBytes || limit - sentBytes <= capacity else { return }
    self.limit = max(self.limit, limit)
  }
  mutating func goBack(to sequence: UInt64) { nextSequence = min(nextSequence, sequence) }
  var isFull: Bool { queuedBytes >= Self.queueLimit }
  mutating func drained() { queuedBytes = 0 }
  mutating func sent(_ count: Int) {
    sentBytes += UInt64(count)
    queuedBytes += count
  }

  /// Whether there has been something to send for as long, and no credit for it.
  func isWithheld(for span: Nanoseconds, at now: LocalTime) -> Bool {
    withheldSince.map { now - $0 >= span } ?? false
  }

  /// Where the packet begins that is sent next; nil where there has been none yet.
  func position(in store: PacketStore) -> MediaTime? {
    store.entry(from: nextSequence)?.mediaTime ?? store.end
  }

  /// What may be sent now. What the room does not decode is left out. Pictures come between packets, as
  /// `plan` says.
  mutating func nextBytes(
    from store: PacketStore, _ schedule: MediaSchedule = MediaSchedule(),
    decodedAs codecs: CodecSet = .all, _ plan: ArtworkPlan = ArtworkPlan()
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    artwork.keep(plan.pictures)
    var isWithheld = false
    while queuedBytes + bytes.count < Self.queueLimit {
      let entry = store.entry(from: nextSequence)
      if entry.map({ $0.mediaTime >= plan.lead }) ?? plan.fillsGaps,
        let piece = artwork.next(of: plan.pictures),
        sentBytes + UInt64(bytes.count + piece.count) <= limit
      {
        bytes += piece
        artwork.sent(plan.pictures)
        continue
      }
      guard let entry, entry.mediaTime < schedule.end else { break }
      guard codecs.contains(entry.format.codec) else {
        nextSequence = entry.sequence + 1
        continue
      }
      var announced: [UInt8] = []
      if knownFormats[entry.formatID] != entry.format {
        announced = MediaMessage.format(id: entry.formatID, entry.format).encoded()
      }
      let size = announced.count + entry.bytes.count
      guard sentBytes + UInt64(bytes.count + size) <= limit else {
        isWithheld = true
        break
      }
      bytes += announced
      bytes += entry.bytes
      knownFormats[entry.formatID] = entry.format
      nextSequence = entry.sequence + 1
    }
    withheldSince = isWithheld && bytes.isEmpty ? withheldSince ?? schedule.now : nil
    sent(bytes.count)
    return bytes
  }
}

/// What of the music the room can take now.
struct MediaSchedule {
  var now = LocalTime(nanoseconds: 0)
  /// What begins from here on does not fit into the room.
  var end = MediaTime(flicks: .max)
}
