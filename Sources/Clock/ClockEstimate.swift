/// Maps group time to local time and back, as one receiver knows it: by a line through `(local,
/// group)`.
package struct ClockEstimate: Hashable, Sendable {
  /// A pair of instants that coincide.
  package var local: LocalTime
  package var group: GroupTime

  /// Group seconds per local second, minus one. Dimensionless: 1e-6 is one ppm.
  package var drift: Double

  /// Largest error of the estimate at `local`, apart from a constant asymmetry of the path.
  package var errorBound: Nanoseconds

  package init(local: LocalTime, group: GroupTime, drift: Double, errorBound: Nanoseconds) {
    self.local = local
    self.group = group
    self.drift = drift
    self.errorBound = errorBound
  }

  @_noLocks @_noAllocation
  package func groupTime(of time: LocalTime) -> GroupTime {
    let span = time - local
    return group + Nanoseconds(span.count + Int64(Double(span.count) * drift))
  }

  @_noLocks @_noAllocation
  package func localTime(of time: GroupTime) -> LocalTime {
    let span = time - group
    return local + Nanoseconds(span.count - Int64(Double(span.count) * (drift / (1 + drift))))
  }
}
