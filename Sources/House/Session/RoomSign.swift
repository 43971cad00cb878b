import Clock
import Sender
import WireProtocol

/// Lets people find a room: it plays three short tones where it is silent; where it plays, its music is away twice for a moment.
final class RoomSign {
  private enum Kind {
    /// Times at which it is muted or sounds again. In the end it is as it was.
    case blink(any GroupPlayer, RoomID, steps: [(time: LocalTime, isMuted: Bool)])
    case tones(any GroupPlayer, isStopped: Bool)
  }

  /// Nobody waits for it longer.
  private static let longest = Nanoseconds.seconds(10)
  /// The room may take so long to hear of the end.
  private static let farewell = Nanoseconds.seconds(2)
  /// Time for which the music is away, or there, each time.
  private static let blink = Nanoseconds.milliseconds(350)

  private var kind: Kind
  private var giveUpTime: LocalTime

  init(blinking room: RoomID, of driver: any GroupPlayer, wasMuted: Bool, at now: LocalTime) {
    let steps = (0..<4).map { step in
      (
        time: now + Nanoseconds(Self.blink.count * Int64(step)),
        isMuted: (step % 2 == 0) != wasMuted
      )
    }
    kind = .blink(driver, room, steps: steps)
    giveUpTime = now + Self.longest
  }

  /// The player plays its list in the room, and ends with it.
  init(_ player: any GroupPlayer, at now: LocalTime) {
    kind = .tones(player, isStopped: false)
    giveUpTime = now + Self.longest
  }

  var nextDeadline: LocalTime {
    if case .blink(_, _, let steps) = kind, let next = steps.first { return next.time }
    return giveUpTime
  }

  /// True once the tones have sounded, which no deadline tells.
  var isOver: Bool {
    if case .tones(let player, _) = kind { player.session.isFinished } else { false }
  }

  /// Does what is due; true once it is over.
  func look(at now: LocalTime) -> Bool {
    switch kind {
    case .blink(let driver, let room, var steps):
      while let step = steps.first, step.time <= now {
        _ = driver.carryOut(.mute(.room(room), step.isMuted))
        steps.removeFirst()
      }
      kind = .blink(driver, room, steps: steps)
      return steps.isEmpty
    case .tones(let player, let isStopped):
      guard !player.session.isFinished, giveUpTime <= now else { return player.session.isFinished }
      if !isStopped { _ = player.carryOut(.stop) }
      kind = .tones(player, isStopped: true)
      giveUpTime = now + Self.farewell
      return isStopped
    }
  }

  /// Leaves the room as it was; returns the player of its own that it had.
  func end() -> (any GroupPlayer)? {
    switch kind {
    case .blink(let driver, let room, let steps):
      if let last = steps.last { _ = driver.carryOut(.mute(.room(room), last.isMuted)) }
      return nil
    case .tones(let player, _): return player
    }
  }
}
