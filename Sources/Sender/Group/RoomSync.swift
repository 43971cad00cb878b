import Clock
package import WireProtocol

/// How exactly a room keeps time, and what it holds, as programs read it. Counts begin with the session.
package struct RoomSync: Codable, Hashable, Sendable {
  package var errorUs: Double
  package var p50Us: Double
  package var p99Us: Double
  package var maxUs: Double
  /// Nil until the room knows the group's time.
  package var boundUs: Double?
  package var roundTripUs: Double
  package var clockDriftPpm: Double
  package var deviceDriftPpm: Double
  package var bufferedS: Double
  package var bufferedBytes: UInt64
  package var underruns: UInt32
  /// Packets that came too late, never came, or were damaged.
  package var late: UInt32
  package var lost: UInt32
  package var corrupt: UInt32

  package init(_ status: RoomStatus) {
    errorUs = status.syncError.now.microseconds.rounded(to: 3)
    p50Us = status.syncError.median.microseconds.rounded(to: 3)
    p99Us = status.syncError.p99.microseconds.rounded(to: 3)
    maxUs = status.syncError.maximum.microseconds.rounded(to: 3)
    boundUs = status.knownErrorBound?.microseconds.rounded(to: 3)
    roundTripUs = status.roundTrip.microseconds.rounded(to: 3)
    clockDriftPpm = Double(status.clockDrift) / 1000
    deviceDriftPpm = Double(status.deviceDrift) / 1000
    bufferedS = max(0, (status.bufferedUntil - status.playhead).seconds).rounded(to: 3)
    bufferedBytes = status.heldBytes
    underruns = status.underruns
    (late, lost, corrupt) = (status.latePackets, status.lostPackets, status.corruptPackets)
  }
}
