/// Keeps what the household's people have chosen for it: folders with music, servers of libraries, names of rooms, the
/// language of dates.
extension HouseSession {
  /// Holds the choices of people beside those of the configuration.
  struct HouseSetUp: Hashable {
    var chosen: SetUp
    var fixed = SetUp.Fixed()

    var folders: [HouseFolder] {
      fixed.folders.map { HouseFolder(path: $0, isFixed: true) }
        + chosen.folders.map { HouseFolder(path: $0, isFixed: false) }
    }

    /// One of the configuration hides another of its name.
    var servers: [MediaServer] {
      let names = fixed.servers.map { $0.name.lowercased() }
      let added = (chosen.servers ?? []).filter { !names.contains($0.name.lowercased()) }
      return fixed.servers + added.compactMap { try? $0.server() }
    }
  }

  func carryOut(_ order: Order.SetUp) throws(Refusal) -> Done {
    var chosen = setUp.chosen
    var done = Done()
    switch order {
    case .addFolder(let path):
      try chosen.add(folder: path, setUp.fixed)
      done.said = "\(path) is in the library now"
    case .removeFolder(let path):
      try chosen.remove(folder: path, setUp.fixed)
      done.said = "\(path) is out of the library; its files stay"
    case .addServer(let server):
      try chosen.add(server: server, setUp.fixed)
      done.said = "\(server.name) is in the library now"
    case .removeServer(let name):
      try chosen.remove(server: name, setUp.fixed)
      done.said = "\(name) is out of the library; its songs stay on the server"
    case .nameRoom(let room, let name):
      try check(room: room)
      if let pair = stereo.pair(of: room) {
        let before = self.name(of: pair)
        try rename(pair, to: name)
        return Done(room: pair.id, said: "\(before) is called \(self.name(ofRoom: room)) now")
      }
      let before = self.name(ofRoom: room)
      if let name { try checkFree(name, for: [room]) }
      try chosen.name(room: room, name)
      done.room = room
      done.said = "\(before) is called \(name ?? ownName(ofRoom: room)) now"
    case .dates(let language):
      try chosen.set(dates: language)
      done.said =
        language.map { "dates are written in \($0)" } ?? "dates are as each browser writes them"
    }
    choose(chosen)
    return done
  }

  package var folders: [HouseFolder] { setUp.folders }
  package var servers: [MediaServer] { setUp.servers }

  /// Throws if the server could not be added, before anybody asks it.
  package func check(_ server: ChosenServer) throws(Refusal) -> MediaServer {
    var chosen = setUp.chosen
    try chosen.add(server: server, setUp.fixed)
    return try server.server()
  }

  /// The configuration's file was read, at the start or after a change.
  func configured(_ fixed: SetUp.Fixed) {
    change { $0.fixed = fixed }
  }

  func choose(_ chosen: SetUp) {
    change { $0.chosen = chosen }
  }

  private func change(_ body: (inout HouseSetUp) -> Void) {
    let before = setUp
    body(&setUp)
    desk.hasNews = true
    if setUp.folders != before.folders { emit(.folders(setUp.folders)) }
    if setUp.servers != before.servers { emit(.servers(setUp.servers)) }
  }

  /// Two rooms of the same name could not be told apart. Those of a pair have theirs again once it is separated.
  func checkFree(_ name: String, for rooms: [String]) throws(Refusal) {
    let wanted = name.lowercased()
    guard
      !roomIDs.contains(where: {
        !rooms.contains($0)
          && [self.name(ofRoom: $0), nameByItself($0)].contains { $0.lowercased() == wanted }
      })
    else { throw .invalid("another room is called \(name)") }
  }
}
