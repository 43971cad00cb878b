package import House
import Sender

/// The answer to somebody on the bus.
package enum BusAnswer: Hashable, Sendable {
  /// Nothing is to be done, and that is right.
  case nothing
  case order(Order)
  /// Plays an address, as far as anybody on this machine may have it played.
  case open(String)
  case refuse(BusError, String)
}

extension MediaPlayer {
  package func answer(_ call: PlayerCall, at nowMs: Double) -> BusAnswer {
    switch call {
    case .next: canGoNext ? transport(.next) : .nothing
    case .previous: group.item != nil ? transport(.previous) : .nothing
    case .pause: isPlaying ? transport(.pause) : .nothing
    case .play: isPlaying || !canPlay ? .nothing : transport(.play)
    case .playPause where isPlaying: transport(.pause)
    case .playPause where canPlay: transport(.play)
    case .playPause: .refuse(.failed, "Nothing is in the queue.")
    case .stop: group.state == .stopped ? .nothing : transport(.stop)
    case .seek(let span): seek(by: Double(span) / 1e6, at: nowMs)
    case .setPosition(let track, let span): seek(to: Double(span) / 1e6, in: track)
    case .open(let address): open(address)
    // There is no window, and the music belongs to the rooms.
    case .raise, .quit: .nothing
    }
  }

  package func answer(_ setting: PlayerSetting) -> BusAnswer {
    switch setting {
    case .loop(let text):
      guard let wanted = Playlist.Repetition.allCases.first(where: { Self.loop($0) == text }) else {
        return .refuse(.invalid, "LoopStatus is None, Track or Playlist.")
      }
      return wanted == group.repeat ? .nothing : change(Order.GroupChange(repeat: wanted))
    case .shuffle(let isWanted):
      guard isWanted != group.queue.isShuffled, group.queue.count > 0 else { return .nothing }
      return .order(.edit(group: group.id, isWanted ? .shuffle : .unshuffle, expected: nil))
    case .rate(let rate):
      // As the specification wants it.
      if rate == 0 { return isPlaying ? transport(.pause) : .nothing }
      guard Effects.rates.contains(rate) else {
        return .refuse(.invalid, "Rate is \(Effects.rates.text).")
      }
      return change(Order.GroupChange(effects: EffectsChange(rate: rate)))
    case .volume(let volume):
      guard !volume.isNaN else { return .refuse(.invalid, "Volume is 0 to 1.") }
      let whole = min(max(volume, 0), 1) * 100
      return change(Order.GroupChange(rooms: RoomChange(volume: whole)))
    }
  }

  static func loop(_ repetition: Playlist.Repetition) -> String {
    switch repetition {
    case .off: "None"
    case .one: "Track"
    case .all: "Playlist"
    }
  }

  private func transport(_ transport: Order.Transport) -> BusAnswer {
    .order(.transport(group: group.id, transport))
  }

  private func change(_ change: Order.GroupChange) -> BusAnswer {
    .order(.change(group: group.id, change))
  }

  /// Before the beginning is the beginning, and after the end is the next item.
  private func seek(by seconds: Double, at nowMs: Double) -> BusAnswer {
    guard canSeek else { return .nothing }
    let place = group.elapsed(at: nowMs) + seconds
    if place <= 0 { return .order(.seek(group: group.id, seconds: 0, isRelative: false)) }
    if let length = group.item?.durationS, place >= length {
      return canGoNext ? transport(.next) : .nothing
    }
    return .order(.seek(group: group.id, seconds: seconds, isRelative: true))
  }

  /// Somebody means the track that was shown there last: if another one plays by now, or the place is not in it, nothing is done.
  private func seek(to seconds: Double, in track: String) -> BusAnswer {
    guard canSeek, let item = group.item, track == Self.path(ofTrack: item.entryId),
      seconds >= 0, seconds < item.durationS ?? .infinity
    else { return .nothing }
    return .order(.seek(group: group.id, seconds: seconds, isRelative: false))
  }

  private func open(_ address: String) -> BusAnswer {
    guard address.utf8.count <= Self.addressLimit else {
      return .refuse(.invalid, "An address has at most \(Self.addressLimit) bytes.")
    }
    return .open(address)
  }
}
