import Driver
package import House

/// How a daemon is set up: by a file of lines `key = value`, of which each can also be given as an option, and of sections
/// `[input NAME]`, `[scrobble NAME]` and `[library NAME]`.
package struct HouseConfiguration: Hashable, Sendable {
  /// The keys. A key with several values is written several times.
  package enum Key: String, CaseIterable, Sendable {
    case name, port, listen, token, open, hosts, library, resume, socket, voice, mpd, mpris
    case second, with, record
    case stateDirectory = "state-dir"
    case foldersFrom = "folders-from"
  }

  /// Larger than anybody writes one, in bytes.
  package static let sizeLimit = 64 << 10
  /// The port on which clients of MPD look first.
  private static let usualMPDPort: UInt16 = 6600

  /// As the rooms show it; nil is the machine's.
  package var name: String?
  /// The TCP port of the page and the HTTP interface; 0 is a free one.
  package var port: UInt16 = 8770
  /// Addresses of this machine; none is all of them.
  package var listen: [String] = []
  /// The secret by which programs, and browsers that are not paired, are let in; nil is none.
  package var token: String?
  /// True if guests may steer music; nil leaves it to the page.
  package var open: Bool?
  /// Further names under which the page is opened.
  package var hosts: [String] = []
  /// Folders with music.
  package var library: [String] = []
  /// Folders from which the page and commands choose more of them; none is the usual ones.
  package var foldersFrom: [String] = []
  /// The keys that the file or an option has.
  package var named: Set<Key> = []
  /// True if music that played when the daemon ended goes on when it starts.
  package var resume = true
  package var stateDirectory: String?
  /// Where commands are taken as well, of the group that its folder has.
  package var socket: String?
  /// The command that speaks announcements: a program and its arguments.
  package var voice = ClipMaker.usualVoice
  /// The TCP port for clients of MPD; 0 is a free one, nil is none.
  package var mpd: UInt16?
  /// True to be steered through the session bus of its user.
  package var mpris = false
  /// The TCP port on which the household's second daemon is waited for; nil is none.
  package var second: UInt16?
  /// Where the household's first daemon is, if this is the second one.
  package var with: DaemonPlace?
  /// The file that gets what happens to the household; nil is none.
  package var record: String?
  package var inputs: [Input] = []
  /// Those that are told what is heard.
  package var listenServices: [ListenService] = []
  /// Those that keep libraries beside the folders.
  package var servers: [MediaServer] = []

  package init() {}

  /// Reads a file's text. What is wrong in it is one line with the place, such as `tutti.conf:3: …`.
  package mutating func read(_ text: String, from path: String) throws(Refusal) {
    var seen: Set<Key> = []
    var section: ConfigurationSection?
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let place = "\(path):\(index + 1)"
      let line = Self.trimmed(line[...])
      if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
      if line.hasPrefix("[") {
        if let section { try add(section) }
        section = try ConfigurationSection(line, at: place, self)
        continue
      }
      guard let equals = line.firstIndex(of: "=") else {
        throw .invalid("\(place): write: key = value")
      }
      let name = Self.trimmed(line[..<equals])
      let value = Self.trimmed(line[line.index(after: equals)...])
      if try section?.set(name, to: value, at: place) != nil { continue }
      guard let key = Key(rawValue: name) else {
        let names = Key.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalid("\(place): there is no key \(name); there are: \(names)")
      }
      // The first of several values takes the place of the default, as an option does.
      if seen.insert(key).inserted { clear(key) }
      do {
        try set(key, to: value)
      } catch {
        throw .invalid("\(place): \(error)")
      }
    }
    if let section { try add(section) }
  }

  /// Forgets what a key with several values has been set to.
  package mutating func clear(_ key: Key) {
    switch key {
    case .listen: listen = []
    case .hosts: hosts = []
    case .library: library = []
    case .foldersFrom: foldersFrom = []
    case .name, .port, .token, .open, .resume, .stateDirectory, .socket, .voice, .mpd, .mpris,
      .second, .with, .record:
      break
    }
  }

  /// - Throws: a sentence that says what is allowed.
  package mutating func set(_ key: Key, to value: String) throws(Refusal) {
    guard !value.isEmpty else { throw .invalid("\(key.rawValue) has no value") }
    named.insert(key)
    switch key {
    case .name:
      guard value.utf8.count <= 64 else { throw .invalid("name has at most 64 bytes") }
      name = value
    case .port:
      guard let port = UInt16(value) else { throw .invalid("port is 0 to 65535") }
      self.port = port
    case .listen: listen += Self.parts(value)
    case .token:
      guard (8...256).contains(value.utf8.count) else {
        throw .invalid("token has 8 to 256 characters")
      }
      token = value
    case .open:
      guard let isOpen = ["yes": true, "no": false][value] else {
        throw .invalid("open is yes or no")
      }
      open = isOpen
    case .hosts: hosts += Self.parts(value)
    case .library:
      guard value.hasPrefix("/") else {
        throw .invalid("library is the whole path of a folder, such as /srv/music")
      }
      library.append(value)
    case .foldersFrom:
      guard value.hasPrefix("/") else {
        throw .invalid("folders-from is the whole path of a folder, such as /srv")
      }
      foldersFrom.append(value == "/" || !value.hasSuffix("/") ? value : String(value.dropLast()))
    case .resume:
      guard let resumes = ["yes": true, "no": false][value] else {
        throw .invalid("resume is yes or no")
      }
      resume = resumes
    case .stateDirectory:
      guard value.hasPrefix("/") else { throw .invalid("state-dir is the whole path of a folder") }
      stateDirectory = value
    case .socket:
      guard value.hasPrefix("/") else { throw .invalid("socket is the whole path of a file") }
      socket = value
    case .mpd:
      let words: [String: UInt16?] = ["yes": Self.usualMPDPort, "no": nil]
      guard let port = words[value] ?? UInt16(value).map(Optional.some) else {
        throw .invalid("mpd is yes, no or a port: 0 to 65535")
      }
      mpd = port
    case .mpris:
      guard let isOn = ["yes": true, "no": false][value] else {
        throw .invalid("mpris is yes or no")
      }
      mpris = isOn
    case .second:
      let words: [String: UInt16?] = ["yes": DaemonPlace.usualPort, "no": nil]
      guard let port = words[value] ?? UInt16(value).map(Optional.some) else {
        throw .invalid("second is yes, no or a port: 0 to 65535")
      }
      second = port
    case .with: with = try DaemonPlace(value)
    case .record:
      guard value.hasPrefix("/") else { throw .invalid("record is the whole path of a file") }
      record = value
    case .voice: voice = value.split(whereSeparator: \.isWhitespace).map(String.init)
    }
  }

  static func parts(_ list: String) -> [String] {
    list.split(separator: ",").map { trimmed($0) }.filter { !$0.isEmpty }
  }

  static func trimmed(_ text: Substring) -> String {
    let front = text.drop { $0.isWhitespace }
    guard let last = front.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(front[...last])
  }
}
