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

  /// All that is told here is a view of this.
  let status: GroupStatus
  public let rooms: [RoomStatus]

  init(_ status: GroupStatus, name: (RoomID) -> Room.ID) {
    self.status = status
    rooms = status.rooms.map { RoomStatus(id: name($0.id), room: $0) }
  }

  public var state: State {
    switch status.state {
    case .starting: .starting
    case .playing: .playing
    case .buffering: .buffering
    case .paused: .paused
    case .stopped: .stopped
    case .finished: .closed
    }
  }

  /// In the current item, or on the timeline of a renderer.
  public var position: PlaybackTime { PlaybackTime(status.position) }
  /// When `position` sounds in all rooms; nil unless playing. Together with `rate` it tells where the sound is at any
  /// other instant.
  public var presentationTime: HostTime? { status.presentationTime.map(HostTime.init) }
  /// Seconds of the item in one second while it plays.
  public var rate: Double { status.rate }
  /// From a command to its sound, in all rooms at once.
  public var outputLatency: Duration { Duration(status.outputLatency) }
  /// How far audio is enqueued beyond what sounds.
  public var enqueued: Duration { Duration(status.produced) }
  /// How much must be enqueued for playback to start or to go on; nil unless it waits for its source.
  public var needed: Duration? { status.buffering.map { Duration($0.needed) } }
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
    let settings: RoomSettings

    /// 0 (silent) to 1 (full), perceptual.
    public var volume: Double { Double(settings.volume) / 1000 }
    public var isMuted: Bool { settings.isMuted }
    /// Positive: sounds later than the others.
    public var delay: Duration { Duration(settings.delay) }
    public var channels: Channels {
      switch settings.channelMap {
      case .stereo: .stereo
      case .left: .left
      case .right: .right
      case .mono: .mono
      }
    }
  }

  /// Distance from the schedule. The room measures it, against what its sound card has really played.
  public struct SyncError: Hashable, Sendable {
    let error: SyncErrorStatistics

    /// Positive is early.
    public var now: Duration { Duration(error.now) }
    /// Of magnitudes, since the room was connected.
    public var median: Duration { Duration(error.median) }
    public var p99: Duration { Duration(error.p99) }
    public var maximum: Duration { Duration(error.maximum) }
  }

  /// What the room tells while it is connected.
  public struct Report: Hashable, Sendable {
    let status: WireProtocol.RoomStatus

    public var syncError: SyncError { SyncError(error: status.syncError) }
    /// How far off the room's idea of this host's clock may be; nil while it has none.
    public var clockErrorBound: Duration? { status.knownErrorBound.map { Duration($0) } }
    public var roundTrip: Duration { Duration(status.roundTrip) }
    /// What it holds beyond what sounds, and in bytes of compressed audio.
    public var buffered: Duration { Duration(max(.zero, status.bufferedUntil - status.playhead)) }
    public var bufferedBytes: UInt64 { status.heldBytes }
    /// Parts per million: its machine's clock against this one, its card's against its machine's.
    public var clockDrift: Double { Double(status.clockDrift) / 1000 }
    public var deviceDrift: Double { Double(status.deviceDrift) / 1000 }
    /// Since it was connected.
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
    case .live(let status): State(status.state)
    }
  }

  /// In people's words where `state` does not say it all; else empty.
  public var detail: String {
    switch room.connection {
    case .connecting: ""
    case .away(let reason): reason
    case .live(let status): status.detail
    }
  }

  /// Nil before the first connection.
  public var settings: Settings? { room.settings.map { Settings(settings: $0) } }
  /// Nil unless connected.
  public var report: Report? {
    if case .live(let status) = room.connection { Report(status: status) } else { nil }
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
