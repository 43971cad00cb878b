import Driver
import Glibc
import House
import LinuxIO
import Sender
import Service

extension SecondDaemon {
  /// Begins to hear the household's other daemon; nil where there is none.
  convenience init?(_ configuration: HouseConfiguration, _ state: StateDirectory) throws {
    let kept = try Self.kept(state)
    guard let (place, record) = try Self.part(configuration, kept) else { return nil }
    let log = try OutputWriter(descriptor: STDERR_FILENO, limit: 16 << 10) { _ in [] }
    do {
      try self.init(
        .init(
          directory: state.path, place: place, record: record, port: configuration.port,
          name: configuration.name ?? (record.memory.isFirst ? HostName.current : nil)),
        security: state.security(), rooms: { state.rememberedRooms() },
        report: { HouseProgram.say($0, to: log) })
    } catch let error as IOError {
      throw Failure(.unavailable, "the household's other daemon cannot be heard: \(error)")
    }
  }

  /// The household is on this machine from now on.
  func leads(_ host: GroupHost, access: HouseAccess, port: Int) {
    host.onOutdated = { [unowned self] in isOutdated(by: $0) }
    isReached(at: UInt16(clamping: port))
    welcomes(access)
    wakes(host.reactor.waker)
  }

  private static func kept(_ state: StateDirectory) throws -> SecondRecord? {
    do {
      return try SecondFile(directory: state.path).read()
    } catch {
      throw Failure(.unavailable, "\(error)")
    }
  }

  /// Returns this daemon's part. A machine that has joined follows though nobody says so again: with the same key and without a
  /// term it would play against the other one.
  private static func part(
    _ configuration: HouseConfiguration, _ kept: SecondRecord?
  ) throws -> (DaemonLink.Place, SecondRecord)? {
    let port = configuration.second
    if let kept, kept.address != nil, port == nil, configuration.named.contains(.second) {
      throw Failure(
        .usage,
        "second = no, but this household has two daemons: for one of them to be alone, delete the file second in its state directory"
      )
    }
    if port == nil, configuration.named.contains(.second) { return nil }
    if let kept, !kept.memory.isFirst {
      guard port == nil else {
        throw Failure(
          .usage,
          "this machine has joined a household, and is its second daemon: leave out second, or remove the file second of the state directory"
        )
      }
      guard let place = configuration.with ?? kept.address else { return nil }
      return (.dials(host: place.host, port: place.port), kept)
    }
    if let with = configuration.with {
      throw Failure(
        .usage,
        "this machine has not joined the household of \(with.text); first: tutti join-household \(with.text)"
      )
    }
    guard let port = port ?? kept.map({ _ in DaemonPlace.usualPort }) else { return nil }
    let first = Leadership.Memory(term: 1, leads: true, isFirst: true)
    return (
      .listens(addresses: configuration.listen, port: port),
      kept ?? SecondRecord(memory: first, address: nil, name: nil)
    )
  }
}
