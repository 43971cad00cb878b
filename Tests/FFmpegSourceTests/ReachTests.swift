import Sender
import Testing

@testable import FFmpegSource

/// Tests of addresses that lead to places which whoever named them may not reach.
@Suite struct ReachTests {
  private func open(_ url: String, _ reach: SourceReach) throws {
    _ = try NetworkSource(
      url: url, reach: reach, settings: .withoutPauses, interruption: ReadInterruption())
  }

  private func expectRefusal(_ url: String, _ reach: SourceReach = .network) {
    let error = #expect(throws: MediaError.self, "\(url)") { try open(url, reach) }
    #expect("\(error as Any)".contains("it leads to"), "\(url): \(error as Any)")
  }

  @Test(arguments: [SourceReach.network, .internet])
  func `this machine is not reached, however its address is written`(_ reach: SourceReach) throws {
    let server = try TestServer { $1.send(file: [1, 2, 3], from: $0.rangeStart) }
    defer { server.stop() }
    for host in [
      "127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0", "0",
      "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "user@127.0.0.1",
    ] {
      expectRefusal("http://\(host):\(server.port)/a", reach)
      expectRefusal("https://\(host):\(server.port)/a", reach)
    }
    #expect(server.connectionCount == 0)
  }

  /// The second address may come from a redirect, a list, or a name that now resolves to another
  /// address.
  @Test func `what answers from elsewhere leads back here no more`() throws {
    let server = try TestServer { $1.send(file: [1, 2, 3], from: $0.rangeStart) }
    defer { server.stop() }
    let url = server.url("a")
    let library = try FFmpegLibrary.load(toPlay: url)
    let network = NetworkInput(
      url, settings: .withoutPauses, interruption: try ReadInterruption(), library: library,
      report: { _ in })
    _ = try NetworkBytes(url, network, library)
    network.hasLeft = true
    #expect(throws: MediaError.self) { _ = try NetworkBytes(url, network, library) }
    #expect(server.requestCount(of: "a") == 1)
  }
}
