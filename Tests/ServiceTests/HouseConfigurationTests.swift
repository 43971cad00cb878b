import Testing

@testable import Service

@Suite struct HouseConfigurationTests {
  private static func read(_ text: String) throws(ServiceError) -> HouseConfiguration {
    var configuration = HouseConfiguration()
    try configuration.read(text, from: "tutti.conf")
    return configuration
  }

  @Test func `each key is read`() throws {
    let read = try Self.read(
      """
      # A household.
      ; The same.
        name = Our house \r
      port=80
      listen = 192.168.1.2, ::1
      token = 12345678
      hosts = tutti.home,music
      hosts = radio
      library = /srv/music
      library = /srv/more = music
      resume = no
      state-dir = /var/lib/tutti
      socket = /run/tutti/control.sock
      """)
    #expect(read.name == "Our house")
    #expect(read.port == 80)
    #expect(read.listen == ["192.168.1.2", "::1"])
    #expect(read.token == "12345678")
    #expect(read.hosts == ["tutti.home", "music", "radio"])
    #expect(read.library == ["/srv/music", "/srv/more = music"])
    #expect(!read.resume)
    #expect(read.stateDirectory == "/var/lib/tutti")
    #expect(read.socket == "/run/tutti/control.sock")
  }

  @Test func `an empty file leaves everything as it is`() throws {
    #expect(try Self.read("") == HouseConfiguration())
    #expect(try Self.read("\n# port = 1\n") == HouseConfiguration())
  }

  @Test(arguments: [
    ("port = 1\nprot = 2", "tutti.conf:2: there is no key prot; there are: name, port"),
    ("port = -1", "tutti.conf:1: port is 0 to 65535"),
    ("port = 65536", "tutti.conf:1: port is 0 to 65535"),
    ("\n\nresume = maybe", "tutti.conf:3: resume is yes or no"),
    ("[server]", "tutti.conf:1: there are no sections here; write: key = value"),
    ("port", "tutti.conf:1: write: key = value"),
    ("name =", "tutti.conf:1: name has no value"),
    ("token = short", "tutti.conf:1: token has 8 to 256 characters"),
    ("library = music", "tutti.conf:1: library is the whole path of a folder"),
    ("socket = control.sock", "tutti.conf:1: socket is the whole path of a file"),
    ("state-dir = ~/x", "tutti.conf:1: state-dir is the whole path of a folder"),
  ]) func `what is wrong is one line with its place`(text: String, line: String) {
    let error = #expect(throws: ServiceError.self) { try Self.read(text) }
    #expect(error?.description.hasPrefix(line) ?? false, "\(String(describing: error))")
  }
}
