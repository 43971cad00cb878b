import Clock
import WireProtocol

/// Has small packets made, for rooms with weak links, of the usual ones in store. The usual packets stay as they are.
struct SmallEncoding {
  /// Bytes per second on the wire: Opus at 96 kbit/s, in packets of 20 ms.
  static let byteRate = 14e3

  /// Small packets are made so far ahead of the rooms.
  private static let reach = MediaDuration.seconds(15)
  /// Music in the first order, which is there soon, and in later ones.
  private static let firstPortion = MediaDuration.milliseconds(500)
  private static let portion = MediaDuration.seconds(2)
  /// Media times of two rates agree within a frame of the slowest.
  private static let tolerance = MediaDuration(frames: 1, at: 8000)

  /// Spans to remember: those of the rooms that were behind.
  private static let spanLimit = 16

  private var attempt: UInt64 = 0
  private var isWaiting = false
  /// The number of the packet at which making began; nil while none is made.
  private var begun: UInt64?
  /// The number of the first packet that was not ordered.
  private var next: UInt64 = 0
  /// The number of the first packet of which it is not known whether there are small ones beside it.
  private var settled: UInt64 = 0
  /// Numbers of packets of which small ones were ordered before `next` went back for a room that is behind the others.
  private var filled: [Range<UInt64>] = []
  /// Media times for which small packets were made without a hole; each grows where its run goes on.
  private var spans: [ClosedRange<MediaTime>] = []
  /// Where the last order ends; nil before the first.
  private var orderedEnd: MediaTime?
  private var cutCount: UInt64 = 0

  /// The number of the first packet whose small ones are still to come; nil if none are made.
  var unsettled: UInt64? { begun == nil ? nil : settled }
  var isActive: Bool { begun != nil }

  /// Returns what to have made next; nil if nothing, or not yet.
  ///
  /// - Parameter needs: the numbers of the packets that the rooms with weak links get next, from the first to the last; nil
  ///   if there is no such room.
  mutating func order(
    from store: inout PacketStore, for needs: ClosedRange<UInt64>?
  ) -> SmallOrder? {
    guard let needs else {
      if isActive { (begun, isWaiting, attempt) = (nil, false, attempt + 1) }
      return nil
    }
    if let begun, store.cutCount == cutCount {
      if needs.lowerBound < begun { goBack(to: needs.lowerBound, from: begun) }
    } else {
      begin(at: begun == nil ? needs.lowerBound : settled, in: &store)
    }
    guard !isWaiting else { return nil }
    skip(to: needs.lowerBound, in: store)
    return portion(of: store, to: needs.upperBound)
  }

  private mutating func begin(at sequence: UInt64, in store: inout PacketStore) {
    cutCount = store.cutCount
    attempt += 1
    isWaiting = false
    (spans, filled, orderedEnd) = ([], [], nil)
    (next, settled) = (sequence, sequence)
    if let place = store.usual(from: sequence) {
      let entry = store.entries[place]
      (next, settled) = (entry.sequence, entry.sequence)
      store.removeSmall(from: entry.mediaTime)
    }
    begun = min(begun ?? sequence, sequence)
  }

  /// Keeps the packets that are there: a room may have a part of them.
  private mutating func goBack(to sequence: UInt64, from begun: UInt64) {
    if next > begun { filled.append(begun..<next) }
    (self.begun, next, settled) = (sequence, sequence, sequence)
  }

  /// The rooms have outrun what is made. A room that comes after them may need what is left out, and so goes back to it.
  private mutating func skip(to sequence: UInt64, in store: PacketStore) {
    settled = max(settled, sequence)
    guard let begun, next < sequence else { return }
    if next > begun { filled.append(begun..<next) }
    let oldest = store.entry(from: 0)?.sequence ?? next
    filled.removeAll { $0.upperBound <= oldest }
    (self.begun, next) = (sequence, sequence)
  }

  private mutating func portion(of store: PacketStore, to last: UInt64) -> SmallOrder? {
    if let made = filled.first(where: { $0.contains(next) }) { next = made.upperBound }
    guard let place = store.usual(from: next) else { return nil }
    let begin = store.entries[place].mediaTime
    let goal = (store.entry(from: last)?.mediaTime ?? store.end ?? begin) + Self.reach
    let end = min(goal, begin + (orderedEnd == nil ? Self.firstPortion : Self.portion))
    var pieces: [SmallOrder.Piece] = []
    var endsRun = false
    for entry in store.entries[place...] where entry.form != .small {
      endsRun = filled.contains { $0.contains(entry.sequence) }
      guard !endsRun, entry.mediaTime < end, !entry.isLive else { break }
      pieces.append(.init(bytes: entry.bytes, format: entry.format, end: entry.end))
      next = entry.sequence + 1
    }
    guard let last = pieces.last else { return nil }
    if orderedEnd != begin { pieces = preparing(store, place) + pieces }
    orderedEnd = last.end
    isWaiting = true
    return SmallOrder(attempt: attempt, start: begin, pieces: pieces, endsRun: endsRun)
  }

  /// Returns the packets before the first one, for the beginning of an encoder.
  private func preparing(_ store: PacketStore, _ place: Int) -> [SmallOrder.Piece] {
    let first = store.entries[place]
    var found: [SmallOrder.Piece] = []
    for entry in store.entries[store.first..<place].reversed() where entry.form != .small {
      guard entry.generation == first.generation, entry.formatID == first.formatID,
        entry.end > first.mediaTime - SmallEncoder.leadIn
      else { break }
      found.append(.init(bytes: entry.bytes, format: entry.format, end: entry.end))
    }
    return found.reversed()
  }

  /// Takes what was made.
  mutating func take(_ batch: SmallBatch, into store: inout PacketStore) {
    guard isActive, batch.attempt == attempt, store.cutCount == cutCount else { return }
    isWaiting = false
    var rest = batch.packets[...]
    while let first = rest.first {
      // Packets for a room that is behind come after the end of those before.
      var (count, time) = (0, first.produced.mediaTime)
      for packet in rest {
        guard packet.produced.mediaTime >= time else { break }
        (count, time) = (count + 1, packet.produced.mediaTime)
      }
      store.insert(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    for packet in batch.packets { cover(packet.produced) }
    settle(in: &store, isUnderWay: batch.isUnderWay)
  }

  private mutating func cover(_ packet: ProducedPacket) {
    let end = packet.mediaTime + packet.duration
    let place = spans.lastIndex {
      $0.upperBound <= packet.mediaTime + Self.tolerance
        && packet.mediaTime <= $0.upperBound + Self.tolerance
    }
    if let place {
      spans[place] = spans[place].lowerBound...max(spans[place].upperBound, end)
    } else {
      spans.append(packet.mediaTime...end)
    }
  }

  private mutating func settle(in store: inout PacketStore, isUnderWay: Bool) {
    guard let place = store.usual(from: settled) else { return }
    for index in store.entries[place...].indices where store.entries[index].form != .small {
      let entry = store.entries[index]
      guard entry.sequence < next else { break }
      let isCovered = spans.contains {
        $0.lowerBound <= entry.mediaTime + Self.tolerance
          && $0.upperBound + Self.tolerance >= entry.end
      }
      if isCovered || entry.form == .whole {
        store.markWhole(index)
      } else if isUnderWay, entry.end > (spans.last?.upperBound ?? entry.mediaTime) {
        break
      }
      settled = entry.sequence + 1
    }
    spans = spans.suffix(Self.spanLimit)
  }
}

extension PacketStore {
  /// Returns the index of the oldest packet of the usual encoding numbered `sequence` or higher; nil if there is none.
  func usual(from sequence: UInt64) -> Int? {
    index(from: sequence).flatMap { place in entries[place...].firstIndex { $0.form != .small } }
  }
}
