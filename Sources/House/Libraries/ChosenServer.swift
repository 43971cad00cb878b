package import Sender

/// A server of a library that people have added, as the household keeps it.
package struct ChosenServer: Codable, Hashable, Sendable {
  package static let userLimit = 128
  /// Bytes of a password or a key.
  package static let secretLimit = 256

  package var name: String
  package var kind: MediaServer.Kind
  /// That of the device's description for UPnP.
  package var address: String
  package var user = ""
  package var login = MediaServer.Login.token
  /// The password or the key.
  package var secret = ""
  /// Where its address may lead: less for those who add it from elsewhere.
  package var reach = SourceReach.network

  package init(name: String, kind: MediaServer.Kind, address: String) {
    (self.name, self.kind, self.address) = (name, kind, address)
  }

  /// Throws for one that nobody can have chosen.
  package func server() throws(Refusal) -> MediaServer {
    guard MediaServer.isName(name) else {
      throw .invalid(
        "a library has a name of at most \(MediaServer.nameLimit) bytes, without a slash")
    }
    var server = kind == .upnp ? try device() : try subsonic()
    (server.reach, server.isFixed) = (reach, false)
    return server
  }

  private func device() throws(Refusal) -> MediaServer {
    guard let address = ListenAddress(address) else {
      throw .invalid("upnp is an address such as http://host:8200/rootDesc.xml")
    }
    guard user.isEmpty, secret.isEmpty else {
      throw .invalid("a library has upnp alone: such a server has no users")
    }
    return MediaServer(name: name, description: address)
  }

  private func subsonic() throws(Refusal) -> MediaServer {
    guard let address = ListenAddress(address) else {
      throw .invalid("subsonic is an address such as https://host:4533, without a password")
    }
    guard user.utf8.count <= Self.userLimit, login == .key || !user.isEmpty, !user.contains("\0")
    else { throw .invalid("user has 1 to \(Self.userLimit) bytes") }
    guard (1...Self.secretLimit).contains(secret.utf8.count),
      !secret.unicodeScalars.contains(where: { $0.value < 32 })
    else { throw .invalid("password has 1 to \(Self.secretLimit) bytes, in one line") }
    var server = MediaServer(
      name: name, address: address, user: user, login: login, secretFile: "")
    server.secret = secret
    return server
  }
}
