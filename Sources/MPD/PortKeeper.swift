package import House
package import MPDProtocol
import WebServer

/// A port on which clients reach a group, as others announce it.
package struct PublishedPort: Hashable, Sendable {
  package let port: Int
  /// The group's name, or the household's while the port has no group of its own.
  package let name: String
  package let groupID: String?
}

/// Keeps a port open for each group, and one for the household.
actor PortKeeper {
  /// How long it waits until it tries again to get a port that another program has.
  private static let retry = Duration.seconds(10)
  /// Ports that it tries for a new group.
  private static let attempts = 64

  private let server: LineServer
  private let hub: ChangeHub
  private let means: MPDService.Means
  private var main: Int
  private var listeners: [Int: LineListener] = [:]
  private var complaints: Set<Int> = []
  private var kept = ""
  private var published: [PublishedPort] = []

  init(_ server: LineServer, _ hub: ChangeHub, port: Int, _ means: MPDService.Means) {
    (self.server, self.hub, self.means, main) = (server, hub, means, port)
  }

  /// Opens the household's port. Returns it, or nil if another program has it now.
  func start() async -> Int? {
    let wanted = main
    if wanted == 0 { main = await hub.book.groups.map(\.port).filter { $0 > 0 }.min() ?? 0 }
    var listener = await listen(main)
    // The port that the system chose before may be another program's now.
    if listener == nil, wanted == 0, main != 0 { listener = await listen(0) }
    if let listener { main = listener.port }
    await hub.setMainPort(main)
    return listener?.port
  }

  /// Tries again and again to get ports that other programs have.
  func run() async {
    while (try? await Task.sleep(for: Self.retry)) != nil {
      guard !complaints.isEmpty, let state = try? await hub.currentState() else { continue }
      if listeners[main] == nil, await listen(main) != nil {
        means.report("MPD: port \(main) is free, and clients are answered there")
      }
      await follow(state)
    }
  }

  /// Brings the ports in line with the groups.
  func follow(_ state: HouseState) async {
    let (groups, main) = (state.namedGroups, main)
    await hub.edit { $0.note(groups: groups, base: max(main, 1)) }
    for group in state.groups { await open(group) }
    await closeOthers(state)
    let book = await hub.book
    if book.text != kept {
      kept = book.text
      means.keep(kept)
    }
    publish(state, book)
  }

  private func open(_ group: HouseState.Group) async {
    for _ in 0..<Self.attempts {
      guard let known = await hub.book.group(group.id), listeners[known.port] == nil else { return }
      if await listen(known.port) != nil {
        return means.report("MPD: \(group.name) answers on port \(known.port)")
      }
      // A port that clients know stays the group's, and is tried again.
      guard !kept.contains("group \(group.id) ") else { return }
      await hub.edit { book in book.setPort(of: group.id, above: known.port) }
    }
  }

  private func closeOthers(_ state: HouseState) async {
    let book = await hub.book
    let ports = Set(state.groups.compactMap { book.group($0.id)?.port } + [main])
    for port in listeners.keys.sorted() where !ports.contains(port) {
      listeners.removeValue(forKey: port)?.close()
    }
    complaints.formIntersection(ports)
  }

  private func listen(_ port: Int) async -> LineListener? {
    do throws(LineServer.ListenError) {
      let listener = try await server.listen(on: port)
      listeners[listener.port] = listener
      complaints.remove(port)
      return listener
    } catch {
      guard complaints.insert(port).inserted else { return nil }
      means.report(
        error.isTaken
          ? "MPD: another program has port \(port), so that clients are not answered there; end it, or choose another: mpd ="
          : "MPD: port \(port) cannot be used: \(error)")
      return nil
    }
  }

  private func publish(_ state: HouseState, _ book: NumberBook) {
    let ports = listeners.keys.sorted().map { port in
      let id = book.group(port: port)?.id
      let group = state.groups.first { $0.id == id }
      return PublishedPort(
        port: port, name: group?.name ?? state.server.name, groupID: group?.id)
    }
    guard ports != published else { return }
    published = ports
    means.announce(ports)
  }
}

extension HouseState {
  /// The groups as a book notes them.
  package var namedGroups: [(id: String, name: String, by: NumberBook.Naming)] {
    groups.map { ($0.id, $0.name, $0.isNamed ? .user : isCalledByAddress($0) ? .address : .rooms) }
  }
}
