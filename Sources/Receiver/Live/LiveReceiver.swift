import Audio
import Clock
import WireProtocol

/// Receives the datagrams of a live stream for `ReceiverSession`: decrypts them, puts the packets in order, asks for
/// lost ones, and hands over each packet or conceals it.
struct LiveReceiver {
  enum Step: Equatable {
    /// The next packet in the order of the stream. Each datagram defines the format identifiers that it uses; those of
    /// a connection do not apply.
    case packet(AudioPacket, StreamFormat)
    /// A packet is missing at this media time, and it is due now.
    case conceal(from: MediaTime, for: MediaDuration)
    /// This many more packets are missing, beyond the longest concealment.
    case skip(UInt32)
    case ask([UInt64])
    case report(LiveReport)
    /// The packets that follow have numbers that were passed before.
    case goBack
  }

  /// Round-trip times: the shortest, and the 90th percentile.
  struct RoundTrip {
    var shortest = Nanoseconds.zero
    var usual = Nanoseconds.zero
  }

  /// A missing packet of which a later one has arrived.
  private struct Missing {
    let number: UInt64
    var nextAsk: LocalTime
    var asks = 0
  }

  /// `LatencyChoice` counts its spans in reports.
  static let reportInterval = Nanoseconds.milliseconds(500)
  /// If nothing arrives, the sender may have stopped because it missed too many asks. The receiver then asks each time
  /// another `silence` has passed, until `callingTime` after the last packet. The sender may also have nothing to send.
  private static let silence = Nanoseconds.milliseconds(50)
  private static let callingTime = Nanoseconds.seconds(2)
  /// Longest concealment of one gap; after it, missing packets are silent.
  static let longestConcealment = MediaDuration.milliseconds(40)
  /// Wait before the first ask, at least: a packet may only have been overtaken.
  private static let leastWait = Nanoseconds.milliseconds(4)
  /// Number of packets by which networks commonly change the order.
  private static let disorder: UInt64 = 2
  /// Interval between two asks for one packet, also where the usual round trip is shorter.
  private static let leastInterval = Nanoseconds.milliseconds(10)
  /// Largest distance of a packet from its time, besides the latency, because rooms may be delayed by as much.
  private static let misfit = Nanoseconds.seconds(2)
  /// A packet that is sent again must arrive this long before it is due.
  private static let margin = Nanoseconds.milliseconds(3)

  private(set) var stream: LiveStream
  /// Number of datagrams that were duplicates or not of this stream.
  private(set) var refused = 0
  private(set) var concealed: UInt32 = 0
  private let clockID: UInt64
  private let cipher: any DatagramCipher
  private var window = ReplayWindow()
  private var leap = LiveLeap()
  /// Formats by identifier; at most 256.
  private var formats: [UInt16: StreamFormat] = [:]
  /// The packet that follows the last one handed over. Nil before the first, and after a long time without packets.
  private var awaited: (number: UInt64, start: MediaTime, length: MediaDuration)?
  private var generation: UInt32 = 0
  /// Newest generation of all accepted packets.
  private var newestGeneration: UInt32 = 0
  /// Generation and end of the packet that was handed over last.
  private var end: (generation: UInt32, time: MediaTime)?
  /// Packets with lower numbers are no longer of use.
  private var least: UInt64 = 0
  /// Packets that wait for an earlier one, by number; at most `LiveAsk.span`.
  private var held: [AudioPacket] = []
  private var missing: [Missing] = []
  private var gap = MediaDuration.zero
  private var figures = LiveReport(leastMargin: notMeasured)
  private var nextReport: LocalTime
  /// Time of the next ask that is due even if no packet is known to be missing.
  private var nextAsk: LocalTime
  private var lastArrival: LocalTime
  private(set) var nextDeadline: LocalTime?
  private var steps: [Step] = []

  private static let notMeasured = Nanoseconds(ProtocolLimits.difference.upperBound)

  init(_ stream: LiveStream, clockID: UInt64, cipher: any DatagramCipher, at now: LocalTime) {
    self.stream = stream
    self.clockID = clockID
    self.cipher = cipher
    nextReport = now + Self.reportInterval
    (nextAsk, lastArrival) = (now, now)
    nextDeadline = now
  }

  /// Takes over the sender's new description of the stream: another latency, or another session.
  mutating func renew(_ stream: LiveStream, at now: LocalTime) {
    self.stream = stream
    (nextAsk, lastArrival, nextDeadline) = (now, now, now)
  }

  mutating func takeSteps() -> [Step] {
    defer { steps.removeAll() }
    return steps
  }

  // MARK: - Arrivals

  /// Takes a datagram. `generation` is that of the newest flush. `due` returns when a media time is needed, or nil if
  /// that is not known.
  mutating func received(
    _ bytes: [UInt8], at time: LocalTime, generation: UInt32, due: (MediaTime) -> LocalTime?
  ) {
    newestGeneration = max(newestGeneration, generation)
    guard let arrival = open(bytes), arrival.packets.allSatisfy({ fits($0, at: time, due) }) else {
      refused += 1
      return
    }
    lastArrival = time
    let place = window.place(of: arrival.number)
    guard isFar(arrival.number, place) || arrival.generation > newestGeneration else {
      return take(arrival, at: time, due)
    }
    // A datagram behind the window may be a replayed recording, unless it fits the time.
    guard place != .behind || due(arrival.packets[0].mediaTime) != nil,
      let row = leap.add(arrival)
    else { return }
    if isFar(arrival.number, place) { beginAnew(goingBack: place == .behind) }
    for arrival in row { take(arrival, at: time, due) }
  }

  private func open(_ bytes: [UInt8]) -> LiveArrival? {
    guard let datagram = try? LiveDatagram(decoding: bytes), datagram.clockID == clockID,
      window.place(of: datagram.number) != .seen
    else { return nil }
    return datagram.messages(key: stream.key, with: cipher)
      .flatMap { LiveArrival($0, number: datagram.number) }
  }

  private func fits(
    _ packet: AudioPacket, at time: LocalTime, _ due: (MediaTime) -> LocalTime?
  ) -> Bool {
    guard let needed = due(packet.mediaTime) else { return true }
    return needed > time - Self.misfit && needed < time + stream.latency + Self.misfit
  }

  private func isFar(_ number: UInt64, _ place: ReplayWindow.Place) -> Bool {
    if place != .fresh { return true }
    return awaited.map { number >= $0.number + UInt64(LiveAsk.span) } ?? false
  }

  private mutating func beginAnew(goingBack: Bool) {
    awaited = nil
    least = 0
    held.removeAll()
    missing.removeAll()
    guard goingBack else { return }
    window = ReplayWindow()
    end = nil
    steps.append(.goBack)
  }

  private mutating func take(
    _ arrival: LiveArrival, at time: LocalTime, _ due: (MediaTime) -> LocalTime?
  ) {
    window.note(arrival.number)
    newestGeneration = max(newestGeneration, arrival.generation)
    for (id, format) in arrival.formats { formats[id] = format }
    for packet in arrival.packets { insert(packet, at: time, due: due) }
  }

  private mutating func insert(
    _ packet: AudioPacket, at time: LocalTime, due: (MediaTime) -> LocalTime?
  ) {
    guard let format = formats[packet.formatID],
      !held.contains(where: { $0.sequence == packet.sequence })
    else { return }
    if let needed = due(packet.mediaTime), awaited != nil {
      figures.leastMargin = min(figures.leastMargin, needed - time)
    }
    guard packet.sequence >= least else { return }
    figures.received &+= 1
    if missing.contains(where: { $0.number == packet.sequence && $0.asks > 0 }) {
      figures.recovered &+= 1
    }
    if awaited == nil { takeUp(before: packet, format, at: time, due) }
    guard let expected = awaited, packet.sequence - expected.number < UInt64(LiveAsk.span) else {
      held.removeAll()
      return goOn(with: packet, format)
    }
    noteMissing(before: packet.sequence, from: expected.number, expected.length, at: time)
    held.insert(packet, at: held.firstIndex { $0.sequence > packet.sequence } ?? held.count)
    missing.removeAll { $0.number == packet.sequence }
    giveInOrder()
  }

  /// Resumes after a gap whose missing packets were all given up. Packets lost before this one that are not due yet may
  /// still arrive.
  private mutating func takeUp(
    before packet: AudioPacket, _ format: StreamFormat, at time: LocalTime,
    _ due: (MediaTime) -> LocalTime?
  ) {
    let lost = packet.sequence - least
    // A longer gap means that packets were not lost but never sent, as in a pause.
    guard least > 0, lost < UInt64(LiveAsk.span), packet.generation == generation else { return }
    let length = format.audio.duration(ofFrames: packet.encoded.frameCount)
    var number = packet.sequence
    while number > least,
      let needed = due(packet.mediaTime - length.times(packet.sequence - number + 1)),
      needed > time
    { number -= 1 }
    skip(number - least)
    expect(number, from: packet.mediaTime - length.times(packet.sequence - number), length)
  }

  /// Notes the packets that a later one shows to be missing. Networks seldom change the order by more than two packets:
  /// the receiver asks for those farther behind at once, because every ms counts after a burst of losses.
  private mutating func noteMissing(
    before number: UInt64, from expected: UInt64, _ length: MediaDuration, at time: LocalTime
  ) {
    let span = Nanoseconds(Int64(Self.disorder) * Nanoseconds(length).count)
    let wait = max(Self.leastWait, span)
    let first = max(expected, (held.last?.sequence).map { $0 + 1 } ?? expected)
    guard first < number else { return }
    for lost in first..<number {
      let isDisordered = number - lost <= Self.disorder
      missing.append(Missing(number: lost, nextAsk: isDisordered ? time + wait : time))
    }
  }

  private mutating func goOn(with packet: AudioPacket, _ format: StreamFormat) {
    missing.removeAll()
    held = [packet]
    let length = format.audio.duration(ofFrames: packet.encoded.frameCount)
    awaited = (packet.sequence, packet.mediaTime, length)
    giveInOrder()
  }

  private mutating func giveInOrder() {
    while let first = held.first, var next = awaited, first.sequence == next.number {
      held.removeFirst()
      // Every accepted packet has a format.
      guard let format = formats[first.formatID] else { continue }
      next.length = format.audio.duration(ofFrames: first.encoded.frameCount)
      generation = first.generation
      gap = .zero
      give(first, format, until: first.mediaTime + next.length)
      expect(next.number + 1, from: first.mediaTime + next.length, next.length)
      // The next packet starts a new stream.
      if first.endsStream { awaited = nil }
    }
  }

  /// Hands over a packet, except one that overlaps the previous packet: the sender never sends such a packet.
  private mutating func give(_ packet: AudioPacket, _ format: StreamFormat, until time: MediaTime) {
    let rounding = format.audio.duration(ofFrames: 1)
    if let end, end.generation == packet.generation, packet.mediaTime + rounding < end.time {
      refused += 1
      return
    }
    end = (packet.generation, time)
    steps.append(.packet(packet, format))
  }

  private mutating func expect(_ number: UInt64, from start: MediaTime, _ length: MediaDuration) {
    awaited = (number, start, length)
    least = number
    missing.removeAll { $0.number < number }
  }

  // MARK: - Time

  mutating func advance(
    to now: LocalTime, roundTrip: RoundTrip, due: (MediaTime) -> LocalTime?
  ) {
    while let next = awaited, next.length > .zero, let time = due(next.start), time <= now {
      giveUp(next)
    }
    askForMissing(at: now, roundTrip, due)
    if nextReport <= now {
      nextReport = now + Self.reportInterval
      if figures.received > 0 || figures.concealed > 0 { steps.append(.report(figures)) }
      figures = LiveReport(leastMargin: Self.notMeasured)
    }
    nextDeadline = ([nextReport, nextCall] + missing.map(\.nextAsk) + [dueTime(due)])
      .compactMap { $0 }.min()
  }

  private var nextCall: LocalTime {
    let early = max(lastArrival, nextAsk - Self.reportInterval) + Self.silence
    return early < lastArrival + Self.callingTime ? min(early, nextAsk) : nextAsk
  }

  private func dueTime(_ due: (MediaTime) -> LocalTime?) -> LocalTime? {
    awaited.flatMap { $0.length > .zero ? due($0.start) : nil }
  }

  /// Conceals or skips the awaited packet, which is due and has not arrived.
  private mutating func giveUp(_ next: (number: UInt64, start: MediaTime, length: MediaDuration)) {
    if let first = held.first, first.generation != generation {
      skip(first.sequence - next.number)
      expect(first.sequence, from: first.mediaTime, next.length)
      return giveInOrder()
    }
    if gap < Self.longestConcealment {
      count(concealed: 1)
      gap = gap + next.length
      steps.append(.conceal(from: next.start, for: next.length))
    } else if held.isEmpty {
      // Nothing arrives any more; the next packet starts anew.
      awaited = nil
      return
    } else {
      // The next packet may still arrive.
      skip(1)
    }
    expect(next.number + 1, from: next.start + next.length, next.length)
    giveInOrder()
  }

  private mutating func skip(_ missing: UInt64) {
    guard missing > 0 else { return }
    count(concealed: missing)
    steps.append(.skip(UInt32(clamping: missing)))
  }

  private mutating func count(concealed count: UInt64) {
    figures.concealed &+= UInt32(clamping: count)
    concealed &+= UInt32(clamping: count)
  }

  /// Asks for missing packets. Asks can be lost too, so the receiver repeats them while there is time; the sender
  /// limits its answers.
  private mutating func askForMissing(
    at now: LocalTime, _ roundTrip: RoundTrip, _ due: (MediaTime) -> LocalTime?
  ) {
    var numbers: [UInt64] = []
    for index in missing.indices where missing[index].nextAsk <= now {
      guard let next = awaited else { break }
      let start = next.start + next.length.times(missing[index].number - next.number)
      let needed = due(start)
      if let needed, now + roundTrip.shortest + Self.margin > needed {
        missing[index].nextAsk = LocalTime(nanoseconds: .max)
        continue
      }
      missing[index].nextAsk = now + max(Self.leastInterval, roundTrip.usual)
      // Before the time is known, or while it stands still, one ask is enough: a full link must not be filled more.
      if needed == nil, missing[index].asks > 0 { continue }
      missing[index].asks += 1
      numbers.append(missing[index].number)
    }
    guard !numbers.isEmpty || nextCall <= now else { return }
    nextAsk = now + Self.reportInterval
    steps.append(.ask(numbers))
  }
}

extension MediaDuration {
  fileprivate func times(_ count: UInt64) -> MediaDuration {
    MediaDuration(flicks: flicks * Int64(min(count, UInt64(LiveAsk.span))))
  }
}
