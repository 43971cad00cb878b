import Driver
import Pairing
import Service

extension ReceiverSearch {
  /// Begins with the rooms that were remembered, and remembers those that it finds.
  ///
  /// - Parameter paired: of the daemon that commands go to; nil stands for this user's own.
  init(state: StateDirectory, paired: Pairings? = nil) throws {
    self.init(
      in: RoomDirectory(
        remembered: state.rememberedRooms(), paired: try paired ?? state.paired()),
      remember: state.remember
    ) { printError("tutti: \($0)") }
  }
}
