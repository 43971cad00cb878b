import Audio
import Clock
import WireProtocol

/// The progress of the packets on one media connection.
struct MediaFlow {
  /// Bytes that may wait in the connection's queue: few, so that a flush never waits long behind them.
  static let queueLimit = 64 * 1024

  private(set) var sentBytes: UInt64 = 0
  private var limit: UInt64 = 0
  /// Capacity of the room, in bytes. A valid limit is never farther ahead of what was sent.
  private let capacity: UInt64
  private var queuedBytes = 0
  /// The packet to send next.
  private(set) var nextSequence: UInt64
  /// Generation of the packet that was sent last.
  private(set) var sentGeneration: UInt32?
  /// The end of the packet that was sent last; before the first, of what the room holds.
  private(set) var sentEnd: MediaTime?
  /// The encoding that the room gets, where there are two, and the one that it is to get.
  private(set) var form: PacketForm
  private(set) var wanted = PacketForm.whole
  /// Generation of what the room holds, if the first packet follows that.
  private(set) var heldGeneration: UInt32?
  /// The last change from one encoding to the other.
  private var change: Change?
  /// The encoding of the next packet, whatever is wanted: the room waits for a packet that it was sent before.
  private(set) var owed: PacketForm?
  private var artwork = ArtworkFlow()
  private var delivery = MediaDelivery()
  private var probe: LinkProbe?
  /// The formats announced on this connection.
  private var knownFormats: [UInt16: StreamFormat] = [:]
  /// The time since which the next packet has waited for credit.
  private var withheldSince: LocalTime?
  /// The time since which the room has had enough for a start that is awaited.
  private var heldSince: LocalTime?

  private struct Change {
    let generation: UInt32
    /// From the end of what was sent before to the first frame behind it.
    let place: ClosedRange<MediaTime>
    /// The packet to send next, before the change.
    let sequence: UInt64
    let before: PacketForm
    let after: PacketForm
  }

  init(
    from sequence: UInt64, capacity: UInt64 = .max, form: PacketForm = .whole,
    following heldGeneration: UInt32? = nil, probe: LinkProbe? = nil
  ) {
    (self.form, self.heldGeneration, self.probe) = (form, heldGeneration, probe)
    nextSequence = sequence
    self.capacity = capacity
  }

  /// Ignores a limit that allows more than the room can hold: it is of another connection, or a mistake.
  mutating func granted(_ limit: UInt64) {
    guard limit <= sentBytes || limit - sentBytes <= capacity else { return }
    self.limit = max(self.limit, limit)
  }

  /// Goes back to the packet that begins at `time`, `sequence` if it has its own number. It is sent again as it was, in the
  /// same encoding and with the same number: the room waits for that one.
  mutating func goBack(to sequence: UInt64, from time: MediaTime) {
    (sentEnd, heldGeneration, owed) = (time, nil, form)
    var sequence = sequence
    if let change, change.generation == sentGeneration, time <= change.place.upperBound {
      form = change.before
      owed = change.before
      if change.place.contains(time) {
        // The room lacks the first packet behind the change, or one that prepares for it.
        (sentEnd, sequence, owed) = (change.place.lowerBound, change.sequence, change.after)
      }
      self.change = nil
    }
    nextSequence = min(nextSequence, sequence)
    delivery.goBack()
  }
  var isFull: Bool { queuedBytes >= queueLimit }

  /// On a slow network less, so that it is decided late what is left out there.
  private var queueLimit: Int { min(Self.queueLimit, delivery.slowRate ?? .max) }
  mutating func drained() { queuedBytes = 0 }
  mutating func sent(_ count: Int) {
    sentBytes += UInt64(count)
    queuedBytes += count
  }

  /// The room has received everything up to `end`.
  mutating func delivered(until end: MediaTime, at now: LocalTime) {
    if sentGeneration == nil, heldGeneration != nil { sentEnd = end }
    delivery.delivered(until: end, at: now)
    if sentGeneration != nil, let sentEnd, end >= sentEnd { probe?.delivered() }
  }

  /// True while it is measured whether the connection carries the music.
  var isProbed: Bool { probe?.isMeasuring ?? false }

  /// Takes the number of sent bytes that TCP has not seen arrive. Returns true if the music, which takes `needed` bytes
  /// per second, is found to be too much for the link.
  mutating func measured(waiting: Int, needed: Double, at now: LocalTime) -> Bool {
    let sent = Int(sentBytes)
    return probe?.measured(sent - waiting, of: sent, needed: needed, at: now) ?? false
  }

  /// True if the network to the room is slower than the music.
  func isTooSlow(at now: LocalTime) -> Bool { delivery.isTooSlow(at: now) }

  /// True if for this long there has been something to send, but no credit for it.
  func isWithheld(for span: Nanoseconds, at now: LocalTime) -> Bool {
    withheldSince.map { now - $0 >= span } ?? false
  }

  /// Returns the media time of the packet to send next; nil if there was no packet yet.
  func position(in store: PacketStore) -> MediaTime? {
    store.entry(from: nextSequence)?.mediaTime ?? store.end
  }

  /// Returns the bytes to send now. Skips packets that the room cannot decode, or would get too late. Puts pictures
  /// between the packets, as `plan` says.
  mutating func nextBytes(
    from store: PacketStore, as wanted: PacketForm = .whole,
    _ schedule: MediaSchedule = MediaSchedule(),
    decodedAs codecs: CodecSet = .all, _ plan: ArtworkPlan = ArtworkPlan()
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    self.wanted = wanted
    artwork.keep(plan.pictures)
    var isWithheld = false
    var isBacklogged = true
    while queuedBytes + bytes.count < queueLimit {
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
      if entry.isLive { probe?.end() }
      if isHeldByProbe(at: schedule.now) || isHeldForStart(entry, schedule)
        || waitsForSmall(entry, schedule)
      {
        isBacklogged = false
        break
      }
      guard !(entry.isLive && schedule.skipsLive), let portion = portion(for: entry, in: store),
        codecs.contains(portion.entry.format.codec)
      else {
        nextSequence = entry.sequence + 1
        continue
      }
      var announced: [UInt8] = []
      let sent = portion.entry
      if knownFormats[sent.formatID] != sent.format {
        announced = MediaMessage.format(id: sent.formatID, sent.format).encoded()
      }
      let size = announced.count + portion.bytes.count
      guard sentBytes + UInt64(bytes.count + size) <= limit else {
        isWithheld = true
        isBacklogged = false
        break
      }
      bytes += announced
      bytes += portion.bytes
      knownFormats[sent.formatID] = sent.format
      if let place = portion.place {
        change = Change(
          generation: sent.generation, place: place, sequence: nextSequence, before: form,
          after: portion.form)
      }
      (nextSequence, form, owed) = (portion.next, portion.form, nil)
      (sentGeneration, sentEnd) = (sent.generation, sent.end)
      delivery.sent(sent, total: sentBytes + UInt64(bytes.count))
    }
    if isBacklogged { probe?.waits(at: schedule.now) }
    delivery.backlog(isBacklogged)
    withheldSince = isWithheld && bytes.isEmpty ? withheldSince ?? schedule.now : nil
    sent(bytes.count)
    return bytes
  }

  /// True if the room gets no more until its link is known.
  private mutating func isHeldByProbe(at now: LocalTime) -> Bool {
    guard probe?.holdsBack(after: delivery.music) ?? false else { return false }
    probe?.waits(at: now)
    return true
  }

  /// A start that is awaited for longer may need more than was sent: no room is ready yet.
  static let longestHold = Nanoseconds.seconds(3)

  /// More than the room needs for a start would queue in its network, and the start behind it.
  private mutating func isHeldForStart(
    _ entry: PacketStore.Entry, _ schedule: MediaSchedule
  ) -> Bool {
    let enough = wanted == .small ? WeakLink.musicForStart : LinkProbe.music
    guard let start = schedule.awaitedStart, entry.mediaTime >= start + enough else {
      heldSince = nil
      return false
    }
    let since = heldSince ?? schedule.now
    heldSince = since
    return schedule.now - since < Self.longestHold
  }

  /// A packet is skipped if it would reach a room with a slow network less than this ahead of its time.
  private static let leastLead = MediaDuration.milliseconds(500)
  /// The first packet that is sent instead arrives this much ahead of its time. This keeps holes few, with continuous
  /// music between them.
  private static let leadBehindHole = MediaDuration.seconds(2)

  /// Skips packets that would come too late, if the network is slower than the music, so that those sent instead are
  /// heard. Otherwise every packet would come a little too late. `count` bytes are to be sent before the next packet.
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

  /// With less music than this ahead, a room gets the usual packets rather than wait for small ones.
  private static let leadToWait = MediaDuration.seconds(2)

  /// True if the small packets are still to come that the room is to get in the place of this one.
  private func waitsForSmall(_ entry: PacketStore.Entry, _ schedule: MediaSchedule) -> Bool {
    guard wanted == .small, owed == nil, entry.form == .only, let unsettled = schedule.unsettled,
      entry.sequence >= unsettled
    else { return false }
    guard let playhead = schedule.playhead(after: .zero) else { return true }
    return entry.mediaTime - playhead >= Self.leadToWait
  }

  /// The first packet of a generation may have to tell the room of the cut before it, and the last packet of all tells
  /// of the end.
  private func canBeLeftOut(_ entry: PacketStore.Entry) -> Bool {
    entry.generation == sentGeneration && !entry.endsStream
  }
}

/// The part of the music that the room can take now, and when it is heard there.
struct MediaSchedule {
  var now = LocalTime(nanoseconds: 0)
  var timeline = PlaybackTimeline()
  /// Least time from a packet's arrival in the room to its sound in the group; negative for a room with a long delay.
  var horizon = Nanoseconds.zero
  /// The room has no space for packets that begin at or after this media time.
  var end = MediaTime(flicks: .max)
  /// The number of the first packet whose small ones are still to come; nil if none are made.
  var unsettled: UInt64?
  /// True if live packets reach the room as datagrams.
  var skipsLive = false
  /// Place in the media at which the group is about to begin, and waits for other rooms perhaps.
  var awaitedStart: MediaTime?

  /// Returns the first media time that can still be heard if it reaches the room `delay` from now; nil if nothing
  /// sounds then.
  func playhead(after delay: Nanoseconds) -> MediaTime? {
    let time = GroupTime(ofSender: now) + delay + horizon
    return timeline.isSounding(at: time) ? timeline.playhead(at: time) : nil
  }
}
