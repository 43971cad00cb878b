package import Clock

/// The speed at which a source delivers.
package enum Supply: Hashable, Sendable {
  /// Delivers far faster than it sounds, such as a disk.
  case stored
  /// Delivers as fast as the way to it allows, such as a file on a server.
  case fetched
  /// Delivers as fast as it is made, whether or not somebody listens, such as a radio station.
  case live
  /// Delivers as fast as a program writes it, such as standard input.
  case piped
  /// Delivers as fast as it is made to all who listen, such as a card that records, or an input of the daemon. Nobody wants
  /// later what it gave during a pause.
  case input

  /// The reserve that an item needs before it sounds.
  fileprivate var first: MediaDuration {
    switch self {
    // Enough that playing does not stop again after the first packets, on a busy machine or while TCP finds its rate.
    case .stored, .fetched: .milliseconds(250)
    case .live: .seconds(2)
    // People hear how late a pipe is.
    case .piped, .input: .milliseconds(500)
    }
  }

  /// The increase of the reserve after each time that it was too small. Including the time that rooms take to go on,
  /// the silence is at most 2 s longer than the source was late, although a live one fills its reserve no faster than
  /// it plays.
  fileprivate var step: MediaDuration {
    switch self {
    case .stored, .piped, .input: .milliseconds(500)
    case .fetched, .live: .milliseconds(1_750)
    }
  }

  fileprivate var limit: MediaDuration {
    switch self {
    case .stored, .piped, .input: .seconds(2)
    case .fetched, .live: .seconds(20)
    }
  }
}

/// Decides how much of an item must have come before it sounds. It grows each time that this was too little.
struct Reserve {
  private var item: Int?
  private var outages = 0

  /// The group had nothing more to play in the middle of `item`.
  mutating func ranDry(in item: PlayItem) {
    outages = item.id == self.item ? outages + 1 : 1
    self.item = item.id
  }

  /// A listener has chosen another place, and does not want to wait long.
  mutating func restart() { outages = min(outages, 1) }

  func needed(of opened: OpenedItem) -> MediaDuration {
    let supply = opened.supply
    let steps = opened.item.id == item ? Int64(outages) : 0
    return min(
      supply.first + MediaDuration(flicks: min(steps, 100) * supply.step.flicks), supply.limit)
  }
}

/// The audio for which a group stands still, because its source is late.
package struct Buffering: Hashable, Sendable {
  package var item: PlayItem
  /// Audio of the item that has come, beyond the place where the group stands still.
  package var arrived: MediaDuration
  /// Audio of the item that the group needs to go on.
  package var needed: MediaDuration

  package init(item: PlayItem, arrived: MediaDuration, needed: MediaDuration) {
    self.item = item
    self.arrived = arrived
    self.needed = needed
  }
}

extension Buffering: CustomStringConvertible {
  package var description: String {
    let seconds = Int(needed.seconds.rounded(.up))
    let name = item.location == "-" ? "standard input" : item.location
    let isFile = item.location.hasPrefix("/")
    return isFile
      ? "\(name): cannot be read fast enough, or is not complete; waiting for the next \(seconds) s of it"
      : "\(name): too slow to play on; waiting for the next \(seconds) s of it"
  }
}
