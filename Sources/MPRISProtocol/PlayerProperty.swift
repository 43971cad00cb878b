/// The properties of a player, by their names on the bus.
package enum PlayerProperty: String, CaseIterable, Hashable, Sendable {
  case canQuit = "CanQuit"
  case canRaise = "CanRaise"
  case hasTrackList = "HasTrackList"
  case identity = "Identity"
  case desktopEntry = "DesktopEntry"
  case schemes = "SupportedUriSchemes"
  case types = "SupportedMimeTypes"

  case status = "PlaybackStatus"
  case loop = "LoopStatus"
  case rate = "Rate"
  case shuffle = "Shuffle"
  case metadata = "Metadata"
  case volume = "Volume"
  case position = "Position"
  case leastRate = "MinimumRate"
  case mostRate = "MaximumRate"
  case canGoNext = "CanGoNext"
  case canGoPrevious = "CanGoPrevious"
  case canPlay = "CanPlay"
  case canPause = "CanPause"
  case canSeek = "CanSeek"
  case canControl = "CanControl"

  /// The interface on which others are told that it has changed; nil for what never changes, and for the position, which moves all
  /// the time.
  package var news: PlayerInterface? {
    switch self {
    case .identity: .root
    case .status, .loop, .rate, .shuffle, .metadata, .volume, .canGoNext, .canGoPrevious, .canPlay,
      .canPause, .canSeek:
      .player
    case .canQuit, .canRaise, .hasTrackList, .desktopEntry, .schemes, .types, .position, .leastRate,
      .mostRate, .canControl:
      nil
    }
  }
}

package enum PlayerInterface: String, CaseIterable, Hashable, Sendable {
  case root = "org.mpris.MediaPlayer2"
  case player = "org.mpris.MediaPlayer2.Player"
}

/// A method of a player that somebody calls.
package enum PlayerCall: Hashable, Sendable {
  case next, previous, pause, playPause, stop, play
  /// Microseconds from where it is.
  case seek(by: Int64)
  /// Microseconds from the beginning of this track.
  case setPosition(track: String, Int64)
  case open(String)
  case raise, quit

  /// Nil for a name that is none.
  package init?(_ name: String, text: String, span: Int64) {
    switch name {
    case "Next": self = .next
    case "Previous": self = .previous
    case "Pause": self = .pause
    case "PlayPause": self = .playPause
    case "Stop": self = .stop
    case "Play": self = .play
    case "Seek": self = .seek(by: span)
    case "SetPosition": self = .setPosition(track: text, span)
    case "OpenUri": self = .open(text)
    case "Raise": self = .raise
    case "Quit": self = .quit
    default: return nil
    }
  }
}

/// A property that somebody sets.
package enum PlayerSetting: Hashable, Sendable {
  case loop(String)
  case shuffle(Bool)
  case rate(Double)
  case volume(Double)

  /// Nil for one that nobody sets.
  package init?(_ name: String, text: String, number: Double) {
    switch PlayerProperty(rawValue: name) {
    case .loop: self = .loop(text)
    case .shuffle: self = .shuffle(number != 0)
    case .rate: self = .rate(number)
    case .volume: self = .volume(number)
    default: return nil
    }
  }
}
