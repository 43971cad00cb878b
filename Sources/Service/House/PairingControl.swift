package import House

/// Rooms that the household may use, and those that are to become so.
package protocol PairingControl: Sendable {
  func pair(room: String, pin: String) async throws(Refusal)
  func unpair(room: String) async throws(Refusal)
  /// Lets a room that is not paired say its PIN aloud.
  func sayPIN(room: String) async throws(Refusal)
}
