package import Clock
package import Sender

/// A player that the household calls. It answers each command before it takes anything else, so that a call needs no state
/// for the time between question and answer. What happens to it by itself comes back as a `SenderEvent`, also in the
/// middle of a call. For one thread.
package protocol GroupPlayer: AnyObject {
  var session: GroupSession { get }
  /// The state now.
  func status() -> GroupStatus
  func carryOut(_ command: PlayerCommand) -> CommandReply
  /// Plays in a room, or tries it again. With `takesOver`, even if another sender has it.
  func addRoom(_ record: RoomRecord, takesOver: Bool) -> RoomID
  /// Plays in whatever room answers at this address.
  func addRoom(host: String, port: UInt16, takesOver: Bool) -> RoomID
  func removeRoom(_ room: RoomID)
  /// How far its rooms are with a clip that was offered and has not begun.
  func progress(ofClip number: UInt32) -> [(room: RoomID, progress: ClipProgress)]
  /// The time until all its rooms can begin a clip at the same sample.
  var clipHorizon: Nanoseconds { get }
  /// Tries a room again that another sender had taken.
  func noteFree(_ room: RoomID)
}

extension GroupPlayer {
  package func progress(
    ofClip number: UInt32
  ) -> [(room: RoomID, progress: ClipProgress)] { session.progress(ofClip: number) }

  package var clipHorizon: Nanoseconds { session.clipHorizon }
}
