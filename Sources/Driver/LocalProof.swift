import LinuxIO
import OpenSSLSecurity
import Pairing
import WireProtocol

/// Proves to a receiver that this program belongs to the same user of the same machine, so that the
/// two need not be paired.
package enum LocalProof {
  /// True if the receiver with this identity runs as this user on this machine.
  package static func exists(for id: String) -> Bool { LocalToken.find(id) != nil }

  /// Returns nil for other receivers.
  static func proof(to peer: SecuredPeer) -> [UInt8]? {
    LocalToken.find(peer.id.hex).map { token in
      SPAKE2().hmac(key: token, message: Transcript.local(binding: peer.binding))
    }
  }
}
