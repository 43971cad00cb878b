package import Sender

/// A terminal's names of the household's groups, rooms and entries.
package struct HouseNames: OrderNames {
  private let session: HouseSession
  /// The group that is meant where none is named.
  private let meant: String?
  /// Receivers of this name, or at this address.
  private let receivers: (String) -> [RoomRecord]
  /// Adds what is known of a file.
  private let titled: (Order.NewEntry) -> Order.NewEntry

  package init(
    _ session: HouseSession, meant: String?, receivers: @escaping (String) -> [RoomRecord],
    titled: @escaping (Order.NewEntry) -> Order.NewEntry = { $0 }
  ) {
    (self.session, self.meant, self.receivers, self.titled) = (session, meant, receivers, titled)
  }

  package func group(_ name: String) throws(Refusal) -> String {
    try session.group(named: name == Order.meantGroup ? meant : name).id
  }

  package func room(_ name: String, in group: String?) throws(Refusal) -> String {
    let ids = group.flatMap { session.plan.group($0)?.rooms } ?? session.roomIDs
    if let id = ids.first(where: { isMeant($0, by: name) }) { return id }
    let names = session.names(ofRooms: ids).joined(separator: ", ")
    throw .unavailable("there is no room called \(name) here, but: \(names)")
  }

  /// One that was just found has told its identity, one that is named by its address is reached by that.
  package func newRoom(_ name: String) throws(Refusal) -> String {
    session.shownRooms.first { $0.name.lowercased() == name.lowercased() }?.id ?? name
  }

  package func entry(_ number: Int, in group: String) throws(Refusal) -> Int {
    try session.group(group).player.item(number).id
  }

  /// An entry as the list keeps it: what the terminal took for an input has the name of one, however it is written.
  package func input(_ entry: Order.NewEntry) throws(Refusal) -> Order.NewEntry {
    guard case .input(let name) = LiveLocation(entry.location) else { return titled(entry) }
    let known = session.configuration.inputs.map(\.name)
    guard let found = known.first(where: { $0.lowercased() == name.lowercased() }) else {
      let others = known.isEmpty ? "" : "; there are: " + known.joined(separator: ", ")
      throw .invalid("there is no file and no input called \(name)\(others)")
    }
    return Order.NewEntry(input: found)
  }

  package func scene(_ name: String) throws(Refusal) -> String {
    let scenes = session.scenes.scenes
    let found = scenes.first { $0.id == name || $0.name.lowercased() == name.lowercased() }
    if let found { return found.id }
    let names = scenes.isEmpty ? "" : ", but: " + scenes.map(\.name).joined(separator: ", ")
    throw .noSuch("there is no scene called \(name)\(names)")
  }

  /// True if somebody who writes this means the room: its name, with or without a part of its identity, or its address.
  package func isMeant(_ room: String, by text: String) -> Bool {
    room == text || session.name(ofRoom: room).lowercased() == text.lowercased()
      || receivers(text).contains { $0.id == room }
  }
}
