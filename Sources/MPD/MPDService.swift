import House
import MPDProtocol
package import Service
package import WebServer

/// Answers clients of MPD beside a program's own event loop, until it is released.
package final class MPDService: Sendable {
  package struct Means: Sendable {
    /// Seconds since 1970.
    package var now: @Sendable () -> Int64
    /// Keeps the numbers of rooms and groups for the next start. Does not block.
    package var keep: @Sendable (String) -> Void
    /// Called with all ports whenever they change. Does not block.
    package var announce: @Sendable ([PublishedPort]) -> Void
    /// Takes lines for people.
    package var report: @Sendable (String) -> Void

    package init(
      now: @escaping @Sendable () -> Int64, keep: @escaping @Sendable (String) -> Void,
      announce: @escaping @Sendable ([PublishedPort]) -> Void,
      report: @escaping @Sendable (String) -> Void
    ) {
      (self.now, self.keep, self.announce, self.report) = (now, keep, announce, report)
    }
  }

  private let task: Task<Void, Never>

  /// - Parameters:
  ///   - port: the household's; 0 lets the system choose. Groups have the ports after it.
  ///   - numbers: the text that was kept last; nil before the first start.
  ///   - began: called with the household's port, or with nil while another program has it.
  package init(
    port: Int, addresses: [String], limits: LineServerLimits = LineServerLimits(),
    house: any HouseControl, library: any LibraryControl, access: HouseAccess, numbers: String?,
    means: Means, began: @escaping @Sendable (Int?) -> Void = { _ in }
  ) {
    task = Task.detached {
      // Made here, as threads inherit the mask of the thread that makes them: signals are the main thread's.
      let server = LineServer(addresses: addresses, limits: limits)
      let hub = ChangeHub(house, book: NumberBook(text: numbers ?? ""), now: means.now)
      let household = Household(
        house: house, library: library, access: access, server: server, hub: hub,
        queues: QueueShelf(house, library), start: .now)
      let ports = PortKeeper(server, hub, port: port, means)
      access.follow { Task { await hub.wakeAll() } }
      await server.run(
        beside: {
          let port = await ports.start()
          if let port { means.report("MPD: clients are answered on port \(port)") }
          await hub.begin { await ports.follow($0) }
          began(port)
          await withDiscardingTaskGroup { tasks in
            tasks.addTask { await hub.run() }
            tasks.addTask { await ports.run() }
          }
        },
        serve: { await Conversation(household, $0).run() })
    }
  }

  deinit { task.cancel() }
}

/// The conversation with one client, from the greeting to its end.
struct Conversation: Sendable {
  private let household: Household
  private let connection: LineConnection

  init(_ household: Household, _ connection: LineConnection) {
    (self.household, self.connection) = (household, connection)
  }

  func run() async {
    let connection = connection
    let number = await household.hub.add(port: connection.port) { connection.signal() }
    await talk(number)
    await household.hub.remove(number)
  }

  private func talk(_ number: Int) async {
    var client = Client(
      household, number: number, address: connection.address, isLocal: connection.isLocal)
    var session = ClientSession()
    guard await send(Client.greeting) else { return }
    var held = 0
    defer { _ = household.lists.change(by: -held) }
    while let input = await connection.next(maySayNothing: session.awaited != nil) {
      switch input {
      case .signal:
        guard let parts = session.awaited else { continue }
        guard client.isStillAllowed else { return }
        guard await tell(number, parts, &session) else { return }
      case .line(let line):
        client.checkAccess()
        let action = session.receive(line, isStranger: !client.asker.may(.guest))
        // A list counts until it is done.
        let grown = max(0, session.heldBytes - held)
        guard household.lists.change(by: grown) else { return }
        held += grown
        guard await take(action, &client, &session) else { return }
        _ = household.lists.change(by: session.heldBytes - held)
        held = session.heldBytes
      }
    }
  }

  /// Returns false if the conversation ends.
  private func take(
    _ action: ClientSession.Action, _ client: inout Client, _ session: inout ClientSession
  ) async -> Bool {
    switch action {
    case .none: return true
    case .close: return false
    case .refuse(let line): return await send(line)
    case .run(let lines, let saysEach):
      let answer = await client.run(lines, saysEach: saysEach) { connection.isOpen }
      return client.isClosing ? false : await connection.send(answer)
    case .idle(let parts):
      client.checkAccess()
      guard client.asker.may(.guest) else {
        session.wasTold()
        let refusal = Ack(.permission, "you don't have permission for \"idle\"")
        return await send(refusal.line(place: 0, command: "idle"))
      }
      return await tell(client.number, parts, &session)
    case .endIdle(let parts):
      let changed = await household.hub.changes(for: client.number, of: parts)
      return await send(changed.lines + "OK\n")
    }
  }

  /// Tells the client what has changed, if anything has.
  private func tell(
    _ number: Int, _ parts: Subsystems, _ session: inout ClientSession
  ) async -> Bool {
    let changed = await household.hub.changes(for: number, of: parts)
    guard !changed.isEmpty else { return true }
    session.wasTold()
    return await send(changed.lines + "OK\n")
  }

  private func send(_ text: String) async -> Bool { await connection.send(Array(text.utf8)) }
}
