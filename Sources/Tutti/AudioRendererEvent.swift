internal import Driver
internal import Sender
internal import Synchronization
internal import WireProtocol

/// An event of a renderer.
public enum AudioRendererEvent: Hashable, Sendable, RoomTelling {
  /// The first frame is about to sound.
  case started
  /// All audio enqueued before `finish` has sounded.
  case ended
  /// The audio cannot be encoded; one line for people.
  case failed(reason: String)
  /// The buffer with this time was enqueued after its end should have sounded, so it is not heard. `by` is the time
  /// since then. Sent once, until a buffer comes in time again. Not sent while time stands still, nor after a flush
  /// before a buffer has joined the running time.
  case late(PlaybackTime, by: Duration)
  case room(RoomEvent)

  var room: RoomEvent? { if case .room(let event) = self { event } else { nil } }

  /// Returns nil for changes that do not concern the program.
  init?(_ change: GroupEvent.Change, id: (RoomID) -> Room.ID) {
    switch change {
    case .group(.room(let room, let change)):
      guard let event = RoomEvent(room, change, id: id) else { return nil }
      self = .room(event)
    case .group(.started): self = .started
    case .group(.stopped): self = .ended
    case .group(.itemFailed(_, let error)): self = .failed(reason: error.description)
    default: return nil
    }
  }
}

extension AudioRenderer {
  public enum Status: Hashable, Sendable {
    /// Nothing has sounded yet.
    case waiting
    /// It has started to sound, and follows the synchronizer's time.
    case rendering
    /// All audio enqueued before `finish` has sounded.
    case ended
    /// The audio cannot be encoded; one line for people.
    case failed(reason: String)
    case closed
  }
}

/// A renderer's status and volume, and the punctuality of its buffers.
final class StatusBox: Sendable {
  private struct State {
    var status = AudioRenderer.Status.waiting
    /// Nil while time stands still.
    var schedule: RateSchedule.Point?
    var pitchAlgorithm = AudioRenderer.TimePitchAlgorithm.timeDomain
    var isLate = false
  }

  private let state = Mutex(State())

  var status: AudioRenderer.Status { state.withLock { $0.status } }

  var pitchAlgorithm: AudioRenderer.TimePitchAlgorithm { state.withLock { $0.pitchAlgorithm } }

  func set(_ algorithm: AudioRenderer.TimePitchAlgorithm) {
    state.withLock { $0.pitchAlgorithm = algorithm }
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

  /// Takes a new schedule. On the engine's thread, whenever the schedule may have changed.
  func follow(_ schedule: RateSchedule.Point?) {
    state.withLock { $0.schedule = schedule }
  }

  /// Returns how long ago a buffer that is enqueued now should have ended, if the one before was in time; else nil.
  func newLateness(ofEnd end: PlaybackTime, at now: HostTime) -> Duration? {
    state.withLock { state in
      guard let schedule = state.schedule else { return nil }
      let late = now - schedule.hostTime(of: end)
      defer { state.isLate = late > .zero }
      return late > .zero && !state.isLate ? late : nil
    }
  }
}
