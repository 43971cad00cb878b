internal import Clock
internal import Sender

/// A group that plays what a renderer's queue holds, on whatever clock: the engine's thread has one, and so have simulations.
/// The group of a renderer. Its buffers belong to one timeline, which begins with a generation of the session that
/// `SampleQueue` knows: only sources that were opened for it read the buffers, and only its sound lets them go.
protocol RenderGroup: AnyObject {
  var session: GroupSession { get }
  var now: LocalTime { get }
  @discardableResult
  func carryOut(_ command: PlayerCommand) -> CommandReply
}

extension RenderGroup {
  /// The one item of a renderer.
  static var item: Int { 0 }

  // MARK: - Which time sounds when

  /// A place of what is enqueued and the instant at which it sounds; nil while nothing sounds of it, nor is to.
  func schedule(_ queue: SampleQueue) -> RateSchedule.Point? {
    guard queue.isUnderWay, let running = session.running(at: now) else { return nil }
    return .init(
      time: PlaybackTime(running.position), hostTime: HostTime(running.time), rate: running.rate)
  }

  /// After each turn: what has sounded goes, and what was enqueued first gets its place.
  func look(after queue: SampleQueue) {
    let session = session
    queue.release(
      before: PlaybackTime(session.playhead(at: now).position),
      in: session.soundingGeneration(at: now))
    place(queue)
  }

  /// Decides where reading begins. While time stands still that is the first buffer: time may begin to run there. While time
  /// runs the buffer sounds when its time comes. Where that has passed, and nothing reaches beyond it yet, time may be about
  /// to go elsewhere.
  private func place(_ queue: SampleQueue) {
    guard let waiting = queue.unplaced else { return }
    guard session.isRunning else { return restart(queue, at: waiting.start) }
    let next = PlaybackTime(session.cutPosition(at: now))
    if waiting.end <= next, queue.hold(at: now) { return }
    let from = renew(from: waiting.start)
    queue.begin(with: session.generation, at: from)
  }

  /// Reads the next audio from this place on. A source that was opened there waits already.
  private func restart(_ queue: SampleQueue, at place: PlaybackTime) {
    if queue.isUnderWay || PlaybackTime(session.upcomingPosition(at: now)) != place {
      carryOut(.restart(at: place.span))
    }
    queue.begin(with: session.generation, at: place)
  }

  /// Where it goes on.
  private func renew(from position: PlaybackTime) -> PlaybackTime {
    guard case .success(.renewed(let from)) = carryOut(.renew(from: position.span)) else {
      return position
    }
    return PlaybackTime(from)
  }

  // MARK: - Flushing

  /// Returns the first time that the rooms can still change.
  func flush(_ queue: SampleQueue) -> PlaybackTime {
    queue.reset()
    return renew(from: .zero)
  }

  /// Returns from where on the rooms play what is enqueued now.
  func flush(_ queue: SampleQueue, from time: PlaybackTime) -> PlaybackTime {
    if queue.truncate(from: time) { return time }
    let position = renew(from: time)
    queue.reread(from: position, in: session.generation)
    return position
  }

  // MARK: - Time

  /// Time stands still from this instant on, or from the first at which all rooms can. Returns that instant.
  func pause(at hostTime: HostTime) -> HostTime {
    carryOut(.pauseAt(hostTime.local))
    return session.standing.map(HostTime.init) ?? hostTime
  }

  /// From `time`, or where time stands still from there, it runs with these effects. What is enqueued is read again.
  func run(
    _ queue: SampleQueue, with effects: Effects, from time: PlaybackTime, at hostTime: HostTime
  ) {
    let reply = carryOut(.effectsAt(effects, from: time.span, at: hostTime.local))
    guard case .success(.renewed(let position)) = reply else { return }
    queue.reread(from: PlaybackTime(position), in: session.generation)
  }

  /// Brings the rooms to where `time` is what sounds next. True once they hold it: time may begin to run there.
  func approach(_ time: PlaybackTime, _ queue: SampleQueue) -> Bool {
    if queue.ends(by: time) { return true }
    guard queue.isPlaced else { return false }
    if !queue.isUnderWay || !isNext(time) {
      if queue.hasRead(past: time), session.mayCue(to: time.span) {
        carryOut(.cue(to: time.span))
      } else {
        restart(queue, at: time)
      }
    }
    return session.isPrimed && queue.reaches(past: time)
  }

  /// As exactly as frames of any rate, and rounded rates, can say it.
  private func isNext(_ time: PlaybackTime) -> Bool {
    let distance = time.flicks - PlaybackTime(session.upcomingPosition(at: now)).flicks
    return abs(distance) < PlaybackTime(frame: 2, at: 8_000).flicks
  }

  /// `time` sounds at `hostTime`, or as soon after it as can be, and what follows it after that. Returns when.
  func start(_ queue: SampleQueue, at time: PlaybackTime, hostTime: HostTime) -> HostTime {
    _ = approach(time, queue)
    let next = PlaybackTime(session.upcomingPosition(at: now))
    let rate = session.effects.rate
    carryOut(.resumeAt((hostTime + (next - time) * (1 / rate)).local))
    guard let running = session.running(at: now) else { return hostTime }
    return HostTime(running.time) + (time - PlaybackTime(running.position)) * (1 / rate)
  }
}
