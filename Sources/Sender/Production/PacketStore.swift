import Audio
import Clock
import WireProtocol

/// Keeps the packets between the playhead and the end of production, encoded once for all rooms and ready to be
/// sent. Rooms that join late or come back are served from here.
struct PacketStore {
  /// Memory that a packet takes besides its bytes. Bytes.
  static let overheadPerPacket = 96

  struct Entry {
    let sequence: UInt64
    let generation: UInt32
    let mediaTime: MediaTime
    /// The media time at which the packet ends, or at which a cut ends it.
    var end: MediaTime
    let formatID: UInt16
    /// Meaning of `formatID` for this packet. Later packets may give it another meaning.
    let format: StreamFormat
    let endsStream: Bool
    var form: PacketForm
    /// True if the packet goes to rooms as a datagram.
    let isLive: Bool
    /// The whole message, framing included. Empty once it was released.
    var bytes: [UInt8]

    var isPreparing: Bool { end == mediaTime }

    init(
      _ packet: AudioPacket, format: StreamFormat, end: MediaTime, form: PacketForm = .only,
      isLive: Bool = false
    ) {
      (sequence, generation, mediaTime) = (packet.sequence, packet.generation, packet.mediaTime)
      (self.end, self.format, self.form, self.isLive) = (end, format, form, isLive)
      (formatID, endsStream) = (packet.formatID, packet.endsStream)
      bytes = MediaMessage.packet(packet).encoded()
    }
  }

  /// Bytes that it may hold, whatever the rooms say.
  var byteLimit = StoreBudget.bytes
  /// True to leave numbers free behind each packet for small ones.
  var leavesSpace = false
  var entries: [Entry] = []
  private(set) var first = 0
  /// The number of the next packet.
  private(set) var nextSequence: UInt64 = 0
  private(set) var byteCount = 0
  /// The end of the newest packet, small ones aside; kept when all packets have been released.
  private(set) var end: MediaTime?
  /// Bytes of the small packets among them.
  private var smallByteCount = 0
  /// Number of cuts so far.
  private(set) var cutCount: UInt64 = 0

  init() {}

  /// Takes over from a process that had numbered packets below `sequence`, and produced up to `end`.
  init(continuingAt sequence: UInt64, end: MediaTime) {
    (nextSequence, self.end) = (sequence, end)
  }

  /// Memory that the packets take, overhead included: silence is compressed to almost nothing, but its packets
  /// still count.
  var heldBytes: Int { byteCount + (entries.count - first) * Self.overheadPerPacket }

  /// Bytes per second of audio; 0 while nothing is stored.
  var byteRate: Double {
    guard first < entries.count, let last = entries.last else { return 0 }
    let span = (last.end - entries[first].mediaTime).seconds
    return span > 0 ? Double(byteCount - smallByteCount) / span : 0
  }

  @discardableResult
  mutating func append(
    _ packet: AudioPacket, format: StreamFormat, end time: MediaTime, isLive: Bool = false
  ) -> Entry {
    let entry = Entry(packet, format: format, end: time, isLive: isLive)
    entries.append(entry)
    byteCount += entry.bytes.count
    nextSequence = packet.sequence + 1
    if leavesSpace, !isLive {
      nextSequence += Self.spareNumbers(beside: entry.end - entry.mediaTime)
    }
    end = entry.end
    return entry
  }

  /// Removes packets that begin at or after `time`. A packet that extends beyond it is heard only up to there.
  mutating func cut(from time: MediaTime) {
    cutCount += 1
    while entries.count > first, let last = entries.last, last.mediaTime >= time {
      forget(last)
      entries.removeLast()
    }
    // Where there are two encodings, a packet of each may extend beyond it.
    for index in entries.indices.suffix(min(Self.reach, entries.count - first)) {
      entries[index].end = min(entries[index].end, time)
    }
    end = end.map { min($0, time) }
  }

  /// Removes packets that end at or before `time`.
  mutating func release(before time: MediaTime) {
    while first < entries.count, entries[first].end <= time {
      forget(entries[first])
      entries[first].bytes = []
      first += 1
    }
    // Shifts the array once half of it is released, so that each entry is moved a bounded number of times.
    guard first > 256, first > entries.count / 2 else { return }
    entries.removeFirst(first)
    first = 0
  }

  private mutating func forget(_ entry: Entry) {
    byteCount -= entry.bytes.count
    if entry.form == .small { smallByteCount -= entry.bytes.count }
  }

  /// Replaces packets by as many or more, with small ones between them.
  mutating func replace(_ range: Range<Int>, with merged: [Entry]) {
    for entry in entries[range] where entry.form == .small {
      byteCount -= entry.bytes.count
      smallByteCount -= entry.bytes.count
    }
    for entry in merged where entry.form == .small {
      byteCount += entry.bytes.count
      smallByteCount += entry.bytes.count
    }
    entries.replaceSubrange(range, with: merged)
  }

  /// Returns the oldest packet numbered `sequence` or higher.
  func entry(from sequence: UInt64) -> Entry? {
    index(from: sequence).map { entries[$0] }
  }

  /// Returns the index of the oldest packet numbered `sequence` or higher.
  func index(from sequence: UInt64) -> Int? {
    var low = first
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low < entries.count ? low : nil
  }

  /// Returns the beginning and the codec of the first packet that sounds at or after `time` and whose codec is
  /// not in `codecs`.
  func firstPacket(at time: MediaTime, outside codecs: CodecSet) -> (MediaTime, Codec)? {
    entries[first...].first {
      $0.form != .small && $0.end > time && !codecs.contains($0.format.codec)
    }
    .map { ($0.mediaTime, $0.format.codec) }
  }

  /// Returns the number of the packet that sounds at `time`, or of the first after it.
  func sequence(at time: MediaTime) -> UInt64 {
    var low = first
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].end <= time { low = middle + 1 } else { high = middle }
    }
    // Packets of another encoding that end later may come first.
    for index in (max(first, low - Self.reach)..<low).reversed() where entries[index].end > time {
      low = index
    }
    // Packets that only prepare a decoder have no length, and come first.
    while low > first, low < entries.count, entries[low - 1].isPreparing { low -= 1 }
    return low < entries.count ? entries[low].sequence : nextSequence
  }
}
