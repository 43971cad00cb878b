import House

/// A section that is being read.
enum ConfigurationSection {
  case input(HouseConfiguration.InputSection)
  case service(HouseConfiguration.ServiceSection)
  case server(HouseConfiguration.ServerSection)

  /// - Parameter line: such as `[input Turntable]`.
  init(_ line: String, at place: String, _ others: HouseConfiguration) throws(Refusal) {
    let text = line.hasSuffix("]") ? HouseConfiguration.trimmed(line.dropFirst().dropLast()) : ""
    let words = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    let name = words.count > 1 ? HouseConfiguration.trimmed(words[1]) : ""
    switch words.first {
    case "input": self = .input(try .init(name, at: place, others.inputs))
    case "scrobble": self = .service(try .init(name, at: place, others.listenServices))
    case "library": self = .server(try .init(name, at: place, others.servers))
    default:
      throw .invalid(
        "\(place): there is no section \(line); there are: [input NAME], [scrobble NAME], [library NAME]"
      )
    }
  }

  mutating func set(_ name: String, to value: String, at place: String) throws(Refusal) {
    switch self {
    case .input(var section):
      try section.set(name, to: value, at: place)
      self = .input(section)
    case .service(var section):
      try section.set(name, to: value, at: place)
      self = .service(section)
    case .server(var section):
      try section.set(name, to: value, at: place)
      self = .server(section)
    }
  }
}

/// Sections such as
///
///     [scrobble Anna]
///     service = listenbrainz
///     token-file = /etc/tutti/listenbrainz.token
///     groups = Kitchen, Living room
/// The keys that a section of the configuration has set: each stands there once.
struct SectionKeys<Key: RawRepresentable<String> & CaseIterable & Hashable> {
  private var seen: Set<Key> = []

  init() {}

  /// - Parameter section: such as `[input Turntable]`.
  mutating func take(
    _ name: String, in section: String, at place: String
  ) throws(Refusal) -> Key {
    guard let key = Key(rawValue: name) else {
      let names = Key.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalid("\(place): there is no key \(name) in \(section); there are: \(names)")
    }
    guard seen.insert(key).inserted else { throw .invalid("\(place): \(name) is set already") }
    return key
  }

  func hasOthers(than key: Key) -> Bool { seen != [key] }
}

extension HouseConfiguration {
  /// Most services of one household.
  package static let serviceLimit = 8

  /// One that is being read.
  struct ServiceSection {
    private enum Key: String, CaseIterable {
      case service, url, groups
      case tokenFile = "token-file"
    }

    private let name: String
    private let place: String
    private var kind: ListenService.Kind?
    private var address: ListenAddress?
    private var tokenFile: String?
    private var groups: [String] = []
    private var keys = SectionKeys<Key>()

    init(_ name: String, at place: String, _ others: [ListenService]) throws(Refusal) {
      guard (1...64).contains(name.utf8.count) else {
        throw .invalid("\(place): a service has a name of at most 64 bytes: [scrobble NAME]")
      }
      guard !others.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
        throw .invalid("\(place): there is a service \(name) already")
      }
      guard others.count < serviceLimit else {
        throw .invalid("\(place): there are \(serviceLimit) services at most")
      }
      (self.name, self.place) = (name, place)
    }

    mutating func set(_ name: String, to value: String, at place: String) throws(Refusal) {
      switch try keys.take(name, in: "[scrobble \(self.name)]", at: place) {
      case .service:
        guard let found = ListenService.Kind.named.first(where: { $0.rawValue == value }) else {
          let all = ListenService.Kind.named.map(\.rawValue).joined(separator: ", ")
          throw .invalid("\(place): service is one of: \(all)")
        }
        kind = found
      case .url:
        guard let found = ListenAddress(value) else {
          throw .invalid(
            "\(place): url is an address such as https://host/path, without a password")
        }
        address = found
      case .tokenFile:
        guard value.hasPrefix("/") else {
          throw .invalid("\(place): token-file is the whole path of a file")
        }
        tokenFile = value
      case .groups:
        groups = HouseConfiguration.parts(value)
        guard !groups.isEmpty else { throw .invalid("\(place): groups has no value") }
      }
    }

    fileprivate func service() throws(Refusal) -> ListenService {
      guard let kind else {
        throw .invalid("\(place): [scrobble \(name)] needs a line such as: service = listenbrainz")
      }
      guard let tokenFile else {
        throw .invalid(
          "\(place): [scrobble \(name)] needs a line such as: token-file = /etc/tutti/token")
      }
      let usual = kind == .lastFM ? ListenAddress.lastFM : .listenBrainz
      var service = ListenService(
        name: name, kind: kind, address: address ?? usual, tokenFile: tokenFile)
      service.groups = groups
      return service
    }
  }

  mutating func add(_ section: ConfigurationSection) throws(Refusal) {
    switch section {
    case .input(let section): try add(section)
    case .service(let section): listenServices.append(try section.service())
    case .server(let section): servers.append(try section.server())
    }
  }
}
