import Clock

// MARK: - Steering

extension PlayoutCursor {
  /// While playback follows an anchor, measures its error, and sets a new rate if the last one was held long enough.
  @_noLocks @_noAllocation
  mutating func steer(at now: GroupTime) {
    guard case .following = state.mode, let anchor = state.anchor else { return }
    let error = error(to: anchor, at: now)
    syncError = Nanoseconds(Int64(min(max(error, -1e3), 1e3) * 1e9))
    guard maySteer(by: error) else { return }
    let steering = RateController.steering(error: error, time: fadingTime(of: error))
    state.step = scheduledStep + steering
    state.steeredAt = next
    state.keptFrames = keptFrames(for: error)
  }

  /// True if the rate was held for the planned time, or for the time that the present error would ask for.
  @_noLocks @_noAllocation
  func maySteer(by error: Double) -> Bool {
    Double(next - state.steeredAt) >= min(state.keptFrames, keptFrames(for: error))
  }

  @_noLocks @_noAllocation
  private func keptFrames(for error: Double) -> Double {
    RateController.hold(forError: error, time: fadingTime(of: error))
      * Double(grid.sampleRate)
  }

  /// Returns the time constant for an error, in seconds.
  @_noLocks @_noAllocation
  private func fadingTime(of error: Double) -> Double {
    RateController.time(
      forError: error, cardVariance: renderClock.variance, watched: renderClock.observedSeconds)
  }

  /// Stream frames per device frame, if both clocks run as estimated. No two crystals differ by 1 %; the limit keeps a
  /// broken estimate from asking for more frames than there is space for.
  var scheduledStep: Double {
    @_noLocks @_noAllocation get {
      min(max((1 + (estimate?.drift ?? 0)) / (1 + renderClock.drift), 0.99), 1.01)
    }
  }
}
