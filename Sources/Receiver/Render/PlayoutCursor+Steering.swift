import Clock

// MARK: - Steering

extension PlayoutCursor {
  /// Where an anchor is followed, looks how far off playback is, and sets the rate anew if it was kept for long enough.
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

  /// Whether the rate was kept for as long as was meant to be, or as it would be for what the error is now.
  @_noLocks @_noAllocation
  func maySteer(by error: Double) -> Bool {
    Double(next - state.steeredAt) >= min(state.keptFrames, keptFrames(for: error))
  }

  @_noLocks @_noAllocation
  private func keptFrames(for error: Double) -> Double {
    RateController.hold(forError: error, time: fadingTime(of: error))
      * Double(grid.sampleRate)
  }

  /// In seconds.
  @_noLocks @_noAllocation
  private func fadingTime(of error: Double) -> Double {
    RateController.time(
      forError: error, cardVariance: renderClock.variance, watched: renderClock.observedSeconds)
  }

  /// Stream frames that pass in a device frame when both clocks are as estimated. No crystals are 1 % apart; the
  /// limit keeps a broken estimate from asking for more frames than there is room for.
  var scheduledStep: Double {
    @_noLocks @_noAllocation get {
      min(max((1 + (estimate?.drift ?? 0)) / (1 + renderClock.drift), 0.99), 1.01)
    }
  }
}
