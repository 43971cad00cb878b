import ArgumentParser
import AvahiDiscovery
import Driver
import House
import Library
import LinuxIO
import Pairing
import Service
import WebAPI
import WebServer
import WireProtocol

/// The parts of a daemon around the household itself: the library, the page and the HTTP interface, on threads
/// of their own.
final class HouseSurfaces {
  /// TCP port of the page.
  let port: Int
  /// A stand-in without contents if the library could not be opened.
  let library: any LibraryControl
  /// Nil if the library could not be opened.
  let media: MediaLibrary?
  let pairing: HousePairing
  private let web: WebService
  /// Nil unless the configuration asks for it.
  private let mpd: HouseMPD?
  private let numbers: KeptNumbers
  /// Nil unless the configuration asks for it.
  private let mpris: HouseMPRIS?
  /// Keeps the history of what was played, and follows podcasts.
  private let history: Task<Void, Never>?
  private let listens: HouseListens
  /// Lets programs such as Home Assistant find the page; nil where the network cannot reach it.
  private let presence: ServicePublisher?

  init(
    _ configuration: HouseConfiguration, id: Identifier, state: StateDirectory, house: HouseClient,
    access: HouseAccess, folders: [HouseFolder], servers: [MediaServer], loudness: MeasuredLoudness,
    places: KeptPlaces,
    report: @escaping @Sendable (String) -> Void
  ) throws {
    let opened = Self.library(
      folders, servers, loudness, places, state, house, report)
    media = try? opened.get()
    library =
      switch opened {
      case .success(let library): library
      case .failure(let failure): NoLibrary(because: "The library cannot be used: \(failure).")
      }
    history = media.map { library in
      Task.detached {
        async let feeds: Void = library.followPodcasts()
        await PlayKeeper(house, library).run()
        await feeds
      }
    }
    listens = HouseListens(
      configuration.listenServices, house, media, path: state.path + "/listens.db", report: report)
    listens.set(servers)
    let name = configuration.name ?? HostName.current
    pairing = HousePairing(house: house, senderName: name, means: .own(state, senderName: name))
    do {
      web = try WebService(
        WebServerConfiguration(
          addresses: configuration.listen, port: Int(configuration.port),
          ownName: HostName.current, hostNames: configuration.hosts),
        house: house, library: library,
        pairing: pairing,
        access: access)
    } catch {
      history?.cancel()
      listens.end()
      media?.close()
      throw Failure(.unavailable, error.description)
    }
    port = web.port
    numbers = try KeptNumbers(state.numbersFile, report)
    mpd = try HouseMPD(
      configuration, numbers: numbers, house: house, library: library, access: access,
      isOnNetwork: configuration.isOnNetwork, report: report)
    mpris = try HouseMPRIS(
      configuration, port: web.port, numbers: numbers, house: house, library: library,
      report: report)
    presence =
      configuration.isOnNetwork
      ? Self.presence(name: name, id: id.hex, port: UInt16(clamping: web.port), report) : nil
  }

  /// Announces the page. A daemon that nobody can find plays all the same.
  private static func presence(
    name: String, id: String, port: UInt16, _ report: @escaping @Sendable (String) -> Void
  ) -> ServicePublisher? {
    do throws(DiscoveryError) {
      let text = [TextPair("id", id), TextPair("version", TuttiCommand.configuration.version)]
      return try ServicePublisher(
        PublishedService(
          name: name, type: "_tutti-house._tcp", port: port, text: text)
      ) { event in
        guard case .renamed(let wanted, let name) = event else { return }
        report("another household is called \(wanted): this one is found as \(name)")
      }
    } catch {
      report("the household cannot be found by other programs: \(error)")
      return nil
    }
  }

  /// Tracks end from now on because the daemon does: the next one goes on with them.
  func stopCounting() { listens.end() }

  /// Lists the songs of these servers from now on, and tells them what is heard.
  func set(_ servers: [MediaServer]) {
    media?.set(servers)
    listens.set(servers)
  }

  func end() {
    mpris?.end()
    numbers.end()
    history?.cancel()
    listens.end()
    media?.close()
  }

  static let worker = ["/proc/self/exe", "library-worker"]

  /// Opens the library. If that fails, reports it; music plays without a library.
  private static func library(
    _ folders: [HouseFolder], _ servers: [MediaServer], _ loudness: MeasuredLoudness,
    _ places: KeptPlaces, _ state: StateDirectory, _ house: HouseClient,
    _ report: @escaping @Sendable (String) -> Void
  ) -> Result<MediaLibrary, MediaLibrary.Failure> {
    Result { () throws(MediaLibrary.Failure) in
      do throws(MediaLibrary.Failure) {
        var settings = MediaLibrary.Settings(
          folders: folders, database: state.path + "/library.db",
          pictures: state.path + "/pictures", worker: worker)
        (settings.servers, settings.loudness, settings.places) = (servers, loudness, places)
        return try MediaLibrary(settings, changed: { house.show($0) }, report: report)
      } catch {
        report("\(error); the household plays without a library")
        throw error
      }
    }
  }

}

extension HouseConfiguration {
  /// True if other machines can open the page.
  fileprivate var isOnNetwork: Bool {
    listen.isEmpty || listen.contains { SocketAddress(host: $0, port: 0)?.isLoopback != true }
  }
}

extension HousePairing.Means {
  /// With the key and the files of this process's own state.
  static func own(_ state: StateDirectory, senderName: String) -> Self {
    .init(
      visit: { purpose, place in
        try RoomPairing(security: state.security(), senderName: senderName)
          .run(purpose, at: target(place))
      },
      change: { change in try state.changePaired { try changed(&$0, change) } },
      paired: { try state.paired() })
  }

  private static func target(_ place: PairingRoom.Place) throws -> RoomPairing.Target {
    switch place {
    case .record(let record): .init(record)
    case .address(let host, let port):
      .init(addresses: try HostResolver.resolve(host: host, port: port))
    }
  }

  private static func changed(
    _ pairings: inout Pairings, _ change: HousePairing.Change
  ) throws -> Pairings {
    switch change {
    case .add(let pairing):
      guard pairings.add(pairing) else {
        throw Failure(
          .unavailable,
          "paired, but no more than \(Pairings.limit) rooms are remembered here; unpair one of them first"
        )
      }
    case .remove(let id):
      if let id = Identifier(hex: id) { pairings.remove(id) }
    }
    return pairings
  }
}
