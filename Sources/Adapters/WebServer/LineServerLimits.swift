/// Bounds of all that clients of a line server can make it store.
package struct LineServerLimits: Sendable {
  package static let connections = 256
  /// One machine runs a few clients, each with two or three connections.
  package static let connectionsOfOneAddress = 128
  /// Bytes of a line without its end.
  package static let line = 16 * 1_024
  /// Bytes of lines that wait while a command is done; the rest stays with the sender.
  package static let waitingInput = 64 * 1_024
  /// Bytes of an answer that are given to the kernel at once.
  static let piece = 64 * 1_024
  /// Bytes that wait in the kernel for a reader; the kernel doubles the number.
  static let socket = 256 * 1_024

  /// Timeout of a client that says nothing, unless it waits for changes.
  package var silence = Duration.seconds(60)
  /// Timeout of a reader that takes nothing of an answer.
  package var reader = Duration.seconds(20)

  package init() {}
}
