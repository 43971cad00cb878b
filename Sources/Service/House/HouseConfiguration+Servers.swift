import House

/// Sections such as
///
///     [library Home]
///     subsonic = https://music.example:4533
///     user = anna
///     password-file = /etc/tutti/music.password
///
///     [library Loft]
///     upnp = http://192.168.1.5:8200/rootDesc.xml
extension HouseConfiguration {
  /// Most servers of one household.
  package static let serverLimit = 8

  /// One that is being read.
  struct ServerSection {
    private enum Key: String, CaseIterable {
      case subsonic, upnp, user, login, scrobble
      case passwordFile = "password-file"
    }

    private let name: String
    private let place: String
    private var address: ListenAddress?
    /// The address of a device's description.
    private var device: ListenAddress?
    private var user = ""
    private var login = MediaServer.Login.token
    private var passwordFile: String?
    private var hears = true
    private var keys = SectionKeys<Key>()

    init(_ name: String, at place: String, _ others: [MediaServer]) throws(Refusal) {
      guard MediaServer.isName(name) else {
        throw .invalid(
          "\(place): a library has a name of at most \(MediaServer.nameLimit) bytes, without a slash: "
            + "[library NAME]")
      }
      guard !others.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
        throw .invalid("\(place): there is a library \(name) already")
      }
      guard others.count < serverLimit else {
        throw .invalid("\(place): there are \(serverLimit) libraries of servers at most")
      }
      (self.name, self.place) = (name, place)
    }

    mutating func set(_ name: String, to value: String, at place: String) throws(Refusal) {
      switch try keys.take(name, in: "[library \(self.name)]", at: place) {
      case .subsonic:
        guard let found = ListenAddress(value) else {
          throw .invalid(
            "\(place): subsonic is an address such as https://host:4533, without a password")
        }
        address = found
      case .upnp:
        guard let found = ListenAddress(value) else {
          throw .invalid("\(place): upnp is an address such as http://host:8200/rootDesc.xml")
        }
        device = found
      case .user:
        guard (1...128).contains(value.utf8.count), !value.contains("\0") else {
          throw .invalid("\(place): user has 1 to 128 bytes")
        }
        user = value
      case .login:
        guard let found = MediaServer.Login(rawValue: value) else {
          let all = MediaServer.Login.allCases.map(\.rawValue).joined(separator: ", ")
          throw .invalid("\(place): login is one of: \(all)")
        }
        login = found
      case .passwordFile:
        guard value.hasPrefix("/"), !value.contains("\0") else {
          throw .invalid("\(place): password-file is the whole path of a file")
        }
        passwordFile = value
      case .scrobble:
        guard let isOn = ["yes": true, "no": false][value] else {
          throw .invalid("\(place): scrobble is yes or no")
        }
        hears = isOn
      }
    }

    func server() throws(Refusal) -> MediaServer {
      if let device {
        guard !keys.hasOthers(than: .upnp) else {
          throw .invalid("\(place): [library \(name)] has upnp alone: such a server has no users")
        }
        return MediaServer(name: name, description: device)
      }
      guard let address else {
        throw .invalid(
          "\(place): [library \(name)] needs a line such as: subsonic = https://host:4533")
      }
      guard let passwordFile else {
        throw .invalid(
          "\(place): [library \(name)] needs a line such as: password-file = /etc/tutti/password")
      }
      guard login == .key || !user.isEmpty else {
        throw .invalid("\(place): [library \(name)] needs a line such as: user = anna")
      }
      var server = MediaServer(
        name: name, address: address, user: user, login: login, secretFile: passwordFile)
      server.hears = hears
      return server
    }
  }
}
