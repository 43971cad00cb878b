package import Clock
import WireProtocol

/// A group at one instant, as programs read it: the only form in which a `GroupStatus` leaves the process. Times are in
/// seconds, errors in microseconds and drifts in ppm, unless the name says otherwise.
package struct StatusReport: Codable, Hashable, Sendable {
  package struct Room: Codable, Hashable, Sendable {
    /// The room's own state, or the reason why it tells none.
    package enum State: String, Codable, Sendable {
      case idle, priming, ready, playing, starved, paused, noDevice
      case connecting, away
      /// Another sender has it.
      case taken
    }

    package var name: String
    package var state: State
    package var detail: String?
    /// Reason why the room does not play; nil if nothing prevents it.
    package var reason: RoomReason?
    package var volume: Double?
    package var muted: Bool?
    package var delayMs: Double?
    package var channels: String?
    /// Nil where its receiver keeps none.
    package var volumeLimit: Double?
    package var isVolumeLimitFixed: Bool?
    /// Nil where its receiver keeps none.
    package var sound: SoundReport?
    /// The codec of the small encoding that it gets, such as `opus`, because its network carries less than the music takes.
    package var smallEncoding: String?
    /// Present while the room is connected.
    package var sync: RoomSync?
  }

  /// Revision of the last event before this status.
  package var revision: UInt64
  package var state: GroupStatus.State
  package var item: String?
  package var title: String?
  package var artist: String?
  package var album: String?
  package var albumArtist: String?
  package var track: Int?
  package var disc: Int?
  package var date: String?
  /// A type such as `image/jpeg`; nil if the item has no picture.
  package var artworkType: String?
  package var artworkBytes: Int?
  /// Path of a file with the picture, as soon as the item sounds.
  package var artworkPath: String?
  package var itemNumber: Int
  package var itemCount: Int
  /// The item that plays next. Title, artist and length are known once it has been opened.
  package var nextItem: String?
  package var nextTitle: String?
  package var nextArtist: String?
  package var nextDurationS: Double?
  /// The last item that could not be played, until the second one after it begins or somebody chooses an item.
  package var failed: FailedItem?
  /// Seconds until the sleep timer stops the music.
  package var sleepInS: Double?
  package var `repeat`: Playlist.Repetition
  package var positionS: Double
  /// Target of the present seek.
  package var targetS: Double?
  /// Time at which that position sounds: nanoseconds of CLOCK_MONOTONIC_RAW, and of CLOCK_MONOTONIC. Nil unless media
  /// time runs.
  package var presentationTimeNs: Int64?
  package var presentationTimeMonotonicNs: Int64?
  /// Time from a command to its sound.
  package var outputLatencyMs: Double
  /// For live sources, the time from a frame's arrival to its sound; and the room for which it was chosen.
  package var liveLatencyMs: Double?
  package var latencyRoom: String?
  /// Nil if the item does not tell it and more of it may come.
  package var durationS: Double?
  /// Length of the item's audio that has arrived, from its beginning.
  package var arrivedS: Double?
  package var producedS: Double
  /// The first kept position of a station that can be heard again, and where somebody would be who has just tuned in.
  package var keptFromS: Double?
  package var liveS: Double?
  /// How much later than that the group plays; absent if it does not.
  package var behindLiveS: Double?
  /// State of waiting for the source; nil unless the group waits for it.
  package var buffering: BufferingReport?
  /// Seconds of the item that pass per second while it plays.
  package var rate: Double
  package var effects: EffectsReport
  package var rooms: [Room]

  /// - Parameter monotonic: nanoseconds of CLOCK_MONOTONIC at a local time.
  package init(
    _ status: GroupStatus, revision: UInt64, artworkPath: String?,
    monotonic: (LocalTime) -> Int64?
  ) {
    self.revision = revision
    state = status.state
    item = status.item?.item.location
    title = status.item?.metadata.title
    artist = status.item?.metadata.artist
    let metadata = status.item?.metadata
    (album, albumArtist) = (metadata?.album, metadata?.albumArtist)
    (track, disc, date) = (metadata?.track, metadata?.disc, metadata?.date)
    artworkType = metadata?.artwork?.mimeType
    artworkBytes = metadata?.artwork?.bytes.count
    self.artworkPath = artworkPath
    itemNumber = status.itemNumber
    itemCount = status.itemCount
    `repeat` = status.repetition
    positionS = status.position.seconds.rounded(to: 9)
    presentationTimeNs = status.presentationTime?.nanoseconds
    presentationTimeMonotonicNs = status.presentationTime.flatMap(monotonic)
    outputLatencyMs = (status.outputLatency.seconds * 1000).rounded(to: 3)
    liveLatencyMs = status.liveLatency.map { ($0.seconds * 1000).rounded(to: 3) }
    latencyRoom = status.rooms.first { $0.id == status.latencyDecider }?.name
    targetS = status.target?.seconds.rounded(to: 9)
    durationS = status.duration?.seconds.rounded(to: 9)
    arrivedS = status.arrived?.seconds.rounded(to: 9)
    producedS = status.produced.seconds.rounded(to: 6)
    keptFromS = status.kept?.from.seconds.rounded(to: 3)
    liveS = status.kept?.live.seconds.rounded(to: 3)
    behindLiveS = status.kept?.lateness(at: status.target ?? status.position)?.seconds
      .rounded(to: 3)
    nextItem = status.next?.item.location
    nextTitle = status.next?.opened?.metadata.title ?? status.next?.item.title
    nextArtist = status.next?.opened?.metadata.artist
    nextDurationS = status.next?.opened?.duration?.seconds.rounded(to: 9)
    buffering = status.buffering.map(BufferingReport.init)
    rate = status.rate
    effects = EffectsReport(status.effects)
    rooms = status.rooms.map(Room.init)
  }
}

/// An item that could not be played, or not to its end.
package struct FailedItem: Codable, Hashable, Sendable {
  package var entryId: Int
  package var title: String
  /// A few words, without the item's name.
  package var problem: String

  package init(entryId: Int, title: String, problem: String) {
    (self.entryId, self.title, self.problem) = (entryId, title, problem)
  }
}

/// The audio that is available, and that needed for the music to continue.
package struct BufferingReport: Codable, Hashable, Sendable {
  package var arrivedS: Double
  package var neededS: Double

  package init(_ buffering: Buffering) {
    arrivedS = buffering.arrived.seconds.rounded(to: 6)
    neededS = buffering.needed.seconds.rounded(to: 6)
  }
}

/// The effects last set by `tutti effects`, or by the keys of `tutti play`.
package struct EffectsReport: Codable, Hashable, Sendable {
  package var rate: Double
  /// In semitones.
  package var pitch: Double
  /// In LUFS.
  package var loudness: Double?
  /// Absent if items do not fade into each other.
  package var crossfadeS: Double?
  package var filters: [SoundFilter]

  package init(_ effects: Effects) {
    crossfadeS = effects.crossfade > 0 ? effects.crossfade : nil
    (rate, pitch) = (effects.rate, effects.pitch)
    (loudness, filters) = (effects.loudness, effects.filters)
  }
}

/// The reason why a room does not play, for programs, which have words of their own.
package struct RoomReason: Codable, Hashable, Sendable {
  package enum Code: String, CaseIterable, Codable, Sendable {
    case unreachable, gone, busy, taken, lent, notPaired, otherVersion, misbehaving, refused
    /// The room has no working sound card.
    case noDevice
    /// The room has nothing to play, because its network is slower than the music.
    case slowNetwork
  }

  package var code: Code
  /// The sender that has the room, as it calls itself.
  package var holder: String?

  package init(_ code: Code, holder: String? = nil) { (self.code, self.holder) = (code, holder) }

  package init(_ trouble: RoomTrouble) {
    code =
      switch trouble {
      case .unreachable: .unreachable
      case .gone: .gone
      case .busy: .busy
      case .taken: .taken
      case .lent: .lent
      case .notPaired: .notPaired
      case .otherVersion: .otherVersion
      case .misbehaving: .misbehaving
      case .refused: .refused
      }
    holder = trouble.holder
  }
}

extension RoomTrouble {
  /// True if the room exists, and another sender has it.
  package var isOccupied: Bool {
    switch self {
    case .busy, .taken, .lent: true
    case .unreachable, .gone, .notPaired, .otherVersion, .misbehaving, .refused: false
    }
  }
}

extension GroupStatus.State: Codable {}

extension StatusReport.Room.State {
  init(_ state: RoomStatus.State) {
    self =
      switch state {
      case .idle: .idle
      case .priming: .priming
      case .ready: .ready
      case .playing: .playing
      case .starved: .starved
      case .paused: .paused
      case .noDevice: .noDevice
      }
  }
}

extension StatusReport.Room {
  package init(_ room: GroupStatus.Room) {
    name = room.name
    switch room.connection {
    case .connecting: state = .connecting
    case .away(let detail):
      (state, self.detail) = (room.trouble?.isOccupied == true ? .taken : .away, detail)
      reason = room.trouble.map { RoomReason($0) }
    case .connected(let status):
      state = .init(status.state)
      detail = status.detail.isEmpty ? nil : status.detail
      sync = RoomSync(status)
    }
    smallEncoding = room.smallEncoding?.name
    guard let settings = room.settings else { return }
    volume = Double(settings.volume) / 10
    muted = settings.isMuted
    delayMs = (settings.delay.seconds * 1000).rounded(to: 3)
    channels = "\(settings.channelMap)"
    volumeLimit = settings.volumeLimit.map { Double($0.volume) / 10 }
    isVolumeLimitFixed = settings.volumeLimit?.isFixed
    sound = settings.sound.map { SoundReport($0, hasFIR: settings.hasFIR) }
  }
}

extension Double {
  /// Returns the number rounded to `digits` decimal places, which also shortens it in JSON: 15.000000000000002 becomes
  /// 15.
  package func rounded(to digits: Int) -> Double {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let result = (self * scale).rounded() / scale
    // Adding 0 removes a negative zero.
    return result.isFinite ? result + 0 : self
  }
}

extension MediaDuration {
  /// Converts seconds, within the range of an `Int64` of flicks.
  package init(seconds: Double) {
    let limit = 4e8
    let bounded = seconds.isNaN ? 0 : Swift.min(Swift.max(seconds, -limit), limit)
    self.init(flicks: Int64(bounded * Double(Self.flicksPerSecond)))
  }
}
