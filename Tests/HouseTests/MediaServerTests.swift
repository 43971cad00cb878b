import Sender
import Testing

@testable import House

/// Tests of servers of libraries: the proofs of their users, and the names of their songs.
@Suite struct MediaServerTests {
  private func server(_ login: MediaServer.Login, _ address: String = "http://a.example:4533/x")
    throws
    -> MediaServer
  {
    MediaServer(
      name: "Home", address: try #require(ListenAddress(address)), user: "an&na", login: login,
      secretFile: "/etc/x")
  }

  private func path(_ login: MediaServer.Login) throws -> String {
    let server = try server(login)
    let proof = server.proof("sesame?", salt: "c19b2d") { bytes in
      "<\(String(decoding: bytes, as: UTF8.self))>"
    }
    return server.path("stream", [("id", "a/b c")], proof: proof)
  }

  @Test func `a request has its user's proof, and nothing that could be read as more`() throws {
    let rest = "&c=tutti&f=json&id=a%2Fb%20c"
    #expect(
      try path(.token)
        == "/x/rest/stream.view?u=an%26na&t=%3Csesame%3Fc19b2d%3E&s=c19b2d&v=1.13.0\(rest)")
    #expect(
      try path(.password) == "/x/rest/stream.view?u=an%26na&p=enc%3A736573616D653F&v=1.8.0\(rest)")
    #expect(try path(.key) == "/x/rest/stream.view?apiKey=sesame%3F&v=1.13.0\(rest)")
    #expect(
      try server(.key, "https://a/").path("ping", [], proof: [])
        == "/rest/ping.view?v=1.13.0&c=tutti&f=json")
  }

  @Test func `a server goes to the program that asks it as words`() throws {
    let server = try server(.password)
    #expect(MediaServer(words: server.words) == server)
    for place in [0, 1, 2, 4] {
      var words = server.words
      words[place] = "/"
      #expect(MediaServer(words: words) == nil)
    }
    #expect(MediaServer(words: server.words.dropLast()) == nil)
    let shelf = MediaServer(name: "Loft", description: server.address)
    #expect(MediaServer(words: shelf.words)?.kind == .upnp && !shelf.hears)
  }

  @Test func `a name is one part of a path`() {
    #expect(MediaServer.isName("Anna's music: all"))
    #expect(MediaServer.isName(String(repeating: "a", count: MediaServer.nameLimit)))
    for name in ["", ".", "..", "a/b", "a\n", String(repeating: "a", count: 65)] {
      #expect(!MediaServer.isName(name))
    }
  }

  @Test func `a file's name has the song's identifier, whatever that is`() {
    for id in ["7", "mf-7", "a/b", "..", "a.b", "é%2F", "50%", " ", "a\u{301}?&=#"] {
      for suffix in ["flac", ""] {
        let name = ServedName.name(id: id, suffix: suffix)
        #expect(ServedName.id(ofName: name) == id)
        #expect(!name.contains("/") && name != ".." && !name.hasPrefix("."))
        let parts = ServedLocation.parts("library:Home/A/B/\(name)")
        #expect(parts?.library == "Home" && parts?.file == name)
      }
    }
    for name in ["", ".flac", "%", "%zz.flac", "%ff"] {
      #expect(ServedName.id(ofName: name) == nil)
    }
    for text in ["library:", "library:Home", "/library:Home/a", "http://a/b"] {
      #expect(ServedLocation.parts(text) == nil)
    }
  }
}
