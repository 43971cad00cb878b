package import Audio
package import Clock
package import WireProtocol

/// A room that the group plays in, as the driver numbers them. Never used twice.
package struct RoomID: Hashable, Comparable, Sendable {
  package var number: Int

  package init(_ number: Int) { self.number = number }

  package static func < (a: RoomID, b: RoomID) -> Bool { a.number < b.number }
}

/// Each has a connection of its own to a room, so that a pause never stands behind music.
package enum Channel: Hashable, Sendable {
  case control
  case media
}

extension GroupSession {
  /// Everything that can happen to a group.
  package enum Input {
    /// Play in this room as well. `receiverID`, where known, is the only receiver that is taken for it; the
    /// name is replaced by the one that the receiver gives itself.
    case roomAdded(RoomID, name: String, receiverID: Identifier?)
    /// Play in this room no more. Nothing more is said about it.
    case roomRemoved(RoomID)
    /// Discovery has seen the room: if it is not connected, now is the time to try.
    case roomSeen(RoomID)
    /// The user asks for the room though another sender has it.
    case roomTaken(RoomID)
    /// Another sender had taken it, and has let go of it.
    case roomFreed(RoomID)
    /// The machine slept for so long: its clock stood still, and the rooms played on.
    case resumedFromSuspend(after: Nanoseconds)
    case connected(RoomID, Channel, SecuredPeer, proof: [UInt8]? = nil)
    case received(RoomID, Channel, [UInt8])
    /// Could not connect, or was closed.
    case closed(RoomID, Channel, reason: String)
    /// All that was sent on the media connection has left, so that more may be sent.
    case drained(RoomID)
    /// Bytes of the room's media connection that TCP has not seen arrive.
    case measured(RoomID, waiting: Int)
    case produced(ProducedBatch)
    /// The answer to `makeSmall`.
    case madeSmall(SmallBatch)
    /// So much of the station at this address can be heard again; nil if nothing can.
    case kept(String, KeptStretch?)
    /// A datagram that the room has tagged; none that was sent before comes again.
    case asked(RoomID, LiveAsk)
    /// The answer is one `reply` with the same identifier, before anything else is taken.
    case command(CommandID, PlayerCommand)
    /// `nextDeadline` has come.
    case timeout
  }

  /// Everything that a group wants done, in this order.
  package enum Output: Equatable {
    /// The answer is `connected` or `closed`.
    case connect(RoomID, Channel)
    case send(RoomID, Channel, [UInt8])
    /// To where the room asked from last.
    case sendDatagram(RoomID, [UInt8])
    /// Close after what was sent has left; no `closed` follows.
    case close(RoomID, Channel)
    /// Orders are carried out one after the other, but some make those that wait obsolete:
    /// `ProductionOrder.supersedesWaiting`.
    case produce(ProductionOrder)
    /// Make small packets of those that are there, beside what is produced. The answer is `madeSmall`; none is needed for
    /// an order that another one with a higher attempt follows. Only where the configuration has a `smallCodec`.
    case makeSmall(SmallOrder)
    /// The live source is to come to this latency, as fast as nobody hears it.
    case hold(Nanoseconds)
    /// A process that takes over must know this; nil if nothing is left to take over. Only where the configuration says
    /// `isKept`.
    case keep(StreamRecord?)
    /// A room obeys a daemon of this higher term.
    case outdated(by: Term)
    /// The result of a command.
    case reply(CommandID, CommandReply)
    /// For the display and the log.
    case event(SenderEvent)
  }
}

/// One entry of what is to be played. Has an identity of its own, so that one file may stand twice.
package struct PlayItem: Hashable, Sendable {
  package var id: Int
  /// A path, or `-` for standard input.
  package var location: String
  /// Title in the list that named it.
  package var title: String?
  /// The hosts to which an address may lead.
  package var reach: SourceReach

  package init(id: Int, location: String, title: String? = nil, reach: SourceReach = .all) {
    (self.id, self.reach) = (id, reach)
    self.location = location
    self.title = title
  }
}

/// An order to the producer.
package enum ProductionOrder: Hashable, Sendable {
  /// Opens an item; what it gives begins at `mediaTime`, or as little later as its sample rate asks for.
  case begin(Beginning)
  /// Goes on for about this long.
  case more(MediaDuration, generation: UInt32)
  /// The rooms decode only these by now: where what is under way goes to them in another codec, it goes on in one that
  /// they do, without being opened anew.
  case recode(CodecSet, generation: UInt32)
  /// There is no further item: give what is held back.
  case finish(generation: UInt32)
  /// Everything from this media time on is obsolete, and nothing is known that follows. `end` was to fade out there, and
  /// is held back anew.
  case leave(from: MediaTime, generation: UInt32, end: Fading? = nil)

  package struct Beginning: Hashable, Sendable {
    package var item: PlayItem
    /// How far into the item.
    package var position: MediaDuration
    package var mediaTime: MediaTime
    package var generation: UInt32
    /// Effects that are applied to its sound.
    package var effects = Effects()
    /// Locations of the items before and after it.
    package var neighbours: [String] = []
    /// True if it continues the audio produced last, without a gap if the formats allow. Otherwise everything from
    /// `mediaTime` on is obsolete.
    package var continues: Bool
    /// The codecs that all rooms decode.
    package var codecs = CodecSet.all
    /// True if it continues the audio before it in another codec.
    package var isRecoding = false
    /// The end of another item that comes first, and fades out over this one. Only if it does not continue.
    package var fading: Fading?
    /// True if `position` counts from where somebody has left it, if there is such a place.
    package var resumes = false
  }

  /// The end of an item, which is taken from its source again to fade out.
  package struct Fading: Hashable, Sendable {
    package var item: PlayItem
    package var position: MediaDuration
    /// Media time up to its end.
    package var span: MediaDuration
    /// The part of the fade that came before; zero if it has not begun.
    package var elapsed = MediaDuration.zero
    package var effects = Effects()
    package var neighbours: [String] = []
  }

  /// The media time from which on everything is produced anew; nil if the order goes on with what is there.
  package var cut: MediaTime? {
    switch self {
    case .begin(let beginning): beginning.continues ? nil : beginning.mediaTime
    case .leave(let time, _, _): time
    case .more, .finish, .recode: nil
    }
  }

  /// True if orders that still wait need not be carried out any more.
  package var supersedesWaiting: Bool { cut != nil }
}

/// The audio that the producer made from one order.
package struct ProducedBatch: Hashable, Sendable {
  package var generation: UInt32
  package var steps: [Step]
  /// Latency of a live source when it gave this; nil for other sources.
  package var heldLatency: Nanoseconds?

  package enum Step: Hashable, Sendable {
    /// The item is open and its first frame sounds at `mediaTime`.
    case opened(OpenedItem, at: MediaTime)
    /// The item has other metadata from this time on, such as a radio station that plays the next song.
    case metadata(OpenedItem, at: MediaTime)
    case format(id: UInt16, StreamFormat)
    case packet(ProducedPacket)
    /// All of the item is produced; the next one begins at `mediaTime`.
    case itemEnded(at: MediaTime)
    /// The item cannot be played (any further).
    case failed(PlayItem, MediaError, at: MediaTime)
    /// After `finish`: nothing more comes.
    case finished(at: MediaTime)
  }

  package init(generation: UInt32, steps: [Step], heldLatency: Nanoseconds? = nil) {
    self.heldLatency = heldLatency
    self.generation = generation
    self.steps = steps
  }
}

package struct OpenedItem: Hashable, Sendable {
  package var item: PlayItem
  /// Nil where it is not known.
  package var duration: MediaDuration?
  /// How far into the item the first frame is.
  package var position: MediaDuration
  /// False for what is live or can only be read from its beginning to its end.
  package var isSeekable: Bool
  package var metadata: ItemMetadata
  /// Seconds of the item in one second of media time.
  package var rate = 1.0
  /// Nil where nothing is known of it.
  package var wire: WireChoice?
  package var supply = Supply.stored
  /// Nil unless it is heard as it happens.
  package var live: LiveTiming?
  /// The item before, if that fades out over the beginning of this one.
  package var fade: Fade?
  /// The longest time over which this item fades out.
  package var fadeOut = MediaDuration.zero

  /// An item that fades out over the beginning of another.
  package struct Fade: Hashable, Sendable {
    package var item: PlayItem
    /// Position in it at the first frame of the other.
    package var position: MediaDuration
    /// Seconds of it in one second of media time.
    package var rate = 1.0
    /// Media time from the first frame of the other until it has ended.
    package var length: MediaDuration
    /// The part of the fade that came before.
    package var elapsed = MediaDuration.zero

    /// Returns the position in the item that fades out `span` after the first frame of the other.
    func position(after span: MediaDuration) -> MediaDuration {
      position + span.scaled(by: rate)
    }
  }

  /// Returns the span for which `position(after:)` gives `position`; negative before the first frame.
  func span(to position: MediaDuration) -> MediaDuration {
    let span = position - self.position
    return rate > 0 ? span.scaled(by: 1 / rate) : span
  }

  /// Returns the position in the item `span` after its first frame sounded.
  func position(after span: MediaDuration) -> MediaDuration {
    position + span.scaled(by: rate)
  }
}

package struct ProducedPacket: Hashable, Sendable {
  /// The one in which its run was begun: the end of a run may come after a cut that lies behind it.
  package var generation: UInt32
  package var mediaTime: MediaTime
  package var formatID: UInt16
  package var startsRun: Bool
  package var endsStream: Bool
  package var duration: MediaDuration
  package var encoded: EncodedPacket
}
