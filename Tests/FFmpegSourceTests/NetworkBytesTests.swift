import Testing

@testable import FFmpegSource

@Suite struct NetworkBytesTests {
  @Test func `a connection keeps whom FFmpeg asks whether to go on`() throws {
    let server = try TestServer { $1.send(file: [1, 2, 3], from: $0.rangeStart) }
    defer { server.stop() }
    let url = server.url("a.m3u")
    let library = try FFmpegLibrary.load(toPlay: url)
    weak var input: NetworkInput?
    let bytes: NetworkBytes
    do {
      let network = NetworkInput(
        url, settings: .withoutPauses, interruption: try ReadInterruption(), library: library,
        report: { _ in })
      input = network
      bytes = try NetworkBytes(url, network, library)
    }
    try #require(input != nil)
    #expect(bytes.readAll(upTo: 10) == [1, 2, 3])
  }
}
