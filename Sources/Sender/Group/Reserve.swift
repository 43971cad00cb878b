package import Clock

/// How fast a source gives what it has.
package enum Supply: Hashable, Sendable {
  /// Far faster than it sounds, as a disk.
  case stored
  /// As fast as the way to it, as a file on a server.
  case fetched
  /// As fast as it is made, whether or not somebody listens, as a radio station.
  case live
  /// As fast as the program that writes it, as standard input.
  case piped

  /// What is to be there before it sounds.
  fileprivate var first: MediaDuration {
    switch self {
    // So that playing does not stop again after the first packets, on a busy machine, or while TCP finds out how fast it
    // may be.
    case .stored, .fetched: .milliseconds(250)
    case .live: .seconds(2)
    // People hear how late it is.
    case .piped: .milliseconds(500)
    }
  }

  /// How much more that is after each time that it was not enough. With the time that rooms take to go on, the silence
  /// is no more than 2 s longer than the source was late, though a live one fills its reserve no faster than it plays.
  fileprivate var step: MediaDuration {
    switch self {
    case .stored, .piped: .milliseconds(500)
    case .fetched, .live: .milliseconds(1_750)
    }
  }

  fileprivate var limit: MediaDuration {
    switch self {
    case .stored, .piped: .seconds(2)
    case .fetched, .live: .seconds(20)
    }
  }
}

/// How much of an item must have come before it sounds: the more, the more often that was not enough.
struct Reserve {
  private var item: Int?
  private var outages = 0

  /// In the middle of `item` there was nothing more to play.
  mutating func ranDry(in item: PlayItem) {
    outages = item.id == self.item ? outages + 1 : 1
    self.item = item.id
  }

  /// A listener has chosen another place, and does not want to wait for long.
  mutating func restart() { outages = min(outages, 1) }

  func needed(of opened: OpenedItem) -> MediaDuration {
    let supply = opened.supply
    let steps = opened.item.id == item ? Int64(outages) : 0
    return min(
      supply.first + MediaDuration(flicks: min(steps, 100) * supply.step.flicks), supply.limit)
  }
}

/// What a group waits for that stands still because its source is late.
package struct Buffering: Hashable, Sendable {
  package var item: PlayItem
  /// How much of it is there, beyond where the group stands still.
  package var arrived: MediaDuration
  /// How much of it must be there for the group to go on.
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
    return "\(name): too slow to play on; waiting for the next \(seconds) s of it"
  }
}
