import Audio
import Clock
import Driver
import FFmpegSource
import Sender
import Testing

@testable import House
@testable import Service

@Suite struct HouseConfigurationTests {
  private static func read(_ text: String) throws(Refusal) -> HouseConfiguration {
    var configuration = HouseConfiguration()
    try configuration.read(text, from: "tutti.conf")
    return configuration
  }

  @Test func `clients of MPD are answered where the configuration says so`() throws {
    #expect(try Self.read("").mpd == nil)
    #expect(try Self.read("mpd = yes").mpd == 6600)
    #expect(try Self.read("mpd = 6700").mpd == 6700)
    #expect(try Self.read("mpd = 6700\nmpd = no").mpd == nil)
    for wrong in ["66000", "on", "-1"] {
      #expect(throws: Refusal.invalid("tutti.conf:1: mpd is yes, no or a port: 0 to 65535")) {
        try Self.read("mpd = \(wrong)")
      }
    }
  }

  @Test func `the session bus is used where the configuration says so`() throws {
    #expect(try !Self.read("").mpris)
    #expect(try Self.read("mpris = yes").mpris)
    #expect(try !Self.read("mpris = yes\nmpris = no").mpris)
    #expect(throws: Refusal.invalid("tutti.conf:1: mpris is yes or no")) {
      try Self.read("mpris = on")
    }
  }

  @Test func `the keys of the file are fixed, and most changes need a new process`() throws {
    let read = try Self.read("library = /srv/a\nlibrary = /srv/b\nopen = no")
    #expect(read.fixed == SetUp.Fixed(keys: ["library", "open"], folders: ["/srv/a", "/srv/b"]))
    for text in ["", "library = /srv/c\nopen = yes", "folders-from = /data"] {
      #expect(try Self.read(text).isFollowed(after: read), "\(text)")
    }
    for text in ["port = 80", "token = 12345678", "[input A]\nsource = alsa:hw:1"] {
      #expect(try !Self.read("library = /srv/a\n" + text).isFollowed(after: read), "\(text)")
    }
  }

  @Test func `folders are chosen from the usual places, or those of the file`() throws {
    #expect(
      try Self.read("").roots(music: "/home/ann/Music")
        == ["/home/ann/Music", "/media", "/mnt", "/srv"])
    #expect(try Self.read("").roots(music: nil) == ["/media", "/mnt", "/srv"])
    let read = try Self.read("folders-from = /data/\nfolders-from = /nas")
    #expect(read.roots(music: "/home/ann/Music") == ["/data", "/nas"])
    #expect(throws: Refusal.self) { try Self.read("folders-from = data") }
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
      voice = espeak-ng  --stdout -v en
      record = /var/lib/tutti/house.txt
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
    #expect(read.voice == ["espeak-ng", "--stdout", "-v", "en"])
    #expect(read.record == "/var/lib/tutti/house.txt")
    #expect(throws: Refusal.self) { try Self.read("record = house.txt") }
  }

  @Test func `inputs have sections of their own`() throws {
    let read = try Self.read(
      """
      name = Home
      [input Turntable]
      source = alsa:hw:1
      live = 40
      on-sound = Living room

      [ input  The other room ]
      raw = 44100:24:2
      source = pipe:/run/x.fifo
      """)
    #expect(read.name == "Home")
    #expect(read.inputs.map(\.name) == ["Turntable", "The other room"])
    #expect(read.inputs.map(\.source) == [.card("hw:1"), .pipe("/run/x.fifo")])
    #expect(read.inputs.map(\.onSound) == ["Living room", nil])
    #expect(read.inputs.map { $0.raw?.audio.sampleRate } == [nil, 44_100])
    #expect(read.inputs.map { $0.live?.start } == [.milliseconds(40), nil])
    let live = try Self.read("[input a]\nlive = auto\nsource = alsa:x").inputs.first?.live
    #expect(live?.isChosen == true)
  }

  @Test func `an input may be a program, with its arguments and no shell`() throws {
    let read = try Self.read(
      """
      [input AirPlay]
      command = shairport-sync -a "Living room's" --pipe='/dev/fd 3' -- '' $(x)
      raw = 44100:16:2
      events = shairport-sync
      memory = 300
      on-sound = Living room
      [input B]
      command = x
      """)
    guard case .program(let program) = read.inputs[0].source,
      case .program(let other) = read.inputs[1].source
    else { throw Refusal.invalid("no programs") }
    #expect(
      program.command == [
        "shairport-sync", "-a", "Living room's", "--pipe=/dev/fd 3", "--", "", "$(x)",
      ])
    #expect(program.raw.audio.sampleRate == 44_100 && program.events == .shairport)
    #expect(program.memoryMiB == 300 && !program.takesOrders)
    #expect(other.command == ["x"] && other.raw.audio.sampleRate == 48_000)
    #expect(other.events == .none && other.memoryMiB == 1_024)
    let many = Array(repeating: "x", count: ArgumentList.wordLimit).joined(separator: " ")
    #expect(ArgumentList(many) != nil && ArgumentList(many + " x") == nil)
    #expect(ArgumentList(String(repeating: "x", count: ArgumentList.byteLimit + 1)) == nil)
  }

  @Test func `there is an end to the inputs`() throws {
    let sections = (1...HouseConfiguration.inputLimit).map { "[input \($0)]\nsource = alsa:x\n" }
    #expect(try Self.read(sections.joined()).inputs.count == HouseConfiguration.inputLimit)
    let error = #expect(throws: Refusal.self) {
      try Self.read(sections.joined() + "[input more]\nsource = alsa:x")
    }
    #expect(error?.description.hasPrefix("tutti.conf:33: there are 16 inputs at most") ?? false)
  }

  @Test func `listens go to services of the configuration`() throws {
    let read = try Self.read(
      """
      [scrobble Anna]
      service = listenbrainz
      token-file = /etc/tutti/anna
      [input A]
      source = alsa:x
      [scrobble Ben]
      groups = Kitchen, Living room
      url = https://libre.fm/2.0/
      service = lastfm
      token-file = /etc/tutti/ben
      """)
    #expect(read.listenServices.map(\.name) == ["Anna", "Ben"] && read.inputs.count == 1)
    #expect(read.listenServices[0].address == .listenBrainz)
    #expect(read.listenServices[1].address.text == "https://libre.fm/2.0/")
    #expect(read.listenServices[1].groups == ["Kitchen", "Living room"])
    #expect(!read.isFollowed(after: HouseConfiguration()))
    let sections = (1...HouseConfiguration.serviceLimit).map {
      "[scrobble \($0)]\nservice = lastfm\ntoken-file = /x\n"
    }
    #expect(
      try Self.read(sections.joined()).listenServices.count == HouseConfiguration.serviceLimit)
    #expect(throws: Refusal.self) { try Self.read(sections.joined() + "[scrobble more]") }
  }

  @Test func `a library may be a server's`() throws {
    let read = try Self.read(
      """
      [library Home]
      subsonic = https://music.example:4533/navidrome
      user = anna
      password-file = /etc/tutti/music
      [library Old one]
      subsonic = http://10.0.0.2
      login = password
      user = ben
      scrobble = no
      password-file = /x
      [library Key]
      subsonic = http://10.0.0.3
      login = key
      password-file = /y
      [library Loft]
      upnp = http://192.168.1.5:8200/rootDesc.xml
      """)
    #expect(read.servers.map(\.name) == ["Home", "Old one", "Key", "Loft"])
    #expect(read.servers.map(\.login) == [.token, .password, .key, .key])
    #expect(read.servers.map(\.hears) == [true, false, true, false])
    #expect(read.servers.map(\.kind) == [.subsonic, .subsonic, .subsonic, .upnp])
    #expect(read.servers[3].address.path == "/rootDesc.xml")
    #expect(read.servers[0].address.text == "https://music.example:4533/navidrome")
    #expect(read.servers[0].user == "anna" && read.servers[0].secretFile == "/etc/tutti/music")
    #expect(!read.isFollowed(after: HouseConfiguration()))
    let sections = (1...HouseConfiguration.serverLimit).map {
      "[library \($0)]\nsubsonic = http://a\nlogin = key\npassword-file = /x\n"
    }
    #expect(try Self.read(sections.joined()).servers.count == HouseConfiguration.serverLimit)
    #expect(throws: Refusal.self) { try Self.read(sections.joined() + "[library more]") }
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
    ("[server]", "tutti.conf:1: there is no section [server]; there are: [input NAME]"),
    ("[input x", "tutti.conf:1: there is no section [input x; there are: [input NAME]"),
    ("port = 1\n[input]", "tutti.conf:2: an input has a name of at most 64 bytes"),
    ("[input a]\nsource = a.wav", "tutti.conf:2: source is alsa:CARD or pipe:/PATH"),
    ("[input a]\nsource = -", "tutti.conf:2: source is alsa:CARD or pipe:/PATH"),
    ("[input a]\nport = 1", "tutti.conf:2: there is no key port in [input a]; there are: source"),
    ("[input a]\n\n[input b]", "tutti.conf:1: [input a] needs a line such as: source = alsa:hw:1"),
    ("[input a]\nsource = alsa:x\nsource = alsa:y", "tutti.conf:3: source is set already"),
    ("[input a]\nsource = alsa:x\n[input A]", "tutti.conf:3: there is an input A already"),
    ("[input a]\nraw = 5", "tutti.conf:2: raw is rate:bits:channels, such as 48000:16:2"),
    ("[input a]\nlive = 5", "tutti.conf:2: live is 10 to 2000 ms, such as 40, or auto"),
    ("[input a]\non-sound =", "tutti.conf:2: on-sound has no value"),
    (
      "[input a]\nsource = alsa:x\nraw = 44100:16:2",
      "tutti.conf:1: raw is for pipes; a card says itself what it records"
    ),
    ("[input a]\ncommand = 'x", "tutti.conf:2: command is a program and its arguments"),
    ("[input a]\ncommand = '' x", "tutti.conf:2: command is a program and its arguments"),
    ("[input a]\ncommand =", "tutti.conf:2: command is a program and its arguments"),
    ("[input a]\nevents = xml", "tutti.conf:2: events is one of: json, shairport-sync, none"),
    ("[input a]\nmemory = 8", "tutti.conf:2: memory is 16 to 8192 MiB, such as 1024"),
    (
      "[input a]\nsource = alsa:x\nevents = json",
      "tutti.conf:1: events and memory go with a command in [input a]"
    ),
    (
      "[input a]\nsource = alsa:x\ncommand = x",
      "tutti.conf:1: [input a] has either a source or a command"
    ),
    ("[scrobble]", "tutti.conf:1: a service has a name of at most 64 bytes"),
    (
      "[scrobble a]\nport = 1",
      "tutti.conf:2: there is no key port in [scrobble a]; there are: service"
    ),
    ("[scrobble a]\nservice = x", "tutti.conf:2: service is one of: listenbrainz, lastfm"),
    ("[scrobble a]\nurl = a.example", "tutti.conf:2: url is an address such as https://host/path"),
    ("[scrobble a]\ntoken-file = x", "tutti.conf:2: token-file is the whole path of a file"),
    ("[scrobble a]\ngroups = ,", "tutti.conf:2: groups has no value"),
    ("[scrobble a]\nurl = http://a\nurl = http://b", "tutti.conf:3: url is set already"),
    ("\n[scrobble a]\n", "tutti.conf:2: [scrobble a] needs a line such as: service = listenbrainz"),
    (
      "[scrobble a]\nservice = lastfm",
      "tutti.conf:1: [scrobble a] needs a line such as: token-file = /etc/tutti/token"
    ),
    ("[library]", "tutti.conf:1: a library has a name of at most 64 bytes, without a slash"),
    ("[library a/b]", "tutti.conf:1: a library has a name of at most 64 bytes, without a slash"),
    (
      "[library a]\nport = 1",
      "tutti.conf:2: there is no key port in [library a]; there are: subsonic"
    ),
    (
      "[library a]\nsubsonic = http://u:p@a",
      "tutti.conf:2: subsonic is an address such as https://host:4533, without a password"
    ),
    (
      "[library a]\nupnp = Loft",
      "tutti.conf:2: upnp is an address such as http://host:8200/rootDesc.xml"
    ),
    (
      "[library a]\nupnp = http://a/b\nuser = x",
      "tutti.conf:1: [library a] has upnp alone: such a server has no users"
    ),
    ("[library a]\nlogin = x", "tutti.conf:2: login is one of: token, password, key"),
    ("[library a]\nscrobble = 1", "tutti.conf:2: scrobble is yes or no"),
    ("[library a]\npassword-file = x", "tutti.conf:2: password-file is the whole path of a file"),
    ("[library a]\nuser = x\nuser = y", "tutti.conf:3: user is set already"),
    (
      "\n[library a]",
      "tutti.conf:2: [library a] needs a line such as: subsonic = https://host:4533"
    ),
    (
      "[library a]\nsubsonic = http://a\npassword-file = /x",
      "tutti.conf:1: [library a] needs a line such as: user = anna"
    ),
    (
      "[library a]\nsubsonic = http://a\nuser = x",
      "tutti.conf:1: [library a] needs a line such as: password-file = /etc/tutti/password"
    ),
    ("port", "tutti.conf:1: write: key = value"),
    ("name =", "tutti.conf:1: name has no value"),
    ("token = short", "tutti.conf:1: token has 8 to 256 characters"),
    ("library = music", "tutti.conf:1: library is the whole path of a folder"),
    ("socket = control.sock", "tutti.conf:1: socket is the whole path of a file"),
    ("state-dir = ~/x", "tutti.conf:1: state-dir is the whole path of a folder"),
  ]) func `what is wrong is one line with its place`(text: String, line: String) {
    let error = #expect(throws: Refusal.self) { try Self.read(text) }
    #expect(error?.description.hasPrefix(line) ?? false, "\(String(describing: error))")
  }
}
