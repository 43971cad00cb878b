package import LinuxIO
import OpenSSLSecurity
package import Pairing
package import Sender

/// Gets the key of a household from its first daemon, by the household's PIN.
package enum HouseholdJoining {
  /// Takes seconds, on the caller's thread. A report of success has the key of the daemon that has answered, and of no
  /// other.
  ///
  /// - Parameters:
  ///   - name: this machine's, for people.
  ///   - addresses: the daemon's, in the order in which they are tried.
  package static func run(
    _ pin: PIN, as name: String, at addresses: [SocketAddress]
  ) throws(IOError) -> PairingReport {
    let report = try RoomPairing(security: stranger(), senderName: name)
      .run(.pair(pin), at: .init(addresses: addresses), joins: true)
    guard case .joined(let id, _, let key) = report else { return report }
    guard (try? IdentityKey(pem: key))?.identifier == id else {
      return .broken("the key that it gave is not its own")
    }
    return report
  }

  /// With a key that this connection alone has: nobody gets to know this machine by it.
  private static func stranger() throws(IOError) -> TLSContext {
    do throws(SecurityError) {
      return try TLSContext(.generate())
    } catch {
      throw IOError(call: "OpenSSL", code: 0, text: "\(error)")
    }
  }
}
