import Audio
import Clock
import WireProtocol

/// The packets between what sounds and what was produced, ready for the wire: encoded once for all rooms.
/// Rooms that join late or come back are served from here.
struct PacketStore {
  /// What a packet costs in memory besides its bytes.
  static let overheadPerPacket = 96

  struct Entry {
    let sequence: UInt64
    let generation: UInt32
    let mediaTime: MediaTime
    /// Where it ends, or where a cut ends it.
    fileprivate(set) var end: MediaTime
    let formatID: UInt16
    /// What the identifier means for this packet; later ones may give it another meaning.
    let format: StreamFormat
    let endsStream: Bool
    /// Whether it goes to rooms as a datagram.
    let isLive: Bool
    /// The whole message, framing included. Empty once it was released.
    fileprivate(set) var bytes: [UInt8]

    fileprivate var isPreparing: Bool { end == mediaTime }
  }

  private(set) var entries: [Entry] = []
  private var first = 0
  private(set) var nextSequence: UInt64 = 0
  private(set) var byteCount = 0
  /// Where the newest packet ends; kept when all have been released.
  private(set) var end: MediaTime?

  /// What all this takes in memory: silence is compressed to almost nothing, and its packets are not.
  var heldBytes: Int { byteCount + (entries.count - first) * Self.overheadPerPacket }

  /// Bytes that a second takes; 0 while nothing is stored.
  var byteRate: Double {
    guard first < entries.count, let last = entries.last else { return 0 }
    let span = (last.end - entries[first].mediaTime).seconds
    return span > 0 ? Double(byteCount) / span : 0
  }

  @discardableResult
  mutating func append(
    _ packet: AudioPacket, format: StreamFormat, end time: MediaTime, isLive: Bool = false
  ) -> Entry {
    let bytes = MediaMessage.packet(packet).encoded()
    let entry = Entry(
      sequence: packet.sequence, generation: packet.generation, mediaTime: packet.mediaTime,
      end: time, formatID: packet.formatID, format: format,
      endsStream: packet.endsStream, isLive: isLive, bytes: bytes)
    entries.append(entry)
    byteCount += bytes.count
    nextSequence = packet.sequence + 1
    end = entry.end
    return entry
  }

  /// Removes what begins at or after `time`; of what reaches over it, the rest is not heard.
  mutating func cut(from time: MediaTime) {
    while entries.count > first, let last = entries.last, last.mediaTime >= time {
      byteCount -= last.bytes.count
      entries.removeLast()
    }
    if entries.count > first, let last = entries.indices.last {
      entries[last].end = min(entries[last].end, time)
    }
    end = end.map { min($0, time) }
  }

  /// Removes what ends at or before `time`.
  mutating func release(before time: MediaTime) {
    while first < entries.count, entries[first].end <= time {
      byteCount -= entries[first].bytes.count
      entries[first].bytes = []
      first += 1
    }
    // Shifts the array once half of it is released, so that each entry is moved a bounded number of times.
    guard first > 256, first > entries.count / 2 else { return }
    entries.removeFirst(first)
    first = 0
  }

  /// The oldest packet numbered `sequence` or higher.
  func entry(from sequence: UInt64) -> Entry? {
    var low = first
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low < entries.count ? entries[low] : nil
  }

  /// Where the first packet begins that sounds at or after `time` and is in none of `codecs`, and in which it is.
  func firstPacket(at time: MediaTime, outside codecs: CodecSet) -> (MediaTime, Codec)? {
    entries[first...].first { $0.end > time && !codecs.contains($0.format.codec) }
      .map { ($0.mediaTime, $0.format.codec) }
  }

  /// The number of the packet that sounds at `time`, or of the first after it.
  func sequence(at time: MediaTime) -> UInt64 {
    var low = first
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].end <= time { low = middle + 1 } else { high = middle }
    }
    // What only prepares a decoder has no length, and comes first.
    while low > first, low < entries.count, entries[low - 1].isPreparing { low -= 1 }
    return low < entries.count ? entries[low].sequence : nextSequence
  }
}
