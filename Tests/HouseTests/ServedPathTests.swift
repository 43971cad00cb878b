import Testing

@testable import House

/// Tests of paths that servers of libraries tell of themselves.
@Suite struct ServedPathTests {
  private func path(_ reference: String, at address: String = "http://10.0.0.5:8200/a/desc.xml")
    throws -> String?
  {
    try #require(ListenAddress(address)).path(of: reference)
  }

  @Test func `a server's reference is a path at its own host and port`() throws {
    #expect(try path("http://10.0.0.5:8200/MediaItems/1.flac?x=1&y") == "/MediaItems/1.flac?x=1&y")
    #expect(try path("/ctl/ContentDir") == "/ctl/ContentDir")
    #expect(try path("ctl") == "/a/ctl")
    #expect(try path("HTTP://Nas:8200/x", at: "http://nas:8200/d") == "/x")
    // A server knows its number alone.
    #expect(try path("http://10.0.0.5:8200/x", at: "http://nas:8200/d") == "/x")
    #expect(try path("http://[fe80::1]:8200/x", at: "http://nas:8200/d") == "/x")
    #expect(try path("/a b/é\"<") == "/a%20b/%C3%A9%22%3C")
  }

  @Test func `a reference that leads elsewhere is none`() throws {
    for reference in [
      "http://10.0.0.6:8200/x", "http://10.0.0.5/x", "http://10.0.0.5:82/x",
      "https://10.0.0.5:8200/x", "http://nas:8200/x", "//10.0.0.6/x", "file:///etc/passwd",
      "http://u@10.0.0.5:8200/x", "http://10.0.0.5:8200", "http://10.0.0.5:8200?x", "", "/a\r\nb",
      "/a\u{7f}", "rtsp://10.0.0.5:8200/x", "/" + String(repeating: "x", count: 256),
    ] { #expect(try path(reference) == nil, "\(reference)") }
  }

  @Test func `an address is made of a path alone`() throws {
    let server = try #require(ListenAddress("http://[::1]:8200/desc.xml"))
    #expect(server.origin(at: "/a?b=c") == "http://[::1]:8200/a?b=c")
    let long = "/" + String(repeating: "x", count: ListenAddress.pathLimit)
    for path in ["", "a", "@evil/", "http://evil/", "/a b", "/a\n", "/é", "/a#b", long] {
      #expect(server.origin(at: path) == nil)
    }
  }
}
