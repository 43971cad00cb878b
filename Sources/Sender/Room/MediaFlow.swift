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
  /// Of the packet that was sent last.
  private var sentGeneration: UInt32?
  private var artwork = ArtworkFlow()
  private var delivery = MediaDelivery()
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
  mutating func goBack(to sequence: UInt64) {
    nextSequence = min(nextSequence, sequence)
    delivery.goBack()
  }
  var isFull: Bool { queuedBytes >= Self.queueLimit }
  mutating func drained() { queuedBytes = 0 }
  mutating func sent(_ count: Int) {
    sentBytes += UInt64(count)
    queuedBytes += count
  }

  /// The room has taken everything up to `end`.
  mutating func delivered(until end: MediaTime, at now: LocalTime) {
    delivery.delivered(until: end, at: now)
  }

  /// Whether the network to the room is slower than the music.
  func isTooSlow(at now: LocalTime) -> Bool { delivery.isTooSlow(at: now) }

  /// Whether there has been something to send for as long, and no credit for it.
  func isWithheld(for span: Nanoseconds, at now: LocalTime) -> Bool {
    withheldSince.map { now - $0 >= span } ?? false
  }

  /// Where the packet begins that is sent next; nil where there has been none yet.
  func position(in store: PacketStore) -> MediaTime? {
    store.entry(from: nextSequence)?.mediaTime ?? store.end
  }

  /// What may be sent now. What the room does not decode, or would get too late, is left out. Pictures come between
  /// packets, as `plan` says.
  mutating func nextBytes(
    from store: PacketStore, _ schedule: MediaSchedule = MediaSchedule(),
    decodedAs codecs: CodecSet = .all, _ plan: ArtworkPlan = ArtworkPlan()
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    artwork.keep(plan.pictures)
    var isWithheld = false
    var isBacklogged = true
    while queuedBytes + bytes.count < Self.queueLimit {
      skipLate(in: store, behind: bytes.count, schedule)
      let entry = store.entry(from: nextSequence)
      if entry.map({ $0.mediaTime >= plan.lead }) ?? plan.fillsGaps,
        let piece = artwork.next(of: plan.pictures),
        sentBytes + UInt64(bytes.count + piece.count) <= limit
      {
        bytes += piece
        artwork.sent(plan.pictures)
        isBacklogged = false
        continue
      }
      guard let entry, entry.mediaTime < schedule.end else {
        isBacklogged = false
        break
      }
      guard codecs.contains(entry.format.codec), !(entry.isLive && schedule.skipsLive) else {
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
        isBacklogged = false
        break
      }
      bytes += announced
      bytes += entry.bytes
      knownFormats[entry.formatID] = entry.format
      nextSequence = entry.sequence + 1
      sentGeneration = entry.generation
      delivery.sent(entry, total: sentBytes + UInt64(bytes.count))
    }
    delivery.backlog(isBacklogged)
    withheldSince = isWithheld && bytes.isEmpty ? withheldSince ?? schedule.now : nil
    sent(bytes.count)
    return bytes
  }

  /// A packet is left out that would reach a room with a slow network less than this ahead of its time.
  private static let leastLead = MediaDuration.milliseconds(500)
  /// The first packet that is sent instead gets there this much ahead of its time: holes are few, with music in a row between
  /// them.
  private static let leadBehindHole = MediaDuration.seconds(2)

  /// Passes over what would come too late where the network is slower than the music: what is sent instead is heard. Else
  /// every packet would come a little too late. `count` bytes are to be sent before the next packet.
  private mutating func skipLate(
    in store: PacketStore, behind count: Int, _ schedule: MediaSchedule
  ) {
    guard let entry = store.entry(from: nextSequence), canBeLeftOut(entry),
      let delay = delivery.delay(
        ofByte: sentBytes + UInt64(count + entry.bytes.count), at: schedule.now),
      let playhead = schedule.playhead(after: delay), entry.mediaTime < playhead + Self.leastLead
    else { return }
    let target = store.sequence(at: playhead + Self.leadBehindHole)
    while let late = store.entry(from: nextSequence), late.sequence < target, canBeLeftOut(late) {
      nextSequence = late.sequence + 1
    }
  }

  /// The first packet of a generation may be what tells the room of the cut before it, and the last one of all tells of
  /// the end.
  private func canBeLeftOut(_ entry: PacketStore.Entry) -> Bool {
    entry.generation == sentGeneration && !entry.endsStream
  }
}

/// What of the music the room can take now, and when it is heard there.
struct MediaSchedule {
  var now = LocalTime(nanoseconds: 0)
  var timeline = PlaybackTimeline()
  /// How long before a packet is heard by the group it must be in the room; negative for a room with a long delay.
  var horizon = Nanoseconds.zero
  /// What begins from here on does not fit into the room.
  var end = MediaTime(flicks: .max)
  /// Whether what is live reaches the room as datagrams.
  var skipsLive = false

  /// The first that can still be heard of what reaches the room `delay` from now; nil if nothing sounds then.
  func playhead(after delay: Nanoseconds) -> MediaTime? {
    let time = GroupTime(ofSender: now) + delay + horizon
    return timeline.isSounding(at: time) ? timeline.playhead(at: time) : nil
  }
}
