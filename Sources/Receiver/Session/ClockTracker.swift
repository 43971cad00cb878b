import Clock
import WireProtocol

/// The receiver's view of one sender's clock: sends time requests when they are due, and filters the answers.
struct ClockTracker {
  let clockID: UInt64
  let port: UInt16
  private var filter: ClockFilter
  private var exchange = ProbeExchange()
  private var schedule: ProbeSchedule
  /// For probe jitter: its numbers need only be unlike those of its neighbours.
  private var random: SplitMix64
  private var wasLocked = false
  /// The last round trips, oldest first.
  private var lastRoundTrips: [Nanoseconds] = []
  /// At 20 probes a second, those of the last three seconds.
  private static let roundTripLimit = 64

  enum Change {
    case locked(errorBound: Nanoseconds)
    case stepped
    case lost
  }

  init(
    clockID: UInt64, port: UInt16, storedDrift: Double?, seed: UInt64, at now: LocalTime
  ) {
    self.clockID = clockID
    self.port = port
    filter = ClockFilter(storedDrift: storedDrift)
    schedule = ProbeSchedule(startingAt: now)
    random = SplitMix64(seed: seed)
  }

  var isLocked: Bool { filter.isLocked }
  var drift: Double? { filter.isDriftKnown ? filter.drift : nil }
  var roundTrip: Nanoseconds { filter.medianRoundTrip ?? .zero }

  /// Shortest and usual round trip of the last requests.
  var roundTrips: LiveReceiver.RoundTrip {
    let sorted = lastRoundTrips.sorted()
    guard let shortest = sorted.first else { return .init() }
    return .init(shortest: shortest, usual: sorted[sorted.count * 9 / 10])
  }

  mutating func estimate(at now: LocalTime) -> ClockEstimate? { filter.estimate(at: now) }

  /// Allows the estimate to change smoothly if something sounds by it.
  mutating func smooths(_ isAudible: Bool) { filter.isSmoothed = isAudible }

  mutating func suspended(at now: LocalTime) {
    filter.reset()
    schedule.restart(at: now)
  }

  /// Returns the request that is due, or nil.
  mutating func request(session: UInt64, at now: LocalTime, isIdle: Bool) -> TimeRequest? {
    if isIdle { schedule.rest() } else if schedule.isIdle { schedule.wake(at: now) }
    guard schedule.nextProbe <= now else { return nil }
    schedule.sent(at: now, isWandering: filter.isWandering, random: random.next())
    return exchange.nextRequest(
      clockID: clockID, keyID: TimeRequest.keyID(ofSession: session), at: now)
  }

  mutating func transmitted(sequence: UInt32, at time: LocalTime) {
    exchange.transmitted(sequence: sequence, at: time)
  }

  mutating func answered(_ answer: TimeAnswer, receivedAt: LocalTime) -> Change? {
    guard answer.clockID == clockID else { return nil }
    return exchange.answered(answer, receivedAt: receivedAt).flatMap { insert($0, at: receivedAt) }
  }

  mutating func advance(to now: LocalTime) -> Change? {
    if let sample = exchange.overdueSample(at: now) { return insert(sample, at: now) }
    guard wasLocked, filter.isLost(at: now) else { return nil }
    wasLocked = false
    return .lost
  }

  /// Returns the next deadline. Without a session, `asks` is false: no request is sent, and an overdue one is no reason
  /// to wake.
  func nextDeadline(asks: Bool) -> LocalTime? {
    .earliest([exchange.nextDeadline, asks ? schedule.nextProbe : nil])
  }

  /// Limits of the round trip while the clock is locked: this multiple of the usual one, and at least this time. An
  /// exchange beyond both was delayed by somebody, or says too little to matter. Radios make single round trips several
  /// times as long as most.
  private static let roundTripFactor: Int64 = 10
  private static let leastRoundTripLimit = Nanoseconds.milliseconds(50)

  private func isHeldBack(_ sample: TimeSample) -> Bool {
    guard wasLocked, let usual = filter.medianRoundTrip else { return false }
    return sample.roundTrip
      > max(Self.leastRoundTripLimit, Nanoseconds(usual.count * Self.roundTripFactor))
  }

  private mutating func insert(_ sample: TimeSample, at now: LocalTime) -> Change? {
    guard !isHeldBack(sample) else { return nil }
    if lastRoundTrips.count == Self.roundTripLimit { lastRoundTrips.removeFirst() }
    lastRoundTrips.append(sample.roundTrip)
    if case .step = filter.insert(sample) {
      schedule.restart(at: now)
      return .stepped
    }
    guard !wasLocked, filter.isLocked else { return nil }
    wasLocked = true
    return .locked(errorBound: filter.errorBound(at: now))
  }
}
