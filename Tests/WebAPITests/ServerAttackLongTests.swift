import Foundation
import House
import TestSupport
import Testing
import WebTestSupport

/// A whole server in a process of its own, whose memory is measured under attack.
@Suite struct ServerAttackLongTests {
  private let server: Program
  private let client: WebClient

  init() throws {
    server = try Program("fake-house", [])
    let address = try server.line(with: "http://")
    client = WebClient(port: try #require(Int(address.split(separator: ":").last ?? "")))
  }

  /// Megabytes of memory that an attack may cost.
  private static let cost = 48

  @Test func `ten thousand connections leave nothing behind`() async throws {
    for _ in 0..<100 { _ = try await client.ask("GET", "/api/v1/state") }
    let before = try (server.status("VmHWM"), server.descriptorCount())
    for number in 0..<10_000 {
      let connection = try WebConnectionClient(
        port: client.port, fromHost: 2 + UInt32(number % 200))
      if number % 3 == 0 { await connection.send("GET / HT") }
    }
    // Each answer shows that the connections before have been noticed.
    while try await client.ask("GET", "/metrics").text.contains("tutti_http_connections 1\n")
      == false
    {}
    #expect(try server.status("VmHWM") < before.0 + Self.cost * 1_024)
    #expect(try server.descriptorCount() <= before.1 + 2)
  }

  @Test func `listeners that never read cost no more than their buffers`() async throws {
    for _ in 0..<100 { _ = try await client.ask("GET", "/api/v1/state") }
    let before = try server.status("VmHWM")
    let deaf = try (0..<31).map { _ in try WebConnectionClient(port: client.port) }
    for connection in deaf { await connection.send(client.request("GET", "/api/v1/events")) }
    // Every listener is told of each of these changes.
    let bodies = (0..<5_000).map { #"{"name":"\#(String(repeating: "x", count: 90))\#($0)"}"# }
    let connection = try WebConnectionClient(port: client.port)
    let reader = WebReader(connection)
    for body in bodies {
      await connection.send(client.request("PATCH", "/api/v1/groups/g1", body))
      #expect(await reader.answer()?.status == 200)
    }
    #expect(try server.status("VmHWM") < before + Self.cost * 1_024)
    withExtendedLifetime(deaf) {}
  }

  @Test func `a server without descriptors left takes connections again when it has some`()
    async throws
  {
    let path = server.process.executableURL?.path ?? ""
    let poor = try Program("/bin/sh", ["-c", "ulimit -n 40; exec \"$0\"", path])
    let address = try poor.line(with: "http://")
    let client = WebClient(port: try #require(Int(address.split(separator: ":").last ?? "")))
    let listener = try WebConnectionClient(port: client.port)
    await listener.send(client.request("GET", "/api/v1/events?limit=6"))
    let events = WebReader(listener)
    #expect(await events.head()?.hasPrefix("HTTP/1.1 200") == true)
    // Wait for the state and the first periodic event. The event's clock takes a descriptor too, without which no
    // program continues. A crowd that comes before the first second is over might take that descriptor.
    for _ in 0..<2 { #expect(await events.chunk() != nil) }
    var crowd: [WebConnectionClient] = []
    for number in 0..<80 {
      crowd.append(
        try WebConnectionClient(port: client.port, fromHost: 2 + UInt32(number % 4)))
    }
    while try poor.descriptorCount() < 40 {}
    // While nobody can be accepted, the server does not try all the time.
    let before = try Self.work(of: poor)
    for _ in 0..<4 { #expect(await events.chunk() != nil) }
    #expect(try Self.work(of: poor) - before < 100)
    crowd = []
    #expect(try await client.ask("GET", "/api/v1/state").status == 200)
  }

  /// Returns the processor time in hundredths of a second.
  private static func work(of program: Program) throws -> Int {
    let path = "/proc/\(program.process.processIdentifier)/stat"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    // The 12th and 13th word after the name, which may contain spaces.
    let words = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    return try #require(Int(words[12])) + #require(Int(words[13]))
  }

  @Test func `a gigabyte is not taken in`() async throws {
    let before = try server.status("VmHWM")
    let connection = try WebConnectionClient(port: client.port)
    let headers = [("Content-Type", "application/json"), ("Content-Length", "1000000000")]
    await connection.send(client.request("POST", "/api/v1/groups", headers: headers))
    let part = [UInt8](repeating: 0x20, count: 1 << 20)
    var sent = 0
    while sent < 1_000, await connection.send(part) { sent += 1 }
    #expect(sent < 100)
    #expect(try server.status("VmHWM") < before + Self.cost * 1_024)
  }
}
