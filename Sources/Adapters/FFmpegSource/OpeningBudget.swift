/// How much a source may ask for until it plays, over all that it opens on the way.
package struct OpeningLimits: Hashable, Sendable {
  /// A list with twenty qualities and ten sounds asks three times for each: for its list, its first part and a segment.
  package static let requestLimit = 256
  /// Pictures in tags take some 16 MiB, the index of the longest films about as much.
  package static let byteLimit: Int64 = 64 << 20
  /// A server may be silent for 10 s, and be asked three times.
  package static let longestOpening = Duration.seconds(60)

  package var requests: Int
  package var bytes: Int64
  package var time: Duration

  package init(
    requests: Int = Self.requestLimit, bytes: Int64 = Self.byteLimit,
    time: Duration = Self.longestOpening
  ) {
    (self.requests, self.bytes, self.time) = (requests, bytes, time)
  }
}

/// Counts what the opening of one source asks for, and afterwards how often it asks for more.
struct OpeningBudget {
  /// Requests a second of a source that plays. A live list asks for itself, a key, a first part and a segment, which
  /// seldom lasts less than a second.
  static let requestRate = 10
  /// Requests that may come at once, after a seek in a list.
  static let requestBurst = 40

  private let limits: OpeningLimits
  private let deadline: ContinuousClock.Instant
  private var isOpening = true
  private var requestCount = 0
  private var byteCount: Int64 = 0
  private var allowance = Double(Self.requestBurst)
  private var refilled = ContinuousClock.now
  /// Bytes and time for a file that must be loaded whole before it opens.
  private var isWhole = false
  /// Why the opening is over; nil as long as it is within its limits.
  private(set) var excess: String?

  init(_ limits: OpeningLimits) {
    self.limits = limits
    deadline = .now + limits.time
  }

  /// Nil while it may be asked for now, else how long to wait first.
  mutating func wait(at now: ContinuousClock.Instant = .now) -> Duration? {
    guard !isOpening else { return nil }
    allowance = min(
      Double(Self.requestBurst),
      allowance + Double(Self.requestRate) * (max(.zero, now - refilled) / .seconds(1)))
    refilled = now
    return allowance >= 1 ? nil : .milliseconds(100)
  }

  /// False where it is one too many.
  mutating func request() -> Bool {
    guard isOpening else {
      allowance -= 1
      return true
    }
    requestCount += 1
    if requestCount > limits.requests {
      excess = "it asks for more than \(limits.requests) addresses before it begins"
    }
    return excess == nil
  }

  /// Bytes that have come over connections that are closed by now.
  mutating func took(_ count: Int64) { byteCount += max(0, count) }

  /// False where the opening is over.
  ///
  /// - Parameter count: bytes that have come over connections that are still open.
  mutating func goesOn(with count: Int64) -> Bool {
    guard isOpening, !isWhole, excess == nil else { return excess == nil }
    if byteCount + count > limits.bytes {
      excess = "it gives more than \(limits.bytes >> 20) MiB and still does not begin"
    } else if ContinuousClock.now > deadline {
      excess = "it does not begin within \(Int(limits.time / .seconds(1))) s"
    }
    return excess == nil
  }

  /// The file is loaded whole; its own limit holds.
  mutating func loadWhole() { isWhole = true }

  mutating func endOpening() { isOpening = false }
}
