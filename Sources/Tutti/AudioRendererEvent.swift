internal import Driver
internal import Sender
internal import Synchronization
internal import WireProtocol

/// What happens to a renderer.
public enum AudioRendererEvent: Hashable, Sendable, RoomTelling {
  /// The first frame is about to sound.
  case started
  /// All that was enqueued before `finish` has sounded.
  case ended
  /// It cannot be encoded; one line for people.
  case failed(reason: String)
  /// The buffer of this time was enqueued when all of it should have sounded, by the time that runs: nobody hears it. `by`
  /// is how long before it should have ended. Said once, until a buffer comes in time again. Not said while time stands still,
  /// and after a flush not before a buffer has joined the time that runs.
  case late(PlaybackTime, by: Duration)
  case room(RoomEvent)

  var room: RoomEvent? { if case .room(let event) = self { event } else { nil } }

  /// Nil for what concerns nobody outside.
  init?(_ change: GroupEvent.Change, id: (RoomID) -> Room.ID) {
    switch change {
    case .room:
      guard let event = RoomEvent(change, id: id) else { return nil }
      self = .room(event)
    case .started: self = .started
    case .stopped: self = .ended
    case .itemFailed(_, let reason, _): self = .failed(reason: reason)
    default: return nil
    }
  }
}

extension AudioRenderer {
  public enum Status: Hashable, Sendable {
    /// Nothing has sounded yet.
    case waiting
    /// It has begun to sound, and goes on with the synchronizer's time.
    case rendering
    /// What was enqueued before `finish` has sounded.
    case ended
    /// It cannot be encoded; one line for people.
    case failed(reason: String)
    case closed
  }
}

/// A renderer's status and volume, and whether its buffers come in time.
final class StatusBox: Sendable {
  private struct State {
    var status = AudioRenderer.Status.waiting
    /// Nil while time stands still.
    var schedule: RateSchedule.Point?
    var pitchAlgorithm = AudioRenderer.TimePitchAlgorithm.timeDomain
    var isLate = false
    var volume = StreamVolume.full
  }

  private let state = Mutex(State())

  var status: AudioRenderer.Status { state.withLock { $0.status } }

  var volume: StreamVolume { state.withLock { $0.volume } }

  var pitchAlgorithm: AudioRenderer.TimePitchAlgorithm { state.withLock { $0.pitchAlgorithm } }

  func set(_ algorithm: AudioRenderer.TimePitchAlgorithm) {
    state.withLock { $0.pitchAlgorithm = algorithm }
  }

  func change(_ change: (inout StreamVolume) -> Void) -> StreamVolume {
    state.withLock { state in
      change(&state.volume)
      return state.volume
    }
  }

  func take(_ event: AudioRendererEvent) {
    state.withLock { state in
      switch event {
      case .started: state.status = .rendering
      case .ended: state.status = .ended
      case .failed(let reason): state.status = .failed(reason: reason)
      case .late, .room: break
      }
    }
  }

  func close() { state.withLock { $0.status = .closed } }

  /// On the engine's thread, whenever the schedule may have changed.
  func follow(_ schedule: RateSchedule.Point?) {
    state.withLock { $0.schedule = schedule }
  }

  /// How long ago a buffer that is enqueued now should have ended, where the one before was in time.
  func newLateness(ofEnd end: PlaybackTime, at now: HostTime) -> Duration? {
    state.withLock { state in
      guard let schedule = state.schedule else { return nil }
      let late = now - schedule.hostTime(of: end)
      defer { state.isLate = late > .zero }
      return late > .zero && !state.isLate ? late : nil
    }
  }
}
