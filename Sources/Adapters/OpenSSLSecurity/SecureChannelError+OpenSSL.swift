internal import COpenSSL
import WireProtocol

/// Reasons for the end of a channel, each in one line that follows the peer's name.
extension SecureChannelError {
  static let notTLS = SecureChannelError(
    reason: "it does not speak TLS: an older version of Tutti, or another program")
  static let otherTLS = SecureChannelError(
    reason: "it does not speak TLS 1.3: another program, not Tutti")
  static let otherProtocol = SecureChannelError(
    reason: "it speaks another version of Tutti's protocol, or is another program: "
      + "install the same version of Tutti on both machines")
  static let noKey = SecureChannelError(
    reason: "it showed no Ed25519 identity key: another program, not Tutti")
  static let notItsKey = SecureChannelError(
    reason: "it could not prove that its identity key is its own: it poses as another machine")
  static let changed = SecureChannelError(
    reason: "what it sent was changed on the way: look for a fault in the network between")
  static let refused = SecureChannelError(
    reason: "it refused the handshake: another program, or another version of Tutti")

  /// Describes a call that failed on this thread.
  static func describing(_ ssl: OpaquePointer, result: Int32) -> SecureChannelError {
    let kind = SSL_get_error(ssl, result)
    let code = ERR_peek_error()
    if kind == SSL_ERROR_ZERO_RETURN {
      return SecureChannelError(reason: "it ended the connection during the handshake")
    }
    return known(ERR_GET_REASON(code)) ?? other(code)
  }

  /// Returns the error for OpenSSL's reason. Alerts from the peer are 1000 plus their number.
  private static func known(_ reason: Int32) -> SecureChannelError? {
    switch reason {
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST,
      SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_BAD_RECORD_TYPE:
      .notTLS
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      .otherTLS
    case SSL_R_NO_APPLICATION_PROTOCOL, SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL,
      SSL_R_CALLBACK_FAILED:
      .otherProtocol
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, SSL_R_CERTIFICATE_VERIFY_FAILED,
      SSL_R_WRONG_SIGNATURE_TYPE, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS,
      SSL_R_UNKNOWN_CERTIFICATE_TYPE:
      .noKey
    case SSL_R_BAD_SIGNATURE: .notItsKey
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SSL_R_SSLV3_ALERT_BAD_RECORD_MAC,
      SSL_R_DIGEST_CHECK_FAILED, SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
      .changed
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
      SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      .refused
    default: nil
    }
  }

  private static func other(_ code: UInt) -> SecureChannelError {
    let text = ERR_reason_error_string(code).map { String(cString: $0) }
    return SecureChannelError(
      reason: "the encrypted connection failed: \(text ?? "OpenSSL failed")")
  }
}
