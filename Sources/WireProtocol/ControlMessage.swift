package import Audio
package import Clock

/// The messages between sender and receiver on the control connection. See docs/protocol/control-messages.md.
package enum ControlMessage: Hashable, Sendable {
  // From the sender.
  /// Opens a session; the first message on a control connection.
  case hello(Hello)
  /// Comes before `hello`: the sender can read what only this receiver's own user can. 32 bytes.
  case prove([UInt8])
  /// Says which media time sounds from which group time on.
  case anchor(Anchor)
  /// Discards everything at and after a media time; later packets have a new generation.
  case flush(Flush)
  /// Volume, mute, delay, channel map and volume limit of this room.
  case settings(RoomSettings)
  /// The sound that this room keeps: equalizer, tone, crossover and more.
  case sound(SoundSetting)
  /// Volume of the stream in all rooms, on top of their own settings.
  case streamVolume(StreamVolume)
  /// Says which item plays from a media time on.
  case nowPlaying(NowPlaying)
  /// The stream's packets come as datagrams from now on; nil if they no longer do.
  case live(LiveStream?)
  /// Describes a short sound that is to be mixed over what plays.
  case clip(ClipOffer)
  case clipPiece(ClipPiece)
  /// Says when a clip sounds, or that it does not.
  case clipTime(ClipTime)
  /// The sender is alive; sent after a while without other messages.
  case keepAlive

  // From the receiver.
  /// Answers `hello`.
  case welcome(Welcome)
  /// Refuses `hello`; the receiver closes the connection after it.
  case refuse(Refusal)
  /// Says how much more the sender may send on the media connection.
  case credit(Credit)
  /// Answers `flush`.
  case flushed(Flushed)
  /// The receiver lost buffered audio by itself; the sender sends it again from there.
  case flushedAutomatically(Flushed)
  /// State and figures of this room, once a second and at each change of `state`.
  case status(RoomStatus)
  /// Codecs that the receiver decodes from now on; replaces the list in its `welcome`.
  case codecs([Codec])
  /// Reports how the packets of a live stream arrive.
  case liveReport(LiveReport)
  /// Says how far this room is with a clip.
  case clipState(ClipState)

  // From either.
  /// Ends the session, and says why.
  case goodbye(Goodbye)
}

/// Volume of the whole stream, which rooms do not remember.
package struct StreamVolume: Hashable, Sendable {
  /// 0 (silent) to 1000 (full), perceptual, like that of a room.
  package var volume: UInt16
  package var isMuted: Bool
  /// Nil if it is the same all the time.
  package var rise: Rise?

  /// A volume that grows from little to what is set.
  package struct Rise: Hashable, Sendable {
    /// The least share of the volume.
    package static let least = 0.3

    package var begin: GroupTime
    package var span: Nanoseconds

    package init(begin: GroupTime, span: Nanoseconds) { (self.begin, self.span) = (begin, span) }

    package var end: GroupTime { begin + span }

    /// Returns the share of the volume that counts at `time`, from `least` to 1.
    package func share(at time: GroupTime) -> Double {
      guard begin < time else { return Self.least }
      guard time < end else { return 1 }
      let done = Double((time - begin).count) / Double(span.count)
      return Self.least + (1 - Self.least) * done
    }
  }

  package static let full = StreamVolume(volume: 1000, isMuted: false)

  package init(volume: UInt16, isMuted: Bool) {
    self.volume = volume
    self.isMuted = isMuted
  }
}

/// The identity of a sender or a receiver: the first sixteen bytes of SHA-256 of its public identity key.
package struct Identifier: Hashable, Sendable {
  package static let byteCount = 16
  /// Always `byteCount` bytes.
  package let bytes: [UInt8]

  /// Nil unless there are sixteen bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }
}

package struct Hello: Hashable, Sendable {
  package static let usualPriority: UInt8 = 100

  /// The newest protocol version that the sender speaks.
  package var version: UInt16
  package var senderID: Identifier
  /// For people: the name that a busy receiver tells others. At most `ProtocolLimits.name` bytes of UTF-8.
  package var senderName: String
  /// Names this session; the media connection refers to it.
  package var session: UInt64
  /// Names the sender's clock. A sender that restarts has another one, unless it goes on with a stream.
  package var clockID: UInt64
  /// The UDP port on which the sender answers time requests.
  package var clockPort: UInt16
  /// True if the sender asks for the room even if it is kept for another sender.
  package var takesOver: Bool
  /// True if the sender that loses the room to this one gets it back afterwards.
  package var givesBack: Bool
  /// If the receiver goes by priority, the sender with the higher one has the room.
  package var priority: UInt8
  /// The term in which this daemon leads its household; 0 if it has no second one.
  package var term: Term

  package init(
    version: UInt16, senderID: Identifier, senderName: String, session: UInt64, clockID: UInt64,
    clockPort: UInt16, takesOver: Bool = false, givesBack: Bool = false,
    priority: UInt8 = Hello.usualPriority, term: Term = 0
  ) {
    self.term = term
    self.takesOver = takesOver
    self.givesBack = givesBack
    self.priority = priority
    self.version = version
    self.senderID = senderID
    self.senderName = senderName
    self.session = session
    self.clockID = clockID
    self.clockPort = clockPort
  }
}

package struct Welcome: Hashable, Sendable {
  package var version: UInt16
  package var receiverID: Identifier
  package var name: String
  package var model: String
  /// Capacity of the deep buffer: bytes of packets with their headers, and media time.
  package var capacity: Capacity
  /// Codecs that the receiver decodes. Decoding a welcome leaves out unknown codecs of a later version.
  package var codecs: [Codec]
  /// The settings as this room remembers them; the sender shows them and may change them.
  package var settings: RoomSettings
  /// The audio of an earlier session with the same clock that the deep buffer still holds.
  package var held: HeldStream?
  /// Music of another sender, or of the same one before a restart, that this session has ended.
  package var dropped: DroppedStream?
  /// True if the room mixes clips over what it plays.
  package var playsClips: Bool

  package init(
    version: UInt16, receiverID: Identifier, name: String, model: String, capacity: Capacity,
    codecs: [Codec], settings: RoomSettings, held: HeldStream?, dropped: DroppedStream? = nil,
    playsClips: Bool = false
  ) {
    self.playsClips = playsClips
    self.dropped = dropped
    self.version = version
    self.receiverID = receiverID
    self.name = name
    self.model = model
    self.capacity = capacity
    self.codecs = codecs
    self.settings = settings
    self.held = held
  }
}

/// The place at which a sender continues after its connection broke.
package struct HeldStream: Hashable, Sendable {
  package var generation: UInt32
  /// The number of the first packet that is missing.
  package var nextSequence: UInt64
  /// The beginning of the oldest packet that is still held; audio before it has been played and discarded.
  package var from: MediaTime

  package init(generation: UInt32, nextSequence: UInt64, from: MediaTime) {
    self.generation = generation
    self.nextSequence = nextSequence
    self.from = from
  }
}

/// Music that a session has ended.
package struct DroppedStream: Hashable, Sendable {
  /// Duration of the music that had not been heard yet.
  package var unheard: MediaDuration
  /// For people: the name of the sender that had sent it. At most `ProtocolLimits.name` bytes of UTF-8.
  package var senderName: String

  package init(unheard: MediaDuration, senderName: String) {
    self.unheard = unheard
    self.senderName = senderName
  }
}

package struct Capacity: Hashable, Sendable {
  package var bytes: UInt64
  package var duration: MediaDuration

  package init(bytes: UInt64, duration: MediaDuration) {
    self.bytes = bytes
    self.duration = duration
  }
}

package struct Refusal: Hashable, Sendable {
  package enum Reason: UInt8, CaseIterable, Sendable {
    /// Another sender plays here; `detail` is its name.
    case busy = 1
    /// There is no protocol version in common; `detail` names the receiver's.
    case unsupportedVersion = 2
    /// The sender broke the protocol; `detail` says how.
    case protocolViolation = 3
    /// The sender is not paired with this receiver.
    case notPaired = 4
    /// The receiver obeys a higher `term` of this sender.
    case outdated = 5
    /// The receiver still hears the daemon of `term`, which is lower than the one that was said.
    case isLed = 6
    /// A reason of a later version; `detail` says which.
    case other = 0

    var isAboutTerms: Bool { self == .outdated || self == .isLed }
  }
  package var reason: Reason
  package var detail: String
  /// The term that the receiver obeys, where the reason is about terms; else 0.
  package var term: Term

  package init(reason: Reason, detail: String, term: Term = 0) {
    self.reason = reason
    self.detail = detail
    self.term = reason.isAboutTerms ? term : 0
  }
}

/// `limit` counts all bytes of the media connection since it was opened, so a lost or late credit does no harm.
package struct Credit: Hashable, Sendable {
  /// The sender may send until it has sent this many bytes in all.
  package var limit: UInt64
  /// The newest media time up to which the deep buffer holds everything without a hole, for display.
  package var bufferedUntil: MediaTime
  /// Bytes held now.
  package var heldBytes: UInt64

  package init(limit: UInt64, bufferedUntil: MediaTime, heldBytes: UInt64) {
    self.limit = limit
    self.bufferedUntil = bufferedUntil
    self.heldBytes = heldBytes
  }
}

package struct Flush: Hashable, Sendable {
  /// Everything at and after this media time is forgotten.
  package var from: MediaTime
  /// Later packets carry this generation, one more than before.
  package var generation: UInt32
  /// True if the cut is faded: yes for seek and skip, no if the new audio continues the old without a seam.
  package var isRamped: Bool
  /// True if the old audio fades out while the new one fades in, in the place of a ramp.
  package var isCrossed: Bool

  package init(from: MediaTime, generation: UInt32, isRamped: Bool, isCrossed: Bool = false) {
    self.from = from
    self.generation = generation
    self.isRamped = isRamped
    self.isCrossed = isCrossed
  }
}

package struct Flushed: Hashable, Sendable {
  package var generation: UInt32
  /// The actual cut: the requested time, or a later one if that had already been heard.
  package var from: MediaTime

  package init(generation: UInt32, from: MediaTime) {
    self.generation = generation
    self.from = from
  }
}

package struct RoomSettings: Hashable, Sendable {
  package enum ChannelMap: UInt8, CaseIterable, Sendable {
    case stereo = 1
    case left = 2
    case right = 3
    case mono = 4
  }
  /// 0 (silent) to 1000 (full), perceptual: the receiver maps it to a gain.
  package var volume: UInt16
  package var isMuted: Bool
  /// Positive: this room sounds later. Within ±`ProtocolLimits.roomDelay`.
  package var delay: Nanoseconds
  package var channelMap: ChannelMap
  /// From a sender, nil leaves the limit as it is; from a receiver, nil says that it keeps none.
  package var volumeLimit: VolumeLimit?
  /// The room does this to all that it plays; nil if its receiver keeps no sound. It travels in a message of its own.
  package var sound: SoundSetting?
  /// True if the receiver has a FIR filter.
  package var hasFIR = false

  package init(
    volume: UInt16, isMuted: Bool, delay: Nanoseconds, channelMap: ChannelMap,
    volumeLimit: VolumeLimit? = nil
  ) {
    self.volume = volume
    self.isMuted = isMuted
    self.delay = delay
    self.channelMap = channelMap
    self.volumeLimit = volumeLimit
  }

  /// Lowers the volume to the limit.
  package mutating func limitVolume() { volume = min(volume, volumeLimit?.volume ?? volume) }
}

/// The highest volume that a room takes from any sender.
package struct VolumeLimit: Hashable, Sendable {
  package static let full = VolumeLimit(ProtocolLimits.volumeLimit.upperBound)

  /// Within `ProtocolLimits.volumeLimit`; 1000 limits nothing.
  package var volume: UInt16
  /// True if the receiver's own user has fixed it, so that no sender can change it.
  package var isFixed: Bool

  package init(_ volume: UInt16, isFixed: Bool = false) {
    (self.volume, self.isFixed) = (volume, isFixed)
  }
}

package struct RoomStatus: Hashable, Sendable {
  package enum State: UInt8, CaseIterable, Sendable {
    /// Nothing to do.
    case idle = 1
    /// Getting ready: clock, device or audio still missing.
    case priming = 2
    /// Clock locked, device running, audio there: an anchor would be heard.
    case ready = 3
    case playing = 4
    case paused = 5
    /// Should play, but has no audio.
    case starved = 6
    /// The sound device is not there.
    case noDevice = 7
  }
  package var state: State
  /// For people: details that `state` does not tell, such as why there is no device. May be empty.
  package var detail: String
  /// The playhead. Meaningless unless playing or paused.
  package var playhead: MediaTime
  package var bufferedUntil: MediaTime
  package var heldBytes: UInt64
  package var syncError: SyncErrorStatistics
  /// Error bound of the clock estimate; very large if it is not locked.
  package var clockErrorBound: Nanoseconds
  package var knownErrorBound: Nanoseconds? {
    clockErrorBound.count < ProtocolLimits.span.upperBound ? clockErrorBound : nil
  }
  package var roundTrip: Nanoseconds
  /// Least time from the arrival of an anchor or a flush to its group time, so that it takes effect on time. The
  /// network is not counted. The sound device decides it, so it changes when another one is opened.
  package var commitHorizon: Nanoseconds
  /// Drifts in parts per billion (10⁻⁹): of this machine's clock against the sender's, and of the card's clock against
  /// this machine's.
  package var clockDrift: Int32
  package var deviceDrift: Int32
  /// Counts since the session began.
  package var underruns: UInt32
  package var latePackets: UInt32
  package var lostPackets: UInt32
  package var corruptPackets: UInt32

  package init(
    state: State, detail: String, playhead: MediaTime, bufferedUntil: MediaTime, heldBytes: UInt64,
    syncError: SyncErrorStatistics, clockErrorBound: Nanoseconds, roundTrip: Nanoseconds,
    commitHorizon: Nanoseconds, clockDrift: Int32, deviceDrift: Int32, underruns: UInt32,
    latePackets: UInt32, lostPackets: UInt32, corruptPackets: UInt32
  ) {
    self.state = state
    self.detail = detail
    self.playhead = playhead
    self.bufferedUntil = bufferedUntil
    self.heldBytes = heldBytes
    self.syncError = syncError
    self.clockErrorBound = clockErrorBound
    self.roundTrip = roundTrip
    self.commitHorizon = commitHorizon
    self.clockDrift = clockDrift
    self.deviceDrift = deviceDrift
    self.underruns = underruns
    self.latePackets = latePackets
    self.lostPackets = lostPackets
    self.corruptPackets = corruptPackets
  }
}

/// Distance of this room from the schedule; positive is early. Percentiles are of magnitudes, since the session began.
package struct SyncErrorStatistics: Hashable, Sendable {
  package var now: Nanoseconds
  package var median: Nanoseconds
  package var p99: Nanoseconds
  package var maximum: Nanoseconds

  package init(now: Nanoseconds, median: Nanoseconds, p99: Nanoseconds, maximum: Nanoseconds) {
    self.now = now
    self.median = median
    self.p99 = p99
    self.maximum = maximum
  }
}

package struct Goodbye: Hashable, Sendable {
  package enum Reason: UInt8, CaseIterable, Sendable {
    /// Playing is over, or the user stopped it; the receiver may drop what it holds.
    case finished = 1
    /// This side's program ends.
    case shutdown = 2
    /// The other side broke the protocol; `detail` says how.
    case protocolViolation = 3
    /// Nothing was heard from the other side for too long.
    case timeout = 4
    /// From a receiver: another sender has the room now; `detail` is its name. The sender does not come back by itself.
    case replaced = 5
    /// From a receiver: another sender has the room for a while; `detail` is its name. The sender asks for it again.
    case lent = 6
    /// From a receiver: the sender is not paired with it any more.
    case notPaired = 7
    /// A reason of a later version; `detail` says which.
    case other = 0
  }
  package var reason: Reason
  package var detail: String

  package init(reason: Reason, detail: String) {
    self.reason = reason
    self.detail = detail
  }
}
