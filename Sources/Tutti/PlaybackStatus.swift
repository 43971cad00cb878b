internal import Clock
internal import Sender
internal import WireProtocol

/// A player or renderer at one instant.
public struct PlaybackStatus: Hashable, Sendable {
  public enum State: Hashable, Sendable {
    /// Wants to play, and waits for rooms or audio.
    case starting
    case playing
    /// All rooms stand still, because the source delivers later than it is to sound. They go on by themselves.
    case buffering
    case paused
    /// There is nothing to play.
    case stopped
    case closed
  }

  public let state: State
  /// In the current item, or on the timeline of a renderer.
  public let position: PlaybackTime
  /// When `position` sounds in all rooms; nil unless playing. Together with `rate` it tells where the sound is at any
  /// other instant.
  public let presentationTime: HostTime?
  /// Seconds of the item in one second while it plays.
  public let rate: Double
  /// From a command to its sound, in all rooms at once.
  public let outputLatency: Duration
  /// How far audio is enqueued beyond what sounds.
  public let enqueued: Duration
  /// How much must be enqueued for playback to start or to go on; nil unless it waits for its source.
  public let needed: Duration?
  public let rooms: [RoomStatus]
}

/// One room at one instant, as it told last: about once a second.
public struct RoomStatus: Hashable, Sendable, Identifiable {
  public enum State: Hashable, Sendable {
    case connecting
    /// Cannot be reached, or refuses; `detail` says why.
    case away
    case idle
    /// Getting ready.
    case priming
    case ready
    case playing
    case paused
    /// Should play, has nothing to play.
    case starved
    /// Its sound device is not there; `detail` says why.
    case noDevice
  }

  public enum Channels: Hashable, Sendable {
    case stereo
    /// Only this channel of the two, on all speakers.
    case left
    case right
    /// Both, mixed.
    case mono
  }

  /// What the user can set for one room.
  public struct Settings: Hashable, Sendable {
    /// 0 (silent) to 1 (full), perceptual.
    public let volume: Double
    public let isMuted: Bool
    /// Positive: sounds later than the others.
    public let delay: Duration
    public let channels: Channels
  }

  /// Distance from the schedule. The room measures it, against what its sound card has really played.
  public struct SyncError: Hashable, Sendable {
    /// Positive is early.
    public let now: Duration
    /// Of magnitudes, since the room was connected.
    public let median: Duration
    public let p99: Duration
    public let maximum: Duration
  }

  /// What the room tells while it is connected.
  public struct Report: Hashable, Sendable {
    public let syncError: SyncError
    /// How far off the room's idea of this host's clock may be; hours while it has none.
    public let clockErrorBound: Duration
    public let roundTrip: Duration
    /// What it holds beyond what sounds, and in bytes of compressed audio.
    public let buffered: Duration
    public let bufferedBytes: UInt64
    /// Parts per million: its machine's clock against this one, its card's against its machine's.
    public let clockDrift: Double
    public let deviceDrift: Double
    /// Since it was connected.
    public let underruns: Int
    public let latePackets: Int
    public let lostPackets: Int
    public let corruptPackets: Int
  }

  public let id: Room.ID
  public let name: String
  public let state: State
  /// In people's words where `state` does not say it all; else empty.
  public let detail: String
  /// Nil before the first connection.
  public let settings: Settings?
  /// Nil unless connected.
  public let report: Report?
}

// MARK: - From the session

extension PlaybackStatus {
  init(_ status: GroupStatus, name: (RoomID) -> Room.ID) {
    state =
      switch status.state {
      case .starting: .starting
      case .playing: .playing
      case .buffering: .buffering
      case .paused: .paused
      case .stopped: .stopped
      case .finished: .closed
      }
    position = PlaybackTime(status.position)
    presentationTime = status.presentationTime.map(HostTime.init)
    rate = status.rate
    outputLatency = Duration(status.outputLatency)
    enqueued = Duration(status.produced)
    needed = status.buffering.map { Duration($0.needed) }
    rooms = status.rooms.map { RoomStatus($0, id: name($0.id)) }
  }
}

extension RoomStatus {
  init(_ room: GroupStatus.Room, id: Room.ID) {
    self.id = id
    name = room.name
    settings = room.settings.map(Settings.init)
    switch room.connection {
    case .connecting: (state, detail, report) = (.connecting, "", nil)
    case .away(let reason): (state, detail, report) = (.away, reason, nil)
    case .live(let status):
      (state, detail, report) = (State(status.state), status.detail, Report(status))
    }
  }
}

extension RoomStatus.State {
  init(_ state: WireProtocol.RoomStatus.State) {
    self =
      switch state {
      case .idle: .idle
      case .priming: .priming
      case .ready: .ready
      case .playing: .playing
      case .paused: .paused
      case .starved: .starved
      case .noDevice: .noDevice
      }
  }
}

extension RoomStatus.Settings {
  init(_ settings: RoomSettings) {
    volume = Double(settings.volume) / 1000
    isMuted = settings.isMuted
    delay = Duration(settings.delay)
    channels =
      switch settings.channelMap {
      case .stereo: .stereo
      case .left: .left
      case .right: .right
      case .mono: .mono
      }
  }
}

extension RoomStatus.Channels {
  var map: RoomSettings.ChannelMap {
    switch self {
    case .stereo: .stereo
    case .left: .left
    case .right: .right
    case .mono: .mono
    }
  }
}

extension RoomStatus.Report {
  init(_ status: WireProtocol.RoomStatus) {
    syncError = .init(
      now: Duration(status.syncError.now), median: Duration(status.syncError.median),
      p99: Duration(status.syncError.p99), maximum: Duration(status.syncError.maximum))
    clockErrorBound = Duration(status.clockErrorBound)
    roundTrip = Duration(status.roundTrip)
    buffered = Duration(max(.zero, status.bufferedUntil - status.playhead))
    bufferedBytes = status.heldBytes
    clockDrift = Double(status.clockDrift) / 1000
    deviceDrift = Double(status.deviceDrift) / 1000
    underruns = Int(status.underruns)
    latePackets = Int(status.latePackets)
    lostPackets = Int(status.lostPackets)
    corruptPackets = Int(status.corruptPackets)
  }
}
