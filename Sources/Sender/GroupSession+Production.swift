import Audio
import Clock
import WireProtocol

/// Keeps the producer at work: one order at a time, as much ahead as the rooms can hold.
extension GroupSession {
  /// Before any room has said what it holds.
  private static let capacityUnknown = 4 << 20
  /// Bytes stored for the rooms at most, whatever they say: four times a receiver's default capacity.
  private static let largestStore = 128 << 20

  mutating func order(_ order: ProductionOrder) {
    production.ordered()
    emit(.produce(order))
  }

  mutating func produceMore(at now: LocalTime) {
    production.nextDeadline = nil
    guard production.isIdle else { return }
    let generation = timeline.generation
    switch production.stage {
    case .notBegun:
      guard let item = queue.current else { return finishProduction() }
      order(
        .begin(
          .init(
            item: item, position: .zero, mediaTime: .zero, generation: generation,
            continues: false)))
    case .item:
      guard hasRoom(at: now) else {
        // The playhead makes room, whether or not anything else happens.
        production.nextDeadline = now + .milliseconds(100)
        return
      }
      order(.more(production.nextPortion(), generation: generation))
    case .itemEnded(let time):
      guard let next = queue.advance() else { return finishProduction() }
      order(
        .begin(
          .init(
            item: next, position: .zero, mediaTime: time, generation: generation,
            continues: true)))
    case .finishing, .finished:
      break
    }
  }

  private mutating func finishProduction() {
    production.stage = .finishing
    order(.finish(generation: timeline.generation))
  }

  private func hasRoom(at now: LocalTime) -> Bool {
    let capacities = links.compactMap(\.live?.welcome.capacity)
    let bytes = capacities.map(\.bytes).max().map { min(Int(clamping: $0), Self.largestStore) }
    let span = capacities.map(\.duration).max() ?? .seconds(60)
    let playhead = timeline.playhead(at: GroupTime(ofSender: now))
    return store.byteCount < bytes ?? Self.capacityUnknown
      && (store.end ?? playhead) - playhead < span
  }

  mutating func produced(_ batch: ProducedBatch, at now: LocalTime) {
    guard batch.generation == timeline.generation else { return }
    production.answered()
    for step in batch.steps {
      switch step {
      case .opened(let opened, let time):
        timeline.append(opened, at: time)
        production.stage = .item
      case .metadata(let described, let time): timeline.append(described, at: time)
      case .format(let id, let format): production.format = (id, format)
      case .packet(let packet): append(packet, generation: batch.generation)
      case .itemEnded(let time): production.stage = .itemEnded(at: time)
      case .failed(let item, let error, let time):
        emit(.event(.itemFailed(item, error)))
        production.stage = .itemEnded(at: time)
      case .finished(let time):
        production.stage = .finished
        timeline.end = time
        if !production.hasPackets { finish(at: now) }
      }
    }
    if production.hasPackets { meetCut(at: now) }
  }

  private mutating func append(_ produced: ProducedPacket, generation: UInt32) {
    guard let format = production.format, format.id == produced.formatID else { return }
    production.hasPackets = true
    store.append(
      AudioPacket(
        generation: generation, sequence: store.nextSequence, mediaTime: produced.mediaTime,
        formatID: produced.formatID, startsRun: produced.startsRun,
        endsStream: produced.endsStream, encoded: produced.encoded),
      format: format.meaning, duration: produced.duration)
  }
}

/// Where production stands.
struct Production {
  enum Stage {
    case notBegun
    case item
    case itemEnded(at: MediaTime)
    case finishing
    case finished
  }

  var stage = Stage.notBegun
  /// Whether anything of this generation is there to be sent.
  var hasPackets = false
  var nextDeadline: LocalTime?
  /// What the packets that come now are.
  var format: (id: UInt16, meaning: StreamFormat)?
  private var openOrders = 0
  private var portion = Self.firstPortion
  private var cut: MediaTime?

  /// Small at first, so that sound begins soon; then larger, so that a long file is there soon.
  private static let firstPortion = MediaDuration.milliseconds(100)
  private static let largestPortion = MediaDuration.seconds(5)

  var isIdle: Bool { openOrders == 0 }

  mutating func ordered() { openOrders += 1 }
  mutating func answered() { openOrders = max(0, openOrders - 1) }

  mutating func nextPortion() -> MediaDuration {
    defer { portion = min(MediaDuration(flicks: portion.flicks * 2), Self.largestPortion) }
    return portion
  }

  /// What is under way is obsolete; the new generation must sound from `time` on.
  mutating func restart(generation: UInt32, mustSoundFrom time: MediaTime) {
    self = Production()
    stage = .item
    cut = time
  }

  var awaitsCut: Bool { cut != nil }

  /// The cut that waits for its first packets, once.
  mutating func takeCut() -> MediaTime? {
    defer { cut = nil }
    return cut
  }
}
