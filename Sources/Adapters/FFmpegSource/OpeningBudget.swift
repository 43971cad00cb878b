/// Limits of what a source may load until it plays, over all that it opens on the way.
package struct OpeningLimits: Hashable, Sendable {
  /// A list with twenty qualities and ten sounds makes three requests for each: its list, its first part and a segment.
  package static let requestLimit = 256
  /// In bytes. Pictures in tags take some 16 MiB, the index of the longest films about as much.
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

/// Counts the requests and bytes of opening one source, and later the rate of its requests.
struct OpeningBudget {
  /// Allowed requests per second of a playing source. A live list requests itself, a key, a first part and a segment,
  /// which seldom lasts less than a second.
  static let requestRate = 10
  /// Allowed requests in a burst, after a seek in a list.
  static let requestBurst = 40

  private let limits: OpeningLimits
  private let deadline: ContinuousClock.Instant
  private var isOpening = true
  private var requestCount = 0
  private var byteCount: Int64 = 0
  private var allowance = Double(Self.requestBurst)
  private var refilled = ContinuousClock.now
  /// True if bytes and time are not limited, for a file that must be loaded whole before it opens.
  private var isWhole = false
  /// Reason for ending the opening; nil while it is within its limits.
  private(set) var excess: String?

  init(_ limits: OpeningLimits) {
    self.limits = limits
    deadline = .now + limits.time
  }

  /// Returns nil if a request is allowed now, else the time to wait first.
  mutating func wait(at now: ContinuousClock.Instant = .now) -> Duration? {
    guard !isOpening else { return nil }
    allowance = min(
      Double(Self.requestBurst),
      allowance + Double(Self.requestRate) * (max(.zero, now - refilled) / .seconds(1)))
    refilled = now
    return allowance >= 1 ? nil : .milliseconds(100)
  }

  /// Counts a request. Returns false if it exceeds the limit.
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

  /// Counts bytes received over connections that are closed now.
  mutating func took(_ count: Int64) { byteCount += max(0, count) }

  /// Returns false if the opening must end.
  ///
  /// - Parameter count: bytes received over connections that are still open.
  mutating func goesOn(with count: Int64) -> Bool {
    guard isOpening, !isWhole, excess == nil else { return excess == nil }
    if byteCount + count > limits.bytes {
      excess = "it gives more than \(limits.bytes >> 20) MiB and still does not begin"
    } else if ContinuousClock.now > deadline {
      excess = "it does not begin within \(Int(limits.time / .seconds(1))) s"
    }
    return excess == nil
  }

  /// Lifts the limits for a file that is loaded whole, which has its own limit.
  mutating func loadWhole() { isWhole = true }

  mutating func endOpening() { isOpening = false }
}
