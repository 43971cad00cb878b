package import Sender

/// A server that keeps a library, and gives it by the interface of Subsonic or as a media server of UPnP.
package struct MediaServer: Hashable, Sendable {
  package enum Kind: String, Codable, Sendable {
    case subsonic, upnp
  }

  /// How its user is proved.
  package enum Login: String, CaseIterable, Codable, Sendable {
    /// A hash of the password with a salt.
    case token
    /// The password itself: older servers know nothing else.
    case password
    /// A key that the server has made for this program.
    case key
  }

  /// Longest name, in bytes.
  package static let nameLimit = 64

  /// As its user calls it; the first part of the paths of its songs.
  package var name: String
  package var kind = Kind.subsonic
  /// That of the device's description for UPnP.
  package var address: ListenAddress
  /// Empty with a key.
  package var user: String
  package var login: Login
  /// The path of the file with the password or the key.
  package var secretFile: String
  /// The password or the key of one that people have added; nil where it is in a file.
  package var secret: String?
  /// Where its address may lead.
  package var reach = SourceReach.all
  /// True if the configuration names it.
  package var isFixed = true
  /// True if it is told which of its songs are heard.
  package var hears = true

  package init(
    name: String, address: ListenAddress, user: String, login: Login, secretFile: String
  ) {
    (self.name, self.address, self.user) = (name, address, user)
    (self.login, self.secretFile) = (login, secretFile)
  }

  /// A media server of UPnP, which has no users and hears of no listens.
  package init(name: String, description: ListenAddress) {
    self.init(name: name, address: description, user: "", login: .key, secretFile: "")
    (kind, hears) = (.upnp, false)
  }

  package var location: String { ServedLocation.scheme + name }

  /// True for a name that is one part of a path, and of a location.
  package static func isName(_ name: String) -> Bool {
    (1...nameLimit).contains(name.utf8.count) && !name.contains("/") && name != "."
      && name != ".." && !name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
  }

  // MARK: - Requests

  /// The fields that prove its user.
  ///
  /// - Parameters:
  ///   - salt: other letters with each request.
  ///   - hash: gives the MD5 sum in hexadecimal digits.
  package func proof(
    _ secret: String, salt: String, hash: ([UInt8]) throws -> String
  ) rethrows -> [(String, String)] {
    switch login {
    case .token: [("u", user), ("t", try hash(Array((secret + salt).utf8))), ("s", salt)]
    case .password: [("u", user), ("p", "enc:" + QueryText.hexadecimal(secret.utf8))]
    case .key: [("apiKey", secret)]
    }
  }

  /// Returns the path of a request with its query.
  package func path(
    _ method: String, _ values: [(String, String)], proof: [(String, String)]
  ) -> String {
    // Servers refuse programs of a newer version than theirs: the first one that knows what is asked for.
    let version = login == .password ? "1.8.0" : "1.13.0"
    let usual = [("v", version), ("c", "tutti"), ("f", "json")]
    return address.appending("rest/\(method).view").path + "?"
      + QueryText.query(proof + usual + values)
  }

  /// In the order of `init(words:)`, for a program that asks it. None has a zero.
  package var words: [String] {
    [
      name, kind.rawValue, address.text, user, login.rawValue, secretFile, secret ?? "",
      reach.rawValue,
    ]
  }

  package static let wordCount = 8

  package init?(words: some Collection<String>) {
    let words = Array(words)
    guard words.count == Self.wordCount, Self.isName(words[0]), let kind = Kind(rawValue: words[1]),
      let address = ListenAddress(words[2]), let login = Login(rawValue: words[4]),
      let reach = SourceReach(rawValue: words[7])
    else { return nil }
    self.init(
      name: words[0], address: address, user: words[3], login: login, secretFile: words[5])
    (self.kind, hears, self.reach) = (kind, kind == .subsonic, reach)
    secret = words[6].isEmpty ? nil : words[6]
  }
}

/// The name that a song of a server has among files: its identifier there, and the ending of its file.
package enum ServedName {
  package static func name(id: String, suffix: String) -> String {
    // A dot ends the identifier.
    let id = QueryText.encoded(id).split(separator: ".", omittingEmptySubsequences: false)
      .joined(separator: "%2E")
    return suffix.isEmpty ? id : "\(id).\(suffix)"
  }

  /// Returns the identifier; nil for a name that is none of these.
  package static func id(ofName name: String) -> String? {
    var bytes: [UInt8] = []
    var rest = name.utf8.prefix { $0 != UInt8(ascii: ".") }
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let code = UInt8(String(decoding: Array(rest.prefix(2)), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
  }
}
