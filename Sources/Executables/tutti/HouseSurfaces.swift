import Library
import Service
import WebAPI
import WebServer

/// What a household has beside its rooms: the library, the page and the HTTP interface, on threads of their own.
final class HouseSurfaces {
  /// Of the page.
  let port: Int
  private let library: MediaLibrary
  private let web: WebService

  init(
    _ configuration: HouseConfiguration, state: StateDirectory, house: HouseClient,
    report: @escaping @Sendable (String) -> Void
  ) throws {
    if let token = configuration.token, !WebToken.isUsable(token) {
      throw Failure(
        .usage,
        "token has 8 to 256 letters, figures and signs without spaces, quotes, commas, semicolons and backslashes"
      )
    }
    do {
      library = try MediaLibrary(
        .init(
          folders: configuration.library, database: state.path + "/library.db",
          pictures: state.path + "/pictures", worker: ["/proc/self/exe", "library-worker"]),
        changed: { house.show($0) }, report: report)
    } catch {
      throw Failure(.unavailable, error.description)
    }
    do {
      web = try WebService(
        WebServerConfiguration(
          addresses: configuration.listen, port: Int(configuration.port),
          hostNames: [HostName.current] + configuration.hosts, token: configuration.token),
        house: house, library: library, pairing: NoPairing())
    } catch {
      library.close()
      throw Failure(.unavailable, "\(error.description), with: --port")
    }
    port = web.port
  }

  func end() { library.close() }
}
