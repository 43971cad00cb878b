package import Driver
import FFmpegSource
package import House
import LinuxIO
import Sender

/// Makes the addresses of requests to servers of libraries, which may have secrets: no log, state or message may have one.
package enum ServerAccess {
  /// Largest file with a password, in bytes.
  package static let secretLimit = 256
  /// Bytes of a salt.
  private static let saltSize = 8

  /// A sentence's part that says why nothing can be asked.
  package struct Problem: Error {
    package let text: String
  }

  /// The password or key of a server.
  package static func secret(of server: MediaServer) throws(Problem) -> String {
    if let secret = server.secret { return secret }
    return try secret(of: server.secretFile)
  }

  /// The password or key of a server, which stands alone in its file.
  package static func secret(of file: String) throws(Problem) -> String {
    let bytes: [UInt8]?
    do {
      bytes = try StateFile(path: file).read(limit: secretLimit)
    } catch {
      throw Problem(text: "\(error)")
    }
    guard let bytes else { throw Problem(text: "there is no file \(file)") }
    let lines = bytes.split { $0 == 10 || $0 == 13 }
    guard lines.count == 1, let secret = String(validating: lines[0], as: UTF8.self),
      !secret.contains("\0")
    else { throw Problem(text: "\(file) must have the password alone") }
    return secret
  }

  /// Returns the path of a request, with its query.
  package static func path(
    _ server: MediaServer, _ secret: String, _ method: String, _ values: [(String, String)]
  ) throws(Problem) -> String {
    do {
      let salt = QueryText.hexadecimal(try SystemRandom.bytes(saltSize))
      let proof = try server.proof(secret, salt: salt) { try AddressPost.hash(of: $0) }
      return server.path(method, values, proof: proof)
    } catch {
      throw Problem(text: "no proof of its user can be made")
    }
  }

  /// Returns the whole address of a request. Reads a file.
  package static func address(
    _ server: MediaServer, _ method: String, _ values: [(String, String)]
  ) throws(Problem) -> String {
    let path = try path(server, secret(of: server), method, values)
    return "\(server.address.isSecure ? "https" : "http")://\(server.address.authority)\(path)"
  }

  /// The songs of these servers, for those who play.
  package static func items(_ servers: HeldServers) -> ServedItems {
    // Nobody proves that a media server is the one that was meant: it may not lead elsewhere.
    let terms: @Sendable (String) -> ServedItems.Terms = { name in
      servers.server(name).map { .init(isStrict: $0.kind == .upnp, reach: $0.reach) } ?? .init()
    }
    return ServedItems(terms: terms) { location in
      guard let (name, file) = ServedLocation.parts(location),
        let server = servers.server(name), let id = ServedName.id(ofName: file)
      else { return .failure(.notFound(path: location)) }
      if server.kind == .upnp {
        let address = server.address.origin(at: id)
        return address.map { .success($0) } ?? .failure(.notFound(path: location))
      }
      do throws(Problem) {
        return .success(try address(server, "download", [("id", id)]))
      } catch {
        return .failure(.unreadable(path: location, reason: error.text))
      }
    }
  }
}
