import Sender
import Testing

@testable import FFmpegSource

/// Tests of files at addresses that are read whole.
@Suite struct AddressBytesTests {
  private func read(
    _ url: String, _ reach: SourceReach = .all, limit: Int = 1 << 20, time: Duration = .seconds(9)
  ) throws -> AddressBytes {
    try AddressBytes(at: url, reach: reach, limit: limit, time: time)
  }

  private func reason(_ body: () throws -> AddressBytes) -> String {
    do {
      return "\(try body().bytes.count) bytes"
    } catch {
      return "\(error)"
    }
  }

  @Test func `a file comes whole, also after redirects and where servers say no length`() throws {
    let file = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let server = try TestServer { request, connection in
      switch request.path {
      case "/moved": connection.head("302 Found", ["Location: /file"])
      case "/open":
        connection.head("200 OK")
        connection.send(file)
      default: connection.send(file: file, from: request.rangeStart)
      }
    }
    defer { server.stop() }
    for path in ["file", "moved", "open"] {
      let found = try read(server.url(path))
      #expect(found.bytes == file && found.isOwn, "\(path)")
    }
    #expect(reason { try read(server.url("file"), .network) }.contains("this machine itself"))
  }

  @Test func `a gigabyte, silence and a trickle end at their limits`() throws {
    let server = try TestServer { request, connection in
      switch request.path {
      case "/silent":
        connection.head("200 OK")
        connection.fallSilent()
      case "/claimed":
        connection.head("200 OK", ["Content-Length: 1073741824"])
        while connection.send([UInt8](repeating: 32, count: 65_536)) {}
      default:
        connection.head("200 OK")
        while connection.send([UInt8](repeating: 32, count: 65_536)) {}
      }
    }
    defer { server.stop() }
    for path in ["endless", "claimed"] {
      #expect(reason { try read(server.url(path)) }.contains("larger than 1 MiB"), "\(path)")
      // Little more than the limit was taken in.
      #expect(server.byteCount(of: path) < 8 << 20)
    }
    let began = ContinuousClock.now
    #expect(reason { try read(server.url("silent"), time: .milliseconds(300)) }.contains("within"))
    #expect(ContinuousClock.now - began < .seconds(5))
  }

  @Test func `what is not there is named`() throws {
    let server = try TestServer { _, connection in connection.head("404 Not Found") }
    defer { server.stop() }
    #expect(reason { try read(server.url("a")) }.contains("404"))
    #expect(reason { try read("http://127.0.0.1:1/") }.contains("Connection refused"))
  }
}
