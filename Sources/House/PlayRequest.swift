package import Sender

/// Items for a daemon to play, and rooms to play them in.
package struct PlayRequest: Codable, Hashable, Sendable {
  package var entries: [PlaylistEntry]
  /// Names, and addresses as `host:port`. If both are empty, the daemon plays where it played last.
  package var rooms: [String]
  package var addresses: [String]
  package var shuffles: Bool
  /// Nil leaves the setting as it is.
  package var repetition: Playlist.Repetition?
  package var effects: EffectsChange
  /// True to take rooms from other senders.
  package var takes: Bool
  /// The name of all of it for people; nil where the first entry says it.
  package var title: String?
  /// Given options that only a player in the foreground has.
  package var foregroundOptions: [String]

  package init(
    entries: [PlaylistEntry], rooms: [String], addresses: [String], shuffles: Bool,
    repetition: Playlist.Repetition?, effects: EffectsChange, takes: Bool = false,
    foregroundOptions: [String] = []
  ) {
    (self.takes, self.foregroundOptions) = (takes, foregroundOptions)
    (self.entries, self.rooms, self.addresses) = (entries, rooms, addresses)
    (self.shuffles, self.repetition, self.effects) = (shuffles, repetition, effects)
  }
}
