package import Clock

/// The timing of a live item: each of its frames is heard a fixed time after it has arrived here, in all rooms.
///
/// A source with this timing keeps group time by itself. Frame number n, of those that `read` has given, is heard at
/// `firstHeard` plus n / `format.sampleRate` seconds, exactly and for as long as the source lasts: a source with a
/// clock of its own is resampled to that, and silence takes the place of audio that does not arrive. `read` is
/// asked for no more than a packet's worth, waits until there are some frames, and gives them as soon as they have
/// arrived, never ahead. A source that changes its latency moves to the new one by resampling, so that rooms need not
/// hear of it.
package struct LiveTiming: Hashable, Sendable {
  /// The host's time at which the first frame is heard: its arrival, plus the latency.
  package var firstHeard: LocalTime
  /// Time from the arrival of a frame to its sound.
  package var latency: Nanoseconds
  /// True if the source moves to another latency when told to, and reports the one that it holds
  /// (`MediaSource.heldLatency`).
  package var adapts: Bool

  package init(firstHeard: LocalTime, latency: Nanoseconds, adapts: Bool = false) {
    self.adapts = adapts
    self.firstHeard = firstHeard
    self.latency = latency
  }
}
