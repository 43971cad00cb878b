import LinuxIO
import OpenSSLSecurity
import Pairing
import WireProtocol

/// Shows a receiver of this user on this machine that it is one, so that the two need not be paired.
package enum LocalProof {
  /// Whether the receiver of this identity is one.
  package static func exists(for id: String) -> Bool { LocalToken.find(id) != nil }

  /// Nil for other receivers.
  static func proof(to peer: SecuredPeer) -> [UInt8]? {
    LocalToken.find(peer.id.hex).map { token in
      SPAKE2().hmac(key: token, message: Transcript.local(binding: peer.binding))
    }
  }
}
