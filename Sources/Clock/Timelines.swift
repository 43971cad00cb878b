/// The four timelines of the system. Mixing two of them does not compile; the three mappings between
/// neighbours are `Anchor`, `ClockEstimate` and `RenderClock`.
///
/// All are plain structs of one `Int64`, because generic code is not accepted on the render path. For the same reason
/// each writes out the comparisons that `Comparable` would give it.

/// An instant of the stream: flicks since it began. One flick is 1/705 600 000 s, so that every common
/// sample rate from 8 to 192 kHz has a whole number of flicks a frame.
package struct MediaTime: Hashable, Comparable, Sendable {
  package var flicks: Int64

  @_noLocks @_noAllocation
  package init(flicks: Int64) { self.flicks = flicks }

  package static let zero = MediaTime(flicks: 0)

  @_noLocks @_noAllocation
  package static func < (a: MediaTime, b: MediaTime) -> Bool { a.flicks < b.flicks }
  @_noLocks @_noAllocation
  package static func <= (a: MediaTime, b: MediaTime) -> Bool { a.flicks <= b.flicks }
  @_noLocks @_noAllocation
  package static func > (a: MediaTime, b: MediaTime) -> Bool { a.flicks > b.flicks }
  @_noLocks @_noAllocation
  package static func >= (a: MediaTime, b: MediaTime) -> Bool { a.flicks >= b.flicks }
  @_noLocks @_noAllocation
  package static func + (a: MediaTime, b: MediaDuration) -> MediaTime {
    MediaTime(flicks: a.flicks + b.flicks)
  }
  @_noLocks @_noAllocation
  package static func - (a: MediaTime, b: MediaDuration) -> MediaTime {
    MediaTime(flicks: a.flicks - b.flicks)
  }
  @_noLocks @_noAllocation
  package static func - (a: MediaTime, b: MediaTime) -> MediaDuration {
    MediaDuration(flicks: a.flicks - b.flicks)
  }
  package static func += (a: inout MediaTime, b: MediaDuration) { a = a + b }
}

/// A span of media time, in flicks.
package struct MediaDuration: Hashable, Comparable, Sendable {
  package static let flicksPerSecond: Int64 = 705_600_000

  package var flicks: Int64

  @_noLocks @_noAllocation
  package init(flicks: Int64) { self.flicks = flicks }

  /// The span of `frames` at a rate of `sampleRate` Hz; exact for every rate that divides 705 600 000.
  @_noLocks @_noAllocation
  package init(frames: Int64, at sampleRate: Int) {
    flicks = frames * (Self.flicksPerSecond / Int64(sampleRate))
  }

  /// The nearest span, rounded toward zero. Divides first, so that no span of a century overflows.
  @_noLocks @_noAllocation
  package init(_ nanoseconds: Nanoseconds) {
    let seconds = nanoseconds.count / 1_000_000_000
    let rest = nanoseconds.count % 1_000_000_000
    flicks = seconds * Self.flicksPerSecond + rest * 7056 / 10_000
  }

  package static let zero = MediaDuration(flicks: 0)
  package static func seconds(_ count: Int64) -> MediaDuration {
    MediaDuration(flicks: count * flicksPerSecond)
  }
  package static func milliseconds(_ count: Int64) -> MediaDuration {
    MediaDuration(flicks: count * (flicksPerSecond / 1000))
  }
  package var seconds: Double { Double(flicks) / Double(Self.flicksPerSecond) }

  /// The span that is `factor` times as long, to the nearest flick. Exact for 1, and zero where it is too long to be said.
  package func scaled(by factor: Double) -> MediaDuration {
    guard factor != 1 else { return self }
    return MediaDuration(flicks: Int64(exactly: (Double(flicks) * factor).rounded()) ?? 0)
  }

  @_noLocks @_noAllocation
  package static func < (a: MediaDuration, b: MediaDuration) -> Bool { a.flicks < b.flicks }
  @_noLocks @_noAllocation
  package static func <= (a: MediaDuration, b: MediaDuration) -> Bool { a.flicks <= b.flicks }
  @_noLocks @_noAllocation
  package static func > (a: MediaDuration, b: MediaDuration) -> Bool { a.flicks > b.flicks }
  @_noLocks @_noAllocation
  package static func >= (a: MediaDuration, b: MediaDuration) -> Bool { a.flicks >= b.flicks }
  @_noLocks @_noAllocation
  package static func + (a: MediaDuration, b: MediaDuration) -> MediaDuration {
    MediaDuration(flicks: a.flicks + b.flicks)
  }
  @_noLocks @_noAllocation
  package static func - (a: MediaDuration, b: MediaDuration) -> MediaDuration {
    MediaDuration(flicks: a.flicks - b.flicks)
  }
}

/// An instant of the group's reference clock, the sender's monotonic clock: nanoseconds from its origin.
package struct GroupTime: Hashable, Comparable, Sendable {
  package var nanoseconds: Int64

  @_noLocks @_noAllocation
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  @_noLocks @_noAllocation
  package static func < (a: GroupTime, b: GroupTime) -> Bool { a.nanoseconds < b.nanoseconds }
  @_noLocks @_noAllocation
  package static func <= (a: GroupTime, b: GroupTime) -> Bool { a.nanoseconds <= b.nanoseconds }
  @_noLocks @_noAllocation
  package static func > (a: GroupTime, b: GroupTime) -> Bool { a.nanoseconds > b.nanoseconds }
  @_noLocks @_noAllocation
  package static func >= (a: GroupTime, b: GroupTime) -> Bool { a.nanoseconds >= b.nanoseconds }
  @_noLocks @_noAllocation
  package static func + (a: GroupTime, b: Nanoseconds) -> GroupTime {
    GroupTime(nanoseconds: a.nanoseconds + b.count)
  }
  @_noLocks @_noAllocation
  package static func - (a: GroupTime, b: Nanoseconds) -> GroupTime {
    GroupTime(nanoseconds: a.nanoseconds - b.count)
  }
  @_noLocks @_noAllocation
  package static func - (a: GroupTime, b: GroupTime) -> Nanoseconds {
    Nanoseconds(a.nanoseconds - b.nanoseconds)
  }
}

/// An instant of this host's monotonic clock: nanoseconds from its origin.
package struct LocalTime: Hashable, Comparable, Sendable {
  package var nanoseconds: Int64

  @_noLocks @_noAllocation
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  @_noLocks @_noAllocation
  package static func < (a: LocalTime, b: LocalTime) -> Bool { a.nanoseconds < b.nanoseconds }
  @_noLocks @_noAllocation
  package static func <= (a: LocalTime, b: LocalTime) -> Bool { a.nanoseconds <= b.nanoseconds }
  @_noLocks @_noAllocation
  package static func > (a: LocalTime, b: LocalTime) -> Bool { a.nanoseconds > b.nanoseconds }
  @_noLocks @_noAllocation
  package static func >= (a: LocalTime, b: LocalTime) -> Bool { a.nanoseconds >= b.nanoseconds }
  @_noLocks @_noAllocation
  package static func + (a: LocalTime, b: Nanoseconds) -> LocalTime {
    LocalTime(nanoseconds: a.nanoseconds + b.count)
  }
  @_noLocks @_noAllocation
  package static func - (a: LocalTime, b: Nanoseconds) -> LocalTime {
    LocalTime(nanoseconds: a.nanoseconds - b.count)
  }
  @_noLocks @_noAllocation
  package static func - (a: LocalTime, b: LocalTime) -> Nanoseconds {
    Nanoseconds(a.nanoseconds - b.nanoseconds)
  }
}

extension LocalTime? {
  /// Returns the first of the times that are there. Event loops ask for it at each turn, so it allocates nothing.
  package static func earliest<let count: Int>(_ times: InlineArray<count, LocalTime?>) -> Self {
    var first: LocalTime?
    for index in times.indices {
      if let time = times[index], first.map({ time < $0 }) ?? true { first = time }
    }
    return first
  }
}

/// A position of a sound card: frames that it has consumed since it was opened.
package struct DeviceFrame: Hashable, Sendable {
  package var index: Int64

  @_noLocks @_noAllocation
  package init(_ index: Int64) { self.index = index }
}

/// A span of group or local time.
package struct Nanoseconds: Hashable, Comparable, Sendable {
  package var count: Int64

  @_noLocks @_noAllocation
  package init(_ count: Int64) { self.count = count }

  /// The span of a media duration, rounded toward zero. Divides first, so that it does not overflow.
  @_noLocks @_noAllocation
  package init(_ duration: MediaDuration) {
    let seconds = duration.flicks / MediaDuration.flicksPerSecond
    let rest = duration.flicks % MediaDuration.flicksPerSecond
    count = seconds * 1_000_000_000 + rest * 10_000 / 7056
  }

  /// The span, rounded toward zero; saturates at 146 years, and NaN becomes zero.
  @_noLocks @_noAllocation
  init(ofSeconds seconds: Double) {
    let limit = 0x1p62
    count = seconds == seconds ? Int64(min(max(seconds * 1e9, -limit), limit)) : 0
  }

  package static let zero = Nanoseconds(0)
  package static func microseconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count * 1000) }
  package static func milliseconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count * 1_000_000) }
  package static func seconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count * 1_000_000_000) }
  package var seconds: Double { Double(count) * 1e-9 }
  package var microseconds: Double { Double(count) * 1e-3 }

  @_noLocks @_noAllocation
  package static func < (a: Nanoseconds, b: Nanoseconds) -> Bool { a.count < b.count }
  @_noLocks @_noAllocation
  package static func <= (a: Nanoseconds, b: Nanoseconds) -> Bool { a.count <= b.count }
  @_noLocks @_noAllocation
  package static func > (a: Nanoseconds, b: Nanoseconds) -> Bool { a.count > b.count }
  @_noLocks @_noAllocation
  package static func >= (a: Nanoseconds, b: Nanoseconds) -> Bool { a.count >= b.count }
  @_noLocks @_noAllocation
  package static func + (a: Nanoseconds, b: Nanoseconds) -> Nanoseconds {
    Nanoseconds(a.count + b.count)
  }
  @_noLocks @_noAllocation
  package static func - (a: Nanoseconds, b: Nanoseconds) -> Nanoseconds {
    Nanoseconds(a.count - b.count)
  }
  package static prefix func - (a: Nanoseconds) -> Nanoseconds { Nanoseconds(-a.count) }
  package var magnitude: Nanoseconds { Nanoseconds(abs(count)) }
}
