import Clock
import WireProtocol

/// Takes small packets in, between the usual ones of the same media time.
extension PacketStore {
  /// Numbers from one small packet to the next: enough for the packets that prepare a decoder, which a room gets at a
  /// seam and the others do not.
  static let spacing: UInt64 = 16
  /// The length of a small packet; the last one of a run is shorter.
  private static let smallLength = MediaDuration.milliseconds(20)

  /// Numbers that are left free behind a usual packet of this length.
  static func spareNumbers(beside length: MediaDuration) -> UInt64 {
    // Shorter ones at a joint of runs, those that only prepare, and what prepares for the next usual packet.
    UInt64(max(0, length.flicks) / smallLength.flicks + 12) * spacing
  }

  /// Takes small packets in, which come in order. Those beside packets that are not there any more are dropped.
  mutating func insert(_ packets: [SmallBatch.Packet]) {
    guard let start = packets.first?.produced.mediaTime, first < entries.count else { return }
    var place = entries.count
    while place > first, entries[place - 1].mediaTime > start { place -= 1 }
    let lower = max(first, place - 1)
    var merged: [Entry] = []
    var index = lower
    for packet in packets where packet.produced.mediaTime >= entries[lower].mediaTime {
      while index < entries.count, entries[index].mediaTime <= packet.produced.mediaTime {
        merged.append(entries[index])
        index += 1
      }
      guard let before = merged.last else { continue }
      let number = before.sequence + Self.spacing
      let next = index < entries.count ? entries[index].sequence : nextSequence
      guard number + Self.spacing <= next else { continue }
      merged.append(small(packet, numbered: number))
    }
    replace(lower..<index, with: merged)
  }

  private func small(_ packet: SmallBatch.Packet, numbered number: UInt64) -> Entry {
    let produced = packet.produced
    return Entry(
      AudioPacket(
        generation: produced.generation, sequence: number, mediaTime: produced.mediaTime,
        formatID: produced.formatID, startsRun: produced.startsRun,
        endsStream: produced.endsStream, encoded: produced.encoded),
      format: packet.format, end: produced.mediaTime + produced.duration, form: .small)
  }

  /// Removes the small packets from `time` on, which are to be made anew; rooms get the usual ones meanwhile.
  mutating func removeSmall(from time: MediaTime) {
    var place = entries.count
    while place > first, entries[place - 1].mediaTime >= time { place -= 1 }
    var kept = entries[place...].filter { $0.form != .small }
    for index in kept.indices { kept[index].form = .only }
    replace(place..<entries.count, with: kept)
  }

  /// Marks the packet at `index` as one that has small ones beside it.
  mutating func markWhole(_ index: Int) { entries[index].form = .whole }
}
