import Clock
import Dispatch
package import House
import LinuxIO
import Sender
import Synchronization

/// Finds the media servers of UPnP in the network once, for a person who wants to add one. Nothing listens before or afterwards.
package enum ServerFinder {
  /// Time in which answers are taken. Servers answer within a second of a question.
  static let searchTime = Nanoseconds.seconds(2)
  /// Time after which the question is asked once more: datagrams are lost.
  private static let repetition = Nanoseconds.milliseconds(500)
  /// Time in which a description must have come, and after which no further one is read: somebody waits, and a page does so for
  /// 10 s.
  static let nameTime = Duration.seconds(3)
  private static let namingTime = Nanoseconds.seconds(3)
  /// 239.255.255.250
  private static let group = SocketAddress.ipv4(address: 0xEFFF_FFFA, port: 1900)

  /// Returns those whose descriptions can be read. Blocks.
  ///
  /// - Parameter command: a program that calls `LibraryWorker.run`.
  package static func servers(command: [String]) -> [FoundServer] {
    let answers = answers(to: group, from: OwnAddress.ofInterfaces)
    let end = HostClock.now + namingTime
    let names = Mutex<[Int: FoundServer]>([:])
    DispatchQueue.concurrentPerform(iterations: answers.count) { number in
      guard HostClock.now < end, let server = named(answers[number].address, command) else {
        return
      }
      names.withLock { $0[number] = server }
    }
    let found = names.withLock { $0 }.sorted { $0.key < $1.key }
    return single(found.map { (answers[$0.key].device, $0.value) })
      .sorted { ($0.name, $0.address) < ($1.name, $1.address) }
  }

  /// Keeps the first answer of a server that is in several networks. The name must be the same as well as the device: a server
  /// that only claims another's device does not hide it, unless it takes its name, too, and answers first.
  static func single(_ found: [(device: String?, server: FoundServer)]) -> [FoundServer] {
    var known: Set<[String]> = []
    return found.filter { device, server in
      device.map { known.insert([$0, server.name]).inserted } ?? true
    }.map(\.server)
  }

  /// Reads the description by a program that ends with it. Blocks.
  static func named(
    _ address: ListenAddress, _ command: [String], reach: SourceReach = .network
  ) -> FoundServer? {
    var server = MediaServer(name: address.host, description: address)
    server.reach = reach
    let worker = SingleUseWorker(command + [LibraryWorker.awaited])
    guard case .done(let name)? = worker.ask(.shelf(server, .name)) else { return nil }
    return FoundServer(called: name, at: address)
  }

  /// Returns the answers in the order in which they came, one from each address. Blocks.
  ///
  /// - Parameters:
  ///   - own: addresses of this machine; the network of each is asked.
  ///   - limit: it ends with so many.
  static func answers(
    to group: SocketAddress, from own: [SocketAddress], reach: SourceReach = .network,
    time: Nanoseconds = searchTime, limit: Int = ServerSearch.serverLimit
  ) -> [ServerSearch.Answer] {
    guard let reactor = try? Reactor() else { return [] }
    let sockets = own.compactMap { try? reactor.openDatagrams(on: $0) }
    let begun = HostClock.now
    var times = [begun, begun + repetition]
    var found: [ServerSearch.Answer] = []
    while !sockets.isEmpty, found.count < limit, HostClock.now < begun + time {
      if let next = times.first, next <= HostClock.now {
        times.removeFirst()
        // An interface may be without a network.
        for socket in sockets {
          _ = try? reactor.send(ServerSearch.question, to: group, from: socket)
        }
      }
      guard let events = try? reactor.wait(until: times.first ?? begun + time) else { break }
      for case .datagram(_, let datagram) in events where found.count < limit {
        guard case .ipv4(let sender, _) = datagram.from,
          let answer = ServerSearch.answer(in: datagram.bytes, from: sender, reach: reach),
          !found.contains(where: { $0.address == answer.address })
        else { continue }
        found.append(answer)
      }
    }
    return found
  }
}
