package import Audio
package import Clock
package import WireProtocol

/// The deep buffer: compressed packets in the order of media time, bounded in bytes. Packets stay until they have
/// sounded, so that a sound device that returns can play them again. A cursor separates decoded packets from the rest.
package struct PlayoutBuffer {
  /// Memory of a packet besides its payload, in bytes: its record of 64 in an array that may have twice the needed
  /// length, and the overhead of the payload's own array.
  package static let overheadPerPacket = 192
  /// Bytes accepted beyond the capacity: small packets take more memory than bytes on the network, and all of them
  /// arrive before the next credit says so.
  package static let allowance: UInt64 = 4 << 20

  package let capacity: Capacity
  private var packets: [Held] = []
  /// Index into `packets` of the oldest one still held; earlier ones are released.
  private var first = 0
  private var cursor = 0
  private var formats = FormatTable()
  private var cuts = CutHistory()

  package private(set) var heldBytes: UInt64 = 0
  /// One more than the number of the newest packet taken.
  package private(set) var nextSequence: UInt64 = 0
  /// End of the held audio; `nil` while nothing was ever inserted.
  package private(set) var bufferedUntil: MediaTime?
  /// Media time of the packet numbered `nextSequence`, if it found no space and must be sent again.
  private var lostFrom: MediaTime?
  /// True if the newest packet is the last of the stream.
  package private(set) var endsStream = false
  /// True if the next packet is the first of its connection or of another stretch of numbers, and may therefore have a
  /// lower number.
  private var beginsConnection = false

  /// A packet and its format, because the format's identifier may get another meaning later.
  private struct Held {
    var packet: AudioPacket
    let format: HeldFormat
    /// True if the packet arrived after its time; it was counted then.
    var isLate = false

    var mediaTime: MediaTime { packet.mediaTime }
    var end: MediaTime {
      packet.mediaTime + format.meaning.audio.duration(ofFrames: packet.encoded.frameCount)
    }
    /// True if the packet covers no media time and only prepares the decoder for the next one.
    var isPreparing: Bool { packet.encoded.frameCount == 0 }
    /// Drops the first frame, because the packet before may end one frame late.
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
  /// Start of the oldest held packet, or of the next one if none is held.
  package var heldFrom: MediaTime? {
    first < packets.count ? packets[first].mediaTime : bufferedUntil
  }
  /// Number of stored formats, for packets that are held or to come.
  package var formatCount: Int { formats.count }

  package enum Insertion: Equatable {
    case inserted
    /// The packet was flushed on its way, or is held already.
    case stale
    /// The packet's generation has not been announced by a flush yet: its first packet marks the sender's cut.
    case insertedAfterImplicitCut(from: MediaTime)
    /// The sender went back: all held packets are forgotten and will be sent again.
    case insertedAfterGoingBack
    /// The packet names no format of this connection, or does not begin at a whole frame of it.
    case corrupt(String)
    /// There is no space for the packet: the sender must send everything from here on again.
    case lost(from: MediaTime)
    /// The packet overlaps the held audio by more than a frame.
    case violation(String)
  }

  package mutating func define(_ format: StreamFormat, id: UInt16) {
    formats.define(format, id: id)
  }

  /// Forgets the identifiers, because another media connection with its own formats begins.
  package mutating func forgetFormats() {
    formats.forgetIdentifiers()
    mayGoBack()
  }

  /// Allows the next packet to have a number that was passed.
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
    // A later packet would leave a hole: wait for the lost one, or for a flush.
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
      // The sender rounds down where two sample rates join.
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

  /// Forgets everything at and after `time`, of all older generations. A packet that begins before `time` and ends
  /// after it stays; its frames from `time` on are cut at rendering. Returns false if the generation is not new.
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

  /// Forgets everything except the flushes and the formats.
  private mutating func forgetPackets() {
    for held in packets[first...] { letGo(held) }
    packets.removeAll()
    (first, cursor) = (0, 0)
    nextSequence = 0
    (bufferedUntil, lostFrom) = (nil, nil)
    endsStream = false
  }

  /// Returns the next packet to decode, with its format; it counts as decoded from now on.
  package mutating func nextToDecode() -> (packet: AudioPacket, format: StreamFormat)? {
    guard cursor < packets.count else { return nil }
    defer { cursor += 1 }
    return (packets[cursor].packet, packets[cursor].format.meaning)
  }

  /// Start and format of the packet that `nextToDecode` would return; `nil` if there is none.
  package var upcoming: (mediaTime: MediaTime, format: StreamFormat)? {
    guard cursor < packets.count else { return nil }
    return (packets[cursor].mediaTime, packets[cursor].format.meaning)
  }

  /// Moves the cursor back to the packet that sounds at `time`, or to the first one held.
  package mutating func rewindDecoding(to time: MediaTime) {
    cursor = first
    while cursor + 1 < packets.count, packets[cursor + 1].mediaTime <= time { cursor += 1 }
    while cursor > first, packets[cursor - 1].isPreparing { cursor -= 1 }
  }

  /// Marks the newest packet as one that arrived too late.
  package mutating func markNewestLate() {
    guard packets.count > first else { return }
    packets[packets.count - 1].isLate = true
  }

  /// Skips undecoded packets that end at or before `time`. Returns how many of them had arrived in time.
  package mutating func skipLate(before time: MediaTime) -> Int {
    let start = cursor
    while cursor < packets.count, packets[cursor].end <= time { cursor += 1 }
    // Preparing packets belong to the next packet, which is not late.
    while cursor > start, packets[cursor - 1].isPreparing { cursor -= 1 }
    return packets[start..<cursor].count { !$0.isLate }
  }

  /// Releases packets that end at or before `time` and are decoded.
  package mutating func release(before time: MediaTime) {
    // The sender does not have this packet any more either.
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

  /// Charges a packet. Its format is charged while any packet of it is held.
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

/// The flushes of a stream, newest last. A packet of an older generation is still wanted if it lies before every cut
/// made since.
struct CutHistory {
  /// Enough for a user who turns a knob: a receiver is never more than a few flushes behind.
  static let limit = 32

  private struct Cut {
    let generation: UInt32
    let from: MediaTime
  }

  private var cuts: [Cut] = []
  /// The cuts of generations older than this are forgotten.
  private var oldestKnown: UInt32 = 0
  private(set) var generation: UInt32 = 0

  mutating func append(generation: UInt32, from time: MediaTime) {
    self.generation = generation
    // This cut includes earlier cuts at later media times.
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
