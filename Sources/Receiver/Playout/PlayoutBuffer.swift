package import Audio
package import Clock
package import WireProtocol

/// The deep buffer: compressed packets in the order of media time, bounded in bytes. Packets stay until
/// they have sounded, so that a sound device which comes back can be served again; a cursor marks what
/// has been decoded.
package struct PlayoutBuffer {
  /// What a packet costs besides its payload, in bytes: its record of 64 in an array that may be twice as long as it has
  /// to be, and what an array of its own takes for the payload.
  package static let overheadPerPacket = 192
  /// Bytes that may come beyond the capacity: where small packets take more memory than they had bytes on the way, they
  /// are all here before the next credit says so.
  package static let allowance: UInt64 = 4 << 20

  package let capacity: Capacity
  private var packets: [Held] = []
  /// Index into `packets` of the oldest one still held; what lies before was released.
  private var first = 0
  private var cursor = 0
  private var formats = FormatTable()
  private var cuts = CutHistory()

  package private(set) var heldBytes: UInt64 = 0
  /// One more than the number of the newest packet taken.
  package private(set) var nextSequence: UInt64 = 0
  /// Where the audio held ends; `nil` while nothing was ever inserted.
  package private(set) var bufferedUntil: MediaTime?
  /// Where the packet begins that is numbered `nextSequence`, if it came when there was no room and will come again.
  private var lostFrom: MediaTime?
  /// Whether the newest packet is the last of the stream.
  package private(set) var endsStream = false
  /// Whether the next packet is the first of its connection, or of another stretch of numbers: the sender may go back by it.
  private var beginsConnection = false

  /// A packet and what it is: its format's identifier may get another meaning for later ones.
  private struct Held {
    var packet: AudioPacket
    let format: HeldFormat
    /// It came when its time had passed, and was counted then.
    var isLate = false

    var mediaTime: MediaTime { packet.mediaTime }
    var end: MediaTime {
      packet.mediaTime + format.meaning.audio.duration(ofFrames: packet.encoded.frameCount)
    }
    /// Covers no time: it only readies the decoder for the next.
    var isPreparing: Bool { packet.encoded.frameCount == 0 }
    /// What ends before it may do so by a frame too late.
    mutating func leaveOutFirst(_ frame: MediaDuration) {
      packet.mediaTime = packet.mediaTime + frame
      guard !isPreparing else { return }
      packet.encoded.skippedFrames += 1
      packet.encoded.frameCount -= 1
    }
    var cost: UInt64 { UInt64(packet.encoded.payload.count + PlayoutBuffer.overheadPerPacket) }
  }

  package init(capacity: Capacity) {
    self.capacity = capacity
  }

  package var generation: UInt32 { cuts.generation }
  package var packetCount: Int { packets.count - first }
  /// Where the oldest packet begins that is still held; where there is none, where the next one would.
  package var heldFrom: MediaTime? {
    first < packets.count ? packets[first].mediaTime : bufferedUntil
  }
  /// Formats that are kept, for packets that are held or to come.
  package var formatCount: Int { formats.count }

  package enum Insertion: Equatable {
    case inserted
    /// Flushed while it was on its way, or held already.
    case stale
    /// Of a generation that no flush has announced yet: its first packet is where the sender cut.
    case insertedAfterImplicitCut(from: MediaTime)
    /// The sender went back: all that was held is forgotten, and comes again.
    case insertedAfterGoingBack
    /// Names no format of this connection, or does not begin with a whole frame of it.
    case corrupt(String)
    /// There is no room for it: everything from here on must be sent again.
    case lost(from: MediaTime)
    /// Overlaps what is held by more than a frame.
    case violation(String)
  }

  package mutating func define(_ format: StreamFormat, id: UInt16) {
    formats.define(format, id: id)
  }

  /// Another media connection begins: its packets have formats of their own.
  package mutating func forgetFormats() {
    formats.forgetIdentifiers()
    mayGoBack()
  }

  /// The next packet may have a number that was passed.
  package mutating func mayGoBack() { beginsConnection = true }

  package mutating func insert(_ packet: AudioPacket) -> Insertion {
    guard let format = formats[packet.formatID] else {
      return .corrupt("packet \(packet.sequence) names format \(packet.formatID), not known here")
    }
    let frame = format.meaning.audio.duration(ofFrames: 1)
    guard packet.mediaTime.flicks % frame.flicks == 0 else {
      return .corrupt("packet \(packet.sequence) begins between two frames")
    }
    var held = Held(packet: packet, format: format)
    guard cuts.admits(packet) else { return .stale }
    let goesBack = beginsConnection && packet.sequence < nextSequence && bufferedUntil != nil
    beginsConnection = false
    if goesBack { forgetPackets() }
    guard packet.sequence >= nextSequence else { return .stale }
    // What follows a lost packet would leave a hole: it waits for that one, or for a flush.
    if lostFrom != nil, packet.sequence > nextSequence, packet.generation <= generation {
      return .stale
    }
    let most = capacity.bytes + min(capacity.bytes, Self.allowance)
    guard heldBytes + held.cost + format.costOfOneMore <= most else {
      lostFrom = packet.mediaTime
      nextSequence = packet.sequence
      return .lost(from: packet.mediaTime)
    }
    lostFrom = nil
    var result = goesBack ? Insertion.insertedAfterGoingBack : .inserted
    if packet.generation > generation {
      _ = flush(from: packet.mediaTime, generation: packet.generation)
      result = .insertedAfterImplicitCut(from: packet.mediaTime)
    }
    if let end = bufferedUntil, packet.mediaTime < end {
      // A sender that rounds down where two rates join.
      if end - packet.mediaTime <= frame { held.leaveOutFirst(frame) }
    }
    if let end = bufferedUntil, held.mediaTime < end {
      return .violation("packet \(packet.sequence) begins before the one before it ends")
    }
    packets.append(held)
    hold(held)
    nextSequence = packet.sequence + 1
    bufferedUntil = cuts.limit(of: packet.generation).map { min($0, held.end) } ?? held.end
    endsStream = packet.endsStream
    return result
  }

  /// Forgets everything at and after `time`, of all older generations. A packet that reaches over `time`
  /// stays; its frames from `time` on are cut where they are rendered. False if the generation is not new.
  package mutating func flush(from time: MediaTime, generation: UInt32) -> Bool {
    guard generation > self.generation else { return false }
    cuts.append(generation: generation, from: time)
    lostFrom = nil
    while packets.count > first, let last = packets.last, last.mediaTime >= time {
      letGo(last)
      packets.removeLast()
    }
    cursor = min(cursor, packets.count)
    bufferedUntil = bufferedUntil.map { min($0, time) }
    endsStream = false
    return true
  }

  package mutating func removeAll() {
    self = PlayoutBuffer(capacity: capacity)
  }

  /// All but the flushes that were made, and what formats there are.
  private mutating func forgetPackets() {
    for held in packets[first...] { letGo(held) }
    packets.removeAll()
    (first, cursor) = (0, 0)
    nextSequence = 0
    (bufferedUntil, lostFrom) = (nil, nil)
    endsStream = false
  }

  /// The next packet to decode, with its format; it counts as decoded from now on.
  package mutating func nextToDecode() -> (packet: AudioPacket, format: StreamFormat)? {
    guard cursor < packets.count else { return nil }
    defer { cursor += 1 }
    return (packets[cursor].packet, packets[cursor].format.meaning)
  }

  /// The packet that `nextToDecode` would return begins here, in this format; `nil` if there is none.
  package var upcoming: (mediaTime: MediaTime, format: StreamFormat)? {
    guard cursor < packets.count else { return nil }
    return (packets[cursor].mediaTime, packets[cursor].format.meaning)
  }

  /// Decodes again from the packet that sounds at `time`, or the first one held.
  package mutating func rewindDecoding(to time: MediaTime) {
    cursor = first
    while cursor + 1 < packets.count, packets[cursor + 1].mediaTime <= time { cursor += 1 }
    while cursor > first, packets[cursor - 1].isPreparing { cursor -= 1 }
  }

  /// The newest packet came too late.
  package mutating func markNewestLate() {
    guard packets.count > first else { return }
    packets[packets.count - 1].isLate = true
  }

  /// Passes over packets that end at or before `time` without having been decoded; returns how many of them had come in
  /// time.
  package mutating func skipLate(before time: MediaTime) -> Int {
    let start = cursor
    while cursor < packets.count, packets[cursor].end <= time { cursor += 1 }
    // What readies the decoder for the one that is not late is not late either.
    while cursor > start, packets[cursor - 1].isPreparing { cursor -= 1 }
    return packets[start..<cursor].count { !$0.isLate }
  }

  /// Releases packets that end at or before `time` and are decoded.
  package mutating func release(before time: MediaTime) {
    // The sender does not have it any more either.
    if let lostFrom, lostFrom < time { self.lostFrom = nil }
    while first < cursor, packets[first].end <= time {
      letGo(packets[first])
      packets[first].packet.encoded.payload = []
      first += 1
    }
    // Shifts the array once half of it is released, so that each packet is moved a bounded number of times.
    guard first > 256, first > packets.count / 2 else { return }
    packets.removeFirst(first)
    cursor -= first
    first = 0
  }

  /// A format counts for as long as a packet is held that has it.
  private mutating func hold(_ held: Held) {
    heldBytes += held.cost + held.format.costOfOneMore
    held.format.packetCount += 1
  }

  private mutating func letGo(_ held: Held) {
    held.format.packetCount -= 1
    heldBytes -= held.cost + held.format.costOfOneMore
    if held.format.packetCount == 0 { formats.released(held.format) }
  }
}

/// The flushes of a stream, newest last. A packet of an older generation is still wanted if it lies before
/// every cut that was made since.
struct CutHistory {
  /// Enough for a user who turns a knob: a receiver is never further behind than a few flushes.
  static let limit = 32

  private struct Cut {
    let generation: UInt32
    let from: MediaTime
  }

  private var cuts: [Cut] = []
  /// Packets older than this are of a generation whose cuts are forgotten.
  private var oldestKnown: UInt32 = 0
  private(set) var generation: UInt32 = 0

  mutating func append(generation: UInt32, from time: MediaTime) {
    self.generation = generation
    // What was cut later and lies behind is cut by this one as well.
    cuts.removeAll { $0.from >= time }
    cuts.append(Cut(generation: generation, from: time))
    if cuts.count > Self.limit {
      oldestKnown = cuts[0].generation
      cuts.removeFirst()
    }
  }

  /// The earliest media time cut from a generation since it began; `nil` if it was never cut.
  func limit(of generation: UInt32) -> MediaTime? {
    cuts.lazy.filter { $0.generation > generation }.map(\.from).min()
  }

  func admits(_ packet: AudioPacket) -> Bool {
    guard packet.generation >= oldestKnown else { return false }
    return limit(of: packet.generation).map { packet.mediaTime < $0 } ?? true
  }
}
