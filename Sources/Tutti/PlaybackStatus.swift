internal import Clock
internal import Sender
internal import WireProtocol

/// The state of a player or renderer at one instant.
public struct PlaybackStatus: Hashable, Sendable {
  public enum State: Hashable, Sendable {
    /// It wants to play, and waits for rooms or audio.
    case starting
    case playing
    /// All rooms stand still, because the source delivers too late. They continue by themselves.
    case buffering
    case paused
    /// There is nothing to play.
    case stopped
    case closed
  }

  /// The source of all properties.
  let status: GroupStatus
  public let rooms: [RoomStatus]

  init(_ status: GroupStatus, name: (RoomID) -> Room.ID) {
    self.status = status
    rooms = status.rooms.map { RoomStatus(id: name($0.id), room: $0) }
  }

  public var state: State { State(status.state) }

  /// Position in the current item, or on the timeline of a renderer.
  public var position: PlaybackTime { PlaybackTime(status.position) }
  /// Time at which `position` sounds in all rooms; nil unless playing. Together with `rate` it gives the position of
  /// the sound at any other time.
  public var presentationTime: HostTime? { status.presentationTime.map(HostTime.init) }
  /// Seconds of the item per second while it plays.
  public var rate: Double { status.rate }
  /// Time from a command to its sound, in all rooms at once.
  public var outputLatency: Duration { Duration(status.outputLatency) }
  /// Length of the audio that is enqueued beyond the sounding position.
  public var enqueued: Duration { Duration(status.produced) }
  /// Length of the audio that must be enqueued before playback starts or continues; nil unless it waits for its
  /// source.
  public var needed: Duration? { status.buffering.map { Duration($0.needed) } }
}

extension PlaybackStatus.State {
  init(_ state: GroupStatus.State) {
    self =
      switch state {
      case .starting: .starting
      case .playing: .playing
      case .buffering: .buffering
      case .paused: .paused
      case .stopped: .stopped
      case .finished: .closed
      }
  }
}

/// The state of one room, as last reported: about once a second.
public struct RoomStatus: Hashable, Sendable, Identifiable {
  public enum State: Hashable, Sendable {
    case connecting
    /// The room cannot be reached, or refuses; `detail` tells the reason.
    case away
    case idle
    /// Getting ready.
    case priming
    case ready
    case playing
    case paused
    /// The room should play, but has no audio.
    case starved
    /// The room's sound device is missing; `detail` tells the reason.
    case noDevice
  }

  public enum Channels: Hashable, Sendable {
    case stereo
    /// Only this channel of the two, on all speakers.
    case left
    case right
    /// Both channels, mixed.
    case mono
  }

  /// The settings of one room that a user can change.
  public struct Settings: Hashable, Sendable {
    let settings: RoomSettings

    /// 0 (silent) to 1 (full), perceptual.
    public var volume: Double { Double(settings.volume) / 1000 }
    /// The highest volume that the room takes from anybody; 1 limits nothing.
    public var volumeLimit: Double { Double(settings.volumeLimit?.volume ?? 1000) / 1000 }
    public var isMuted: Bool { settings.isMuted }
    /// Positive: the room sounds later than the others.
    public var delay: Duration { Duration(settings.delay) }
    public var channels: Channels {
      switch settings.channelMap {
      case .stereo: .stereo
      case .left: .left
      case .right: .right
      case .mono: .mono
      }
    }
    /// Nil if the receiver keeps none, which old ones do not.
    public var sound: RoomSound? { settings.sound.map { RoomSound($0) } }
    /// True if the receiver has a FIR filter.
    public var hasFIR: Bool { settings.hasFIR }
  }

  /// The room's distance from the schedule, which it measures against the actual output of its sound card.
  public struct SyncError: Hashable, Sendable {
    let error: SyncErrorStatistics

    /// Positive is early.
    public var now: Duration { Duration(error.now) }
    /// Median of the magnitudes, since the stream began in this room.
    public var median: Duration { Duration(error.median) }
    public var p99: Duration { Duration(error.p99) }
    public var maximum: Duration { Duration(error.maximum) }
  }

  /// The measurements that the room reports while it is connected.
  public struct Report: Hashable, Sendable {
    let status: WireProtocol.RoomStatus

    public var syncError: SyncError { SyncError(error: status.syncError) }
    /// Largest possible error of the room's estimate of this host's clock; nil while it has none.
    public var clockErrorBound: Duration? { status.knownErrorBound.map { Duration($0) } }
    public var roundTrip: Duration { Duration(status.roundTrip) }
    /// Audio in the room beyond the sounding position: its length, and its size in bytes of compressed audio.
    public var buffered: Duration { Duration(max(.zero, status.bufferedUntil - status.playhead)) }
    public var bufferedBytes: UInt64 { status.heldBytes }
    /// In parts per million: the clock of the room's machine against this one, and its card's against its machine's.
    public var clockDrift: Double { Double(status.clockDrift) / 1000 }
    public var deviceDrift: Double { Double(status.deviceDrift) / 1000 }
    /// Faults so far: underruns of the room's sound device, and packets of the present stream.
    public var underruns: Int { Int(status.underruns) }
    public var latePackets: Int { Int(status.latePackets) }
    public var lostPackets: Int { Int(status.lostPackets) }
    public var corruptPackets: Int { Int(status.corruptPackets) }
  }

  public let id: Room.ID
  let room: GroupStatus.Room

  public var name: String { room.name }
  public var state: State {
    switch room.connection {
    case .connecting: .connecting
    case .away: .away
    case .connected(let status): State(status.state)
    }
  }

  /// A description in words if `state` alone says too little; else empty.
  public var detail: String {
    switch room.connection {
    case .connecting: ""
    case .away(let reason): reason
    case .connected(let status): status.detail
    }
  }

  /// Nil before the first connection.
  public var settings: Settings? { room.settings.map { Settings(settings: $0) } }
  /// Nil unless connected.
  public var report: Report? {
    if case .connected(let status) = room.connection { Report(status: status) } else { nil }
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
