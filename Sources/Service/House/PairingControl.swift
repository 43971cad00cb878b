/// Rooms that the household may use, and those that are to become so.
package protocol PairingControl: Sendable {
  func pair(room: String, pin: String) async throws(PairingProblem)
  func unpair(room: String) async throws(PairingProblem)
}

/// Why a room was not paired, in a sentence for people that says what to do.
package enum PairingProblem: Error, Hashable, Sendable {
  case wrongPIN(String)
  /// Too many wrong ones: the next counts after so many seconds.
  case tooMany(String, retryAfterS: Int)
  case noSuch(String)
  case unavailable(String)
}
