package import Clock

/// What makes an item live: each of its frames is heard a fixed time after it has arrived here, in all rooms.
///
/// A source that says so keeps group time by itself. Its frame number n, of those that `read` has given, is heard at
/// `firstHeard` and n / `format.sampleRate` seconds, exactly and for as long as it lasts: what has a clock of its own is
/// resampled to that, and where nothing arrives, silence takes its place. A `read` gives frames as soon as they have
/// arrived, never ahead; it asks for no more than a packet's worth, and waits until there are some. A source that holds
/// another latency from now on comes to it by resampling, so that rooms need not hear of it.
package struct LiveTiming: Hashable, Sendable {
  /// When the first frame is heard, by this host's clock: when it arrived, and the latency.
  package var firstHeard: LocalTime
  /// From the arrival of a frame to its sound.
  package var latency: Nanoseconds
  /// Whether it comes to another latency when it is told to, and says which it holds (`MediaSource.heldLatency`).
  package var adapts: Bool

  package init(firstHeard: LocalTime, latency: Nanoseconds, adapts: Bool = false) {
    self.adapts = adapts
    self.firstHeard = firstHeard
    self.latency = latency
  }
}
