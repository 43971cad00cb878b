package import Clock

/// All that a sender must know of a stream to go on with it after its process has ended, while the rooms play on. It names
/// no audio: a new process reads the items again. Layout: docs/protocol/coming-back.md.
package struct StreamRecord: Hashable, Sendable {
  package enum State: UInt8, Sendable {
    /// Media time runs, or will at the group time of the last anchor.
    case playing = 1
    /// All rooms stand still until the source has delivered more.
    case holding
    case paused
  }

  package struct Cut: Hashable, Sendable {
    package var generation: UInt32
    package var from: MediaTime
    package var isRamped: Bool

    package init(generation: UInt32, from: MediaTime, isRamped: Bool) {
      (self.generation, self.from, self.isRamped) = (generation, from, isRamped)
    }
  }

  /// An item, or the part of it from a seek on, and where it sounds.
  package struct Segment: Hashable, Sendable {
    package var start: MediaTime
    /// The item's identity in the list.
    package var entry: UInt64
    /// Position in the item at `start`.
    package var position: MediaDuration
    /// Seconds of the item in one second of media time; in `StreamRecord.rates`.
    package var rate: Double
    /// False if the item can only be read from its beginning to its end.
    package var isSeekable: Bool
    /// True if the segment was cut to, instead of following the one before it.
    package var isChosen: Bool
    /// True if the item before it plays on with another description.
    package var continuesItem: Bool
    /// The description that the rooms have of it.
    package var description: ItemDescription

    package init(
      start: MediaTime, entry: UInt64, position: MediaDuration, rate: Double = 1,
      isSeekable: Bool = true, isChosen: Bool = false, continuesItem: Bool = false,
      description: ItemDescription = ItemDescription()
    ) {
      (self.start, self.entry, self.position, self.rate) = (start, entry, position, rate)
      (self.isSeekable, self.isChosen) = (isSeekable, isChosen)
      (self.continuesItem, self.description) = (continuesItem, description)
    }
  }

  /// An item that was being opened.
  package struct Beginning: Hashable, Sendable {
    package var entry: UInt64
    package var position: MediaDuration
    /// The media time at which it was to begin.
    package var start: MediaTime
    /// True if `position` counts from where somebody has left the item, if there is such a place.
    package var resumes: Bool

    package init(entry: UInt64, position: MediaDuration, start: MediaTime, resumes: Bool = false) {
      (self.entry, self.position, self.start) = (entry, position, start)
      self.resumes = resumes
    }
  }

  /// As many as a timeline keeps.
  package static let cutLimit = 32
  /// Segments from the one that sounds on. Where there are more, the stream counts as produced up to the first that is
  /// left out.
  package static let segmentLimit = 64
  package static let rates = 0.25...4.0

  package var state: State
  /// The same as in `hello`.
  package var clockID: UInt64
  /// Group time less this machine's monotonic clock, which stands still while the machine sleeps.
  package var clockLead: Nanoseconds
  package var generation: UInt32
  /// One more than the number of the packet produced last.
  package var nextSequence: UInt64
  /// The number of the picture that was numbered last; 0 if none was.
  package var lastArtwork: UInt32
  /// The media time up to which each of the rooms that were connected held audio, and up to which one of them did, as they
  /// told last.
  package var heldByAll: MediaTime
  package var heldByOne: MediaTime
  /// The media time at which the stream ends; nil unless all of the list was produced.
  package var end: MediaTime?
  package var beginning: Beginning?
  /// In order of their group times; one at least.
  package var anchors: [Anchor]
  /// In order of their generations.
  package var cuts: [Cut]
  /// In order of media time; the first one sounds.
  package var segments: [Segment]

  package init(
    state: State, clockID: UInt64, clockLead: Nanoseconds = .zero, generation: UInt32,
    nextSequence: UInt64, lastArtwork: UInt32 = 0, heldByAll: MediaTime, heldByOne: MediaTime,
    end: MediaTime? = nil, beginning: Beginning? = nil, anchors: [Anchor], cuts: [Cut] = [],
    segments: [Segment]
  ) {
    (self.state, self.clockID, self.clockLead) = (state, clockID, clockLead)
    (self.generation, self.nextSequence) = (generation, nextSequence)
    (self.lastArtwork, self.heldByAll, self.heldByOne) = (lastArtwork, heldByAll, heldByOne)
    (self.end, self.beginning) = (end, beginning)
    (self.anchors, self.cuts, self.segments) = (anchors, cuts, segments)
  }
}

/// The streams of all groups of a process, as they stand on its disk. Layout: docs/protocol/coming-back.md.
package struct StreamJournal: Hashable, Sendable {
  /// Bytes of a journal: the longest texts in all segments of all groups fit.
  package static let byteLimit = 8 << 20
  /// Groups that are kept; more than any household plays in at a time.
  package static let streamLimit = 64

  package struct Stream: Hashable, Sendable {
    /// The group's name among its process's; at most `ProtocolLimits.name` bytes of UTF-8.
    package var group: String
    package var record: StreamRecord

    package init(group: String, record: StreamRecord) {
      (self.group, self.record) = (group, record)
    }
  }

  /// Identifies a start of the machine: the monotonic clock means something else after another one.
  package var boot: Identifier
  /// The identifier of the sender's key.
  package var senderID: Identifier
  /// For how long the machine had slept since it started, when this was written.
  package var slept: Nanoseconds
  package var streams: [Stream]

  package init(
    boot: Identifier, senderID: Identifier, slept: Nanoseconds, streams: [Stream]
  ) {
    (self.boot, self.senderID, self.slept, self.streams) = (boot, senderID, slept, streams)
  }
}
