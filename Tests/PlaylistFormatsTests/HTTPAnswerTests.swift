import Clock
import TestSupport
import Testing

@testable import PlaylistFormats

/// Tests of answers of HTTP that have come whole, or not.
@Suite struct HTTPAnswerTests {
  private func answer(_ text: String) -> HTTPAnswer? {
    HTTPAnswer(Array(text.replacing("\n", with: "\r\n").utf8))
  }

  private func body(_ text: String) -> String? {
    answer(text).map { String(decoding: $0.body, as: UTF8.self) }
  }

  @Test func `an answer has its status and its body, in chunks or not`() {
    #expect(answer("HTTP/1.1 500 Oh\n\n")?.status == 500)
    #expect(body("HTTP/1.0 200 OK\nServer: x\n\nabc") == "abc")
    #expect(body("HTTP/1.1 200 OK\nCONTENT-LENGTH: 3\n\nabcd") == "abc")
    #expect(
      body("HTTP/1.1 200 OK\ntransfer-encoding: Chunked\n\n3;x=y\nabc\nA\n0123456789\n0\n\n")
        == "abc0123456789")
  }

  @Test func `an answer that breaks off, or is none, is nothing`() {
    for text in [
      "", "\n\n", "HTTP/1.1 200 OK\n", "HTTP/2 200\n\n", "HTTP/1.1 x\n\n",
      "HTTP/1.1 200 OK\nContent-Length: 4\n\nabc",
      "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n",
      "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n7fffffffffffffff\nabc\n0\n\n",
      "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n-1\nabc\n0\n\n",
      "HTTP/1.1 200 OK\nX: \(String(repeating: "x", count: 16 << 10))\n\n",
    ] { #expect(answer(text) == nil, "\(text.prefix(60))") }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `no bytes break what reads answers of HTTP`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let parts = [
      "HTTP/1.1 200", "\r\n", "\r\n\r\n", "Transfer-Encoding: chunked", "3\r\n", "abc", "0",
    ]
    for _ in 0..<300 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        bytes +=
          Int.random(in: 0..<5, using: &random) > 0
          ? Array(random.element(parts).utf8) : random.bytes(Int.random(in: 0...4, using: &random))
      }
      #expect(HTTPAnswer(bytes)?.body.count ?? 0 <= bytes.count)
    }
  }
}
