package import House
package import Sender

/// The household as its surfaces see it, from any thread.
package protocol HouseControl: Sendable {
  func state() async throws(Refusal) -> HouseState
  func perform(_ order: Order) async throws(Refusal) -> Answer
  /// Lets rooms hear something over what they play; returns when it begins. Nobody as the asker is the user of this
  /// machine, who may name files.
  func announce(_ request: AnnounceRequest, for asker: Asker?) async throws(Refusal) -> Answer
  func queue(group: String, offset: Int, limit: Int) async throws(Refusal) -> QueuePage
  /// Those of these addresses that stand in a queue for the internet alone, because a guest has added them.
  func narrow(among addresses: Set<String>) async throws(Refusal) -> Set<String>
  /// The folders in one from which the library's may be chosen; nil is the list of the roots.
  func folderChoices(in path: String?) async throws(Refusal) -> FolderChoices
  /// Throws a sentence that says why a server of a library gives no songs now.
  func check(server name: String) async throws(Refusal)
  /// Searches the network for media servers of UPnP, which takes some seconds.
  func foundServers() async throws(Refusal) -> [FoundServer]
  /// The name that a station gives itself; nil where it says none, or nothing at all within some seconds. Throws where the
  /// address plays nothing.
  ///
  /// - Parameter reach: where the address may lead.
  func stationName(_ uri: String, reach: SourceReach) async throws(Refusal) -> String?
  /// With how loud they are now.
  func inputs() async throws(Refusal) -> [HouseState.Input]
  /// How far rooms were from the schedule in the last minutes.
  func syncHistory() async throws(Refusal) -> SyncHistory
  /// Everything that changes from now on, in order. Who reads too slowly is ended, and begins with a new state.
  func changes() async throws(Refusal) -> AsyncStream<HouseChange>
}
