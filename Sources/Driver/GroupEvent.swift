package import FFmpegSource
package import Sender

/// An event of a group, as reported to everything outside: terminals, programs, the library.
package struct GroupEvent: Hashable, Sendable {
  /// Grows by one with each event of the group, so that a reader can tell if it missed some. `position`, `status` and
  /// `waiting`, which only show the present state, have the revision of that state. `leftOut` has 0, because it belongs
  /// to no group.
  package var revision: UInt64
  package var change: Change

  package init(revision: UInt64, _ change: Change) {
    self.revision = revision
    self.change = change
  }

  package enum Change: Hashable, Sendable {
    case group(SenderEvent)
    /// A source on the network waits, or continues.
    case source(SourceNotice)
    case status(StatusReport)
    /// The music cannot start yet, for this reason.
    case waiting(reason: String)
    /// The reader was too slow for this many events, of which some were positions and the like.
    case leftOut(events: Int, positions: Int)

    /// True if the next event of its kind replaces it, so that a slow reader can do without it.
    package var isPassing: Bool {
      switch self {
      case .group(.position), .status: true
      default: false
      }
    }
  }
}
