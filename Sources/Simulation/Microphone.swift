package import Clock
import WireProtocol

/// An ideal observer in true time: it hears which stream position leaves which card at which time, and compares it with
/// what the sender told the rooms on the wire. It knows nothing else of the programs under test.
package final class Microphone {
  /// A discontinuity of playback.
  package struct Break: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
      /// Stream frames were left out.
      case hole
      /// Stream frames were heard twice.
      case repetition
    }
    package var kind: Kind
    package var room: Int
    package var at: TrueTime
    /// The stream frame heard before the break and the one after it, and the silent device frames between them.
    package var from: Double
    package var to: Double
    package var silence: Int64

    package var description: String {
      "\(kind.rawValue) in room \(room) at \(at.seconds) s: \(from) then \(to) after \(silence) silent"
    }
  }

  /// A frame that a flush had forbidden.
  package struct Ghost: Hashable, Sendable {
    package var room: Int
    package var at: TrueTime
    package var position: Double
    package var generation: Int
  }

  /// The sound of one room.
  package struct Record {
    /// At each multiple of `interval`: how early the room was, in microseconds; NaN in silence and in fades.
    package var errors: [Float] = []
    package var firstSound: TrueTime?
    package var lastSound: TrueTime?
    package var soundFrames = 0
    package var items = ItemTrace()
    fileprivate var rates = RateTrace()
    fileprivate var last: Heard?
    /// Retained, so that no later card can be mistaken for it.
    fileprivate var lastCard: SimulatedSoundCard?
    /// Stops that reached the room too late to be obeyed on time.
    fileprivate var lateStops: [LateStop] = []
  }

  fileprivate struct LateStop {
    var position: Double
    /// Number of stream frames that the room had to play beyond the stop.
    var overrun: Double
  }

  private struct Cut {
    var generation: Int
    /// The stream frame that each room was told.
    var from: [Double]
    /// Time from which on each room must obey the cut: a commit horizon after it has arrived there.
    var effects: [TrueTime?]
  }

  fileprivate struct Heard {
    var frame: Int64
    var position: Double
    var isFull: Bool
  }

  /// Interval of measurements.
  package let interval: Nanoseconds
  package private(set) var records: [Record]
  package private(set) var breaks: [Break] = []
  package private(set) var ghosts: [Ghost] = []
  private static let fadedFrames: Int64 = 12
  /// Largest number of breaks, and of ghosts, that are recorded; more would add nothing.
  private let limit = 1000
  private var anchors: [Anchor] = []
  private var anchorTerm: Term = 0
  private var cuts: [Cut] = []
  private let groupTime: (TrueTime) -> GroupTime

  init(roomCount: Int, interval: Nanoseconds, groupTime: @escaping (TrueTime) -> GroupTime) {
    records = Array(repeating: Record(), count: roomCount)
    self.interval = interval
    self.groupTime = groupTime
  }

  // MARK: - The sender's messages

  func told(_ anchor: Anchor, by term: Term) {
    // Who leads in a newer term tells all that holds, and may not have heard what was told before.
    if term > anchorTerm { (anchors, anchorTerm) = ([], term) }
    guard !anchors.contains(anchor) else { return }
    anchors.removeAll { $0.groupTime >= anchor.groupTime }
    anchors.append(anchor)
    if anchors.count > 64 { anchors.removeFirst() }
  }

  func toldOfCut(from time: MediaTime, generation: UInt32, to room: Int) {
    if let index = cuts.firstIndex(where: { $0.generation == Int(generation) }) {
      cuts[index].from[room] = Self.frames(time)
      return
    }
    cuts.append(
      Cut(
        generation: Int(generation),
        from: Array(repeating: Self.frames(time), count: records.count),
        effects: Array(repeating: nil, count: records.count)))
    if cuts.count > 60 { cuts.removeFirst() }
  }

  func flushReached(_ room: Int, generation: UInt32, effect: TrueTime) {
    guard let index = cuts.firstIndex(where: { $0.generation == Int(generation) }) else { return }
    if cuts[index].effects[room] == nil { cuts[index].effects[room] = effect }
  }

  /// Notes an anchor. `effect` is the earliest time at which the room can obey it.
  func anchorReached(_ room: Int, _ anchor: Anchor, effect: TrueTime) {
    let lateness = (groupTime(effect) - anchor.groupTime).seconds
    guard anchor.rate == .paused, lateness > 0 else { return }
    records[room].lateStops.append(
      LateStop(
        position: Self.frames(anchor.mediaTime),
        overrun: lateness * Double(TestSignal.sampleRate)))
    if records[room].lateStops.count > 8 { records[room].lateStops.removeFirst() }
  }

  /// Forgets the schedule, because another sender brings its own.
  func forgetSchedule() {
    anchors.removeAll()
    cuts.removeAll()
    for room in records.indices { records[room].last = nil }
  }

  private static func frames(_ time: MediaTime) -> Double {
    Double(time.flicks) / Double(MediaDuration(frames: 1, at: TestSignal.sampleRate).flicks)
  }

  /// True if the sender has said so.
  func isToPlay(at time: TrueTime) -> Bool { scheduled(at: time) != nil }

  private func scheduled(at time: TrueTime) -> Double? {
    let group = groupTime(time)
    guard let anchor = anchors.last(where: { $0.groupTime <= group }), anchor.rate == .playing
    else { return nil }
    return Self.frames(anchor.mediaTime(at: group))
  }

  // MARK: - The rooms' sound

  func heard(
    _ frames: Range<Int64>, of content: CardContent, by card: SimulatedSoundCard, in room: Int
  ) {
    let isNewCard = records[room].lastCard !== card
    records[room].lastCard = card
    if isNewCard { records[room].last?.frame = frames.lowerBound - 1 }
    guard !frames.isEmpty else { return }
    if content.isExact {
      for frame in frames {
        if let reading = content.reading(at: frame) { follow(reading, at: frame, card, room) }
      }
    } else {
      followRuns(frames, of: content, card, room)
    }
    measure(upTo: frames.upperBound, content, card, room)
  }

  private func followRuns(
    _ frames: Range<Int64>, of content: CardContent, _ card: SimulatedSoundCard, _ room: Int
  ) {
    for run in content.runs where run.first + run.count > frames.lowerBound {
      guard run.first < frames.upperBound else { break }
      let first = max(run.first, frames.lowerBound)
      let last = min(run.first + run.count, frames.upperBound) - 1
      guard run.isWhole, let reading = content.reading(at: first) else { continue }
      follow(reading, at: first, card, room)
      guard let end = content.reading(at: last) else { continue }
      records[room].last = Heard(frame: last, position: end.position, isFull: end.gain > 0.98)
    }
  }

  private func follow(
    _ reading: TestSignal.Reading, at frame: Int64, _ card: SimulatedSoundCard, _ room: Int
  ) {
    if records[room].firstSound == nil { records[room].firstSound = card.time(of: frame) }
    records[room].soundFrames += 1
    if let item = reading.item {
      records[room].items.hear(
        .init(
          frame: frame, position: reading.position, gain: reading.gain, item: item.item,
          origin: item.origin))
    }
    let heard = Heard(frame: frame, position: reading.position, isFull: reading.gain > 0.98)
    if let last = records[room].last, frame > last.frame {
      checkContinuity(from: last, to: heard, card, room)
    }
    records[room].last = heard
    checkGeneration(reading, at: frame, card, room)
  }

  private func checkContinuity(
    from last: Heard, to heard: Heard, _ card: SimulatedSoundCard, _ room: Int
  ) {
    let span = heard.frame - last.frame
    let moved = heard.position - last.position
    // Playback is at most 1 % fast. At the beginning and end of the stream, the resampler's ringing blurs the position.
    let blur = last.isFull && heard.isFull ? 0.05 : 0.7
    let wentOn = (moved - Double(span)).magnitude < blur + 0.011 * Double(span)
    // A fade below 1 % of full level cannot be read, so a silence may hide a few frames. Frames that fall into a longer
    // silence are left out, even if the room is on time after it.
    let isFaded = span > 1 && !last.isFull && !heard.isFull
    let mayHide = (moved - 1).magnitude < Double(Self.fadedFrames)
    let isWhole = span > Self.fadedFrames ? mayHide : wentOn || isFaded && mayHide
    guard !isWhole, breaks.count < limit, !goesBack(to: heard, after: last, room) else { return }
    breaks.append(
      Break(
        kind: moved > 1 ? .hole : .repetition, room: room, at: card.time(of: heard.frame),
        from: last.position, to: heard.position, silence: span - 1))
  }

  /// True if the room was told too late where to stop and resumes there: it then repeats what it had played beyond.
  private func goesBack(to heard: Heard, after last: Heard, _ room: Int) -> Bool {
    let blur = Double(Self.fadedFrames)
    return records[room].lateStops.contains { stop in
      (heard.position - stop.position).magnitude < blur
        && last.position < stop.position + stop.overrun + blur
    }
  }

  private func checkGeneration(
    _ reading: TestSignal.Reading, at frame: Int64, _ card: SimulatedSoundCard, _ room: Int
  ) {
    let rounded = reading.generation.rounded()
    guard let newest = cuts.last?.generation, (reading.generation - rounded).magnitude < 0.1
    else { return }
    // The signal tells generations modulo 64.
    let generation = newest - ((newest - Int(rounded)) % 64 + 64) % 64
    // A fade goes down to the cut, and a resampler's frames reach over it a little.
    let cut = cuts.first { $0.generation > generation && reading.position >= $0.from[room] + 1 }
    guard let effect = cut?.effects[room], ghosts.count < limit else { return }
    let time = card.time(of: frame)
    guard time > effect else { return }
    ghosts.append(
      Ghost(room: room, at: time, position: reading.position, generation: generation))
  }

  private func measure(
    upTo end: Int64, _ content: CardContent, _ card: SimulatedSoundCard, _ room: Int
  ) {
    while true {
      let index = records[room].errors.count
      let time = TrueTime(nanoseconds: Int64(index) * interval.count)
      let position = card.position(at: time)
      guard position < Double(end) else { return }
      let frame = Int64(position)
      let reading = frame >= 0 ? content.reading(at: frame) : nil
      let sound = reading.flatMap { $0.gain > 0.98 ? $0.position : nil }
      if index % looksApart == 0 {
        records[room].rates.look(sound.map { (frame: frame, position: $0) })
      }
      guard let sound else {
        records[room].errors.append(.nan)
        continue
      }
      records[room].lastSound = time
      records[room].errors.append(error(at: time, heard: sound + (position - Double(frame))))
    }
  }

  /// Number of measurements between two looks at the rate.
  private var looksApart: Int { max(1, Int((RateTrace.interval / interval.seconds).rounded())) }

  private func error(at time: TrueTime, heard: Double) -> Float {
    guard let scheduled = scheduled(at: time) else { return .nan }
    return Float((heard - scheduled) / Double(TestSignal.sampleRate) * 1e6)
  }
}

/// Statistics of the magnitudes of many measurements.
package struct Figures: Hashable, Sendable, CustomStringConvertible {
  package var count: Int
  /// All values are in microseconds.
  package var median: Float
  package var p99: Float
  package var maximum: Float

  package init(_ values: [Float]) {
    let sorted = values.map(\.magnitude).sorted()
    count = sorted.count
    median = sorted.isEmpty ? .nan : sorted[count / 2]
    p99 = sorted.isEmpty ? .nan : sorted[min(count - 1, count * 99 / 100)]
    maximum = sorted.last ?? .nan
  }

  package var description: String {
    func tenths(_ value: Float) -> String { "\((value * 10).rounded() / 10)" }
    return "p50 \(tenths(median)) p99 \(tenths(p99)) max \(tenths(maximum)) µs (\(count))"
  }
}

extension Microphone {
  /// Returns the spread of the rooms that sounded, from one true second to another.
  package func spread(from start: Double, to end: Double, rooms: [Int]? = nil) -> Figures {
    Figures(spreads(from: start, to: end, rooms: rooms).compactMap { $0 })
  }

  /// Returns the spread of each measurement; nil if fewer than two rooms sounded.
  package func spreads(from start: Double, to end: Double, rooms: [Int]? = nil) -> [Float?] {
    let rooms = rooms ?? Array(records.indices)
    return indices(start, end).map { index in
      let errors = rooms.compactMap { error(of: $0, at: index) }
      guard errors.count > 1, let low = errors.min(), let high = errors.max() else { return nil }
      return high - low
    }
  }

  /// Returns the change of the rate of playback from each tenth of a second to the next, in 1e-9 per second, as a mean
  /// over the rooms that sounded. Meaningful only if positions are not read from samples.
  package func rateChange(from start: Double, to end: Double) -> Float {
    let changes = records.map { $0.rates.change(from: start, to: end) }.filter { !$0.isNaN }
    return changes.isEmpty ? .nan : changes.reduce(0, +) / Float(changes.count)
  }

  /// Returns a room's distance from the schedule.
  package func syncError(of room: Int, from start: Double, to end: Double) -> Figures {
    Figures(errors(of: room, from: start, to: end))
  }

  /// Returns a room's errors in microseconds; positive is early.
  package func errors(of room: Int, from start: Double, to end: Double) -> [Float] {
    indices(start, end).compactMap { error(of: room, at: $0) }
  }

  /// Returns the share of the time in which a room sounded at full level.
  package func soundingShare(of room: Int, from start: Double, to end: Double) -> Double {
    let all = indices(start, end)
    return all.isEmpty
      ? 0 : Double(all.filter { error(of: room, at: $0) != nil }.count) / Double(all.count)
  }

  private func indices(_ start: Double, _ end: Double) -> Range<Int> {
    let low = Int((max(0, start) / interval.seconds).rounded(.up))
    return low..<max(low, Int(end / interval.seconds))
  }

  private func error(of room: Int, at index: Int) -> Float? {
    let errors = records[room].errors
    guard index < errors.count, !errors[index].isNaN else { return nil }
    return errors[index]
  }
}
