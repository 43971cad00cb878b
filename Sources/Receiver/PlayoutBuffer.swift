package import Audio
package import Clock
package import WireProtocol

/// The deep buffer: compressed packets in the order of media time, bounded in bytes. Packets stay until
/// they have sounded, so that a sound device which comes back can be served again; a cursor marks what
/// has been decoded.
package struct PlayoutBuffer {
  /// What a packet costs besides its payload: its header and the store's own bookkeeping.
  package static let overheadPerPacket = 96

  package let capacity: Capacity
  private var packets: [AudioPacket] = []
  /// Index into `packets` of the oldest one still held; what lies before was released.
  private var first = 0
  private var cursor = 0
  private var formats: [UInt16: StreamFormat] = [:]
  private var cuts = CutHistory()

  package private(set) var heldBytes: UInt64 = 0
  /// One more than the number of the newest packet taken.
  package private(set) var nextSequence: UInt64 = 0
  /// Where the audio held ends; `nil` while nothing was ever inserted.
  package private(set) var bufferedUntil: MediaTime?
  /// Whether the newest packet is the last of the stream.
  package private(set) var endsStream = false

  package init(capacity: Capacity) {
    self.capacity = capacity
  }

  package var generation: UInt32 { cuts.generation }
  package var packetCount: Int { packets.count - first }

  package enum Insertion: Equatable {
    case inserted
    /// Flushed while it was on its way, or held already.
    case stale
    /// Of a generation that no flush has announced yet: its first packet is where the sender cut.
    case insertedAfterImplicitCut(from: MediaTime)
    /// Does not continue what is held, names no known format, or overruns the credit.
    case violation(String)
  }

  package mutating func define(_ format: StreamFormat, id: UInt16) {
    formats[id] = format
  }

  package mutating func insert(_ packet: AudioPacket) -> Insertion {
    guard let format = formats[packet.formatID] else {
      return .violation("packet \(packet.sequence) names format \(packet.formatID), not known here")
    }
    let cost = cost(of: packet)
    // Twice the capacity, because what was released since the last credit may already be on its way.
    guard heldBytes + cost <= 2 * capacity.bytes else {
      return .violation("more was sent than the credit of \(capacity.bytes) bytes allows")
    }
    guard packet.sequence >= nextSequence, cuts.admits(packet) else { return .stale }
    var result = Insertion.inserted
    if packet.generation > generation {
      _ = flush(from: packet.mediaTime, generation: packet.generation)
      result = .insertedAfterImplicitCut(from: packet.mediaTime)
    }
    if let end = bufferedUntil, packet.mediaTime < end {
      return .violation("packet \(packet.sequence) begins before the one before it ends")
    }
    packets.append(packet)
    heldBytes += cost
    nextSequence = packet.sequence + 1
    let end = packet.mediaTime + format.audio.duration(ofFrames: packet.encoded.frameCount)
    bufferedUntil = cuts.limit(of: packet.generation).map { min($0, end) } ?? end
    endsStream = packet.endsStream
    return result
  }

  /// Forgets everything at and after `time`, of all older generations. A packet that reaches over `time`
  /// stays; its frames from `time` on are cut where they are rendered. False if the generation is not new.
  package mutating func flush(from time: MediaTime, generation: UInt32) -> Bool {
    guard generation > self.generation else { return false }
    cuts.append(generation: generation, from: time)
    while packets.count > first, let last = packets.last, last.mediaTime >= time {
      heldBytes -= cost(of: last)
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

  /// The next packet to decode, with its format; it counts as decoded from now on.
  package mutating func nextToDecode() -> (packet: AudioPacket, format: StreamFormat)? {
    guard cursor < packets.count, let format = formats[packets[cursor].formatID] else { return nil }
    defer { cursor += 1 }
    return (packets[cursor], format)
  }

  /// The packet that `nextToDecode` would return begins here, in this format; `nil` if there is none.
  package var upcoming: (mediaTime: MediaTime, format: StreamFormat)? {
    guard cursor < packets.count, let format = formats[packets[cursor].formatID] else { return nil }
    return (packets[cursor].mediaTime, format)
  }

  /// Decodes again from the packet that sounds at `time`, or the first one held.
  package mutating func rewindDecoding(to time: MediaTime) {
    cursor = first
    while cursor + 1 < packets.count, packets[cursor + 1].mediaTime <= time { cursor += 1 }
  }

  /// Passes over packets that end at or before `time` without having been decoded; returns how many.
  package mutating func skipLate(before time: MediaTime) -> Int {
    var count = 0
    while cursor < packets.count, end(of: packets[cursor]) <= time {
      cursor += 1
      count += 1
    }
    return count
  }

  /// Releases packets that end at or before `time` and are decoded.
  package mutating func release(before time: MediaTime) {
    while first < cursor, end(of: packets[first]) <= time {
      heldBytes -= cost(of: packets[first])
      packets[first].encoded.payload = []
      first += 1
    }
    // Shifts the array once half of it is released, so that each packet is moved a bounded number of times.
    guard first > 256, first > packets.count / 2 else { return }
    packets.removeFirst(first)
    cursor -= first
    first = 0
  }

  private func cost(of packet: AudioPacket) -> UInt64 {
    UInt64(packet.encoded.payload.count + Self.overheadPerPacket)
  }

  private func end(of packet: AudioPacket) -> MediaTime {
    guard let format = formats[packet.formatID] else { return packet.mediaTime }
    return packet.mediaTime + format.audio.duration(ofFrames: packet.encoded.frameCount)
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
