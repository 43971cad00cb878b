/// The reason why something cannot be done. `description` is one line for people.
public enum TuttiError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The player or renderer was closed, or has ended.
  case closed
  /// A value is out of its range, or of another format; the line says which, and what is allowed.
  case invalid(String)
  /// The item is not in the playlist, or no item is current.
  case noSuchItem
  /// The current item can only be played from its beginning, or as it happens.
  case notSeekable
  /// The playlist would have more than 65 536 items.
  case playlistIsFull
  /// The room does not play here.
  case noSuchRoom
  /// A room of this program cannot be made, or it has no valid address; one line that says what to do.
  case roomUnavailable(String)
  /// The queue accepts no buffer now: wait for `mediaDataRequests`.
  case queueIsFull
  /// Too many calls from other tasks wait for the player or renderer: 1024. Every method that waits for it may
  /// throw this. Try again later.
  case busy
  /// The waiting task was cancelled.
  case cancelled
  /// Nothing to begin with was there at the deadline: too little is enqueued, or no room can play.
  case notReady
  /// There is no such file; one line that names it.
  case notFound(String)
  /// It is no media, or of a kind that cannot be played here; one line that names it and says why.
  case notPlayable(String)
  /// It cannot be read, or not any further; one line that names it and says why.
  case broken(String)
  /// Pairing has not succeeded; one line that says why, and what to do.
  case pairingFailed(String)
  /// The household does not do that; one line in its own words.
  case refused(String)
  /// The system refused something necessary: a socket, a thread, Avahi's library.
  case unavailable(String)

  public var description: String {
    switch self {
    case .closed: "it is closed and plays no more"
    case .invalid(let line), .unavailable(let line), .notFound(let line), .notPlayable(let line),
      .broken(let line), .pairingFailed(let line), .roomUnavailable(let line),
      .refused(let line):
      line
    case .noSuchItem: "that item is not in the playlist any more"
    case .notSeekable: "this item can only be played from its beginning"
    case .playlistIsFull: "the playlist is full"
    case .noSuchRoom: "that room does not play here"
    case .queueIsFull: "the queue is full; wait until more is asked for"
    case .notReady: "too little was enqueued in time, or no room can play"
    case .busy: "too many calls wait for it already; try again later"
    case .cancelled: "waiting was cancelled"
    }
  }
}
