package import Clock
import Sender
import WireProtocol

/// The timer that ends a group's music. In the last seconds the music grows quieter, in all rooms by the same share, and
/// is as loud as before once it has paused.
package struct SleepTimer {
  /// A short time fades for half of it.
  package static let fade = Nanoseconds.seconds(30)
  /// The steps are too small to be heard.
  private static let step = Nanoseconds.milliseconds(200)
  /// A pause is heard in less.
  private static let pauseTime = Nanoseconds.seconds(2)

  /// The group is to do this.
  enum Order: Hashable {
    case volume(StreamVolume)
    case pause
  }

  private enum Stage {
    case waits(end: LocalTime, fade: Nanoseconds)
    case fades(end: LocalTime, over: Nanoseconds, step: LocalTime)
    /// The music has paused and is quiet still.
    case hasPaused(LocalTime)
  }

  private var stage: Stage?

  /// When the music ends; nil while the timer is off.
  package var end: LocalTime? {
    switch stage {
    case .waits(let end, _), .fades(let end, _, _): end
    case .hasPaused, nil: nil
    }
  }

  package var nextDeadline: LocalTime? {
    switch stage {
    case .waits(let end, let fade): end - fade
    case .fades(let end, _, let step): min(end, step)
    case .hasPaused(let time): time + Self.pauseTime
    case nil: nil
    }
  }

  /// Sets the timer, or turns it off: nil. Returns what is to be done.
  mutating func set(_ end: LocalTime?, at now: LocalTime) -> Order? {
    defer {
      stage = end.map { end in
        .waits(end: end, fade: min(Self.fade, Nanoseconds((end - now).count / 2)))
      }
    }
    return restored
  }

  /// The user lets the music go on, which may be quiet still.
  mutating func goesOn() -> Order? {
    guard case .hasPaused = stage else { return nil }
    defer { stage = nil }
    return restored
  }

  /// Takes the step that is due. `isQuiet` is true while nothing sounds: then nothing fades.
  mutating func advance(to now: LocalTime, isQuiet: Bool) -> Order? {
    guard let nextDeadline, nextDeadline <= now else { return nil }
    switch stage {
    case .waits(let end, let fade) where now < end: return step(to: end, fade, at: now, isQuiet)
    case .fades(let end, let fade, _) where now < end:
      return step(to: end, fade, at: now, isQuiet)
    case .waits, .fades:
      stage = .hasPaused(now)
      return .pause
    case .hasPaused:
      defer { stage = nil }
      return restored
    case nil: return nil
    }
  }

  private mutating func step(
    to end: LocalTime, _ fade: Nanoseconds, at now: LocalTime, _ isQuiet: Bool
  ) -> Order {
    stage = .fades(end: end, over: fade, step: now + Self.step)
    let share = isQuiet ? 1 : Double((end - now).count) / Double(fade.count)
    let volume = UInt16((1000 * min(max(share, 0), 1)).rounded())
    return .volume(StreamVolume(volume: volume, isMuted: false))
  }

  private var restored: Order? {
    switch stage {
    case .fades, .hasPaused: .volume(.full)
    case .waits, nil: nil
    }
  }
}
