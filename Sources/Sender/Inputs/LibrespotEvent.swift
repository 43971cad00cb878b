/// Reads what librespot tells a program that it calls at each event (`--onevent`): variables of the environment.
package enum LibrespotEvent {
  private enum Kind: String {
    case track = "track_changed"
    case playing, paused, stopped
    case volume = "volume_changed"
  }

  /// Longest variable that is taken, in bytes.
  private static let textLimit = 2_000
  private static let fullVolume = 65_535.0

  /// Returns the event as a line of `InputLines`; nil for events that say nothing about the music.
  ///
  /// - Parameter variable: returns a variable of the environment.
  package static func line(_ variable: (String) -> String?) -> [UInt8]? {
    let members: [(String, String)]
    switch variable("PLAYER_EVENT").flatMap(Kind.init) {
    case .track:
      // An episode has a show in the place of artists and an album.
      let artists = variable("ARTISTS").map { $0.split(separator: "\n").joined(separator: ", ") }
      members = [
        ("title", quoted(variable("NAME"))), ("artist", quoted(artists ?? variable("SHOW_NAME"))),
        ("album", quoted(variable("ALBUM"))),
      ]
    case .playing: members = [("state", quoted("playing"))]
    case .paused: members = [("state", quoted("paused"))]
    case .stopped: members = [("state", quoted("stopped"))]
    case .volume:
      guard let volume = variable("VOLUME").flatMap(Double.init),
        (0...fullVolume).contains(volume)
      else { return nil }
      members = [("volume", "\(Int(volume / fullVolume * 100))")]
    case nil: return nil
    }
    let object = members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
    return Array("{\(object)}\n".utf8)
  }

  private static func quoted(_ text: String?) -> String {
    guard let text else { return "null" }
    var quoted = "\""
    for scalar in String(decoding: text.utf8.prefix(textLimit), as: UTF8.self).unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\" + String(scalar)
      // Only what controls is left out; an end of a line would end the event.
      case _ where scalar.value < 0x20: quoted += " "
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
