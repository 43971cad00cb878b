package import Clock
package import WireProtocol

extension RoomStatus {
  /// Returns the status of a room that has met with no trouble.
  package static func made(
    _ state: State = .playing, holding held: MediaDuration = .zero
  ) -> RoomStatus {
    let none = SyncErrorStatistics(now: .zero, median: .zero, p99: .zero, maximum: .zero)
    return RoomStatus(
      state: state, detail: "", playhead: .zero, bufferedUntil: .zero + held, heldBytes: 0,
      syncError: none, clockErrorBound: .zero, roundTrip: .zero,
      commitHorizon: .milliseconds(40), clockDrift: 0, deviceDrift: 0, underruns: 0,
      latePackets: 0, lostPackets: 0, corruptPackets: 0)
  }
}
