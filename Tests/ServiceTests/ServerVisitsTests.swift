import Dispatch
import House
import Testing

@testable import Service

/// Tests of how servers are asked before they are in the library.
@Suite struct ServerVisitsTests {
  private let server: MediaServer

  init() throws {
    server = MediaServer(name: "Loft", description: try #require(.init("http://10.0.0.2:8200/a")))
  }

  @Test func `a server that gives no library is refused in one sentence`() async throws {
    let result = await ServerVisits { _ in "it says no" }.found(server)
    #expect(throws: Refusal.unavailable("10.0.0.2 gives no library: it says no")) {
      try result.get()
    }
    await #expect(throws: Never.self) { try await ServerVisits { _ in nil }.found(server).get() }
  }

  @Test func `servers that hang hold up nobody, and at last no more are asked`() async throws {
    let (release, asked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let visits = ServerVisits { _ in
      asked.signal()
      release.wait()
      return nil
    }
    let server = server
    let hanging = (0..<ServerVisits.limit).map { _ in Task { await visits.found(server) } }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "waits").async {
        for _ in hanging { asked.wait() }
        continuation.resume()
      }
    }
    let more = await visits.found(server)
    #expect(
      throws: Refusal.unavailable("too many servers do not answer; try again in a moment")
    ) { try more.get() }
    for _ in hanging { release.signal() }
    for task in hanging { await #expect(throws: Never.self) { try await task.value.get() } }
    release.signal()
    await #expect(throws: Never.self) { try await visits.found(server).get() }
  }

  @Test func `a search finds what it finds`() async throws {
    let found = [FoundServer(called: "Loft", at: server.address)]
    let visits = ServerVisits(look: { _ in nil }, search: { found })
    #expect(try await visits.servers() == found)
  }
}
