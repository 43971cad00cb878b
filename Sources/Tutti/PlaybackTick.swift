/// A time that sounds, and how time came there.
public struct PlaybackTick: Hashable, Sendable {
  public let time: PlaybackTime
  /// True if time did not run here from the tick before: it is the first one, or the first after a seek, a jump, or another
  /// item.
  public let hasJumped: Bool
}
