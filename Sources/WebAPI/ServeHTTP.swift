package import Service
package import WebServer

/// Serves the page, the API and the metrics, until the task is cancelled.
///
/// - Parameter began: called with the port once the server listens.
package func serveHTTP(
  _ configuration: WebServerConfiguration, house: any HouseControl, library: any LibraryControl,
  pairing: any PairingControl, access: HouseAccess,
  rhythm: EventFeed.Rhythm = EventFeed.Rhythm(),
  began: @escaping @Sendable (Int) -> Void = { _ in }
) async throws(WebServer.ListenError) {
  let figures = WebFigures()
  let api = WebAPI(
    house: house, library: library, pairing: pairing, access: access, figures: figures,
    rhythm: rhythm)
  access.follow { Task { await api.feed.recheck() } }
  let server = WebServer(configuration, figures: figures) { await api.answer($0) }
  try await server.run(began: began) { await api.feed.run() }
}
