internal import COpenSSL
package import WireProtocol

/// The TLS settings and identity key that all channels of one program share. For one thread.
///
/// Allows only TLS 1.3, with a certificate from both sides. OpenSSL trusts every Ed25519 key, and no other signature is
/// allowed; the session decides which keys may do what.
package final class TLSContext {
  /// The ends tell each other this name in the handshake (ALPN), so that incompatible versions never begin.
  static let applicationProtocol = Array("tutti/2".utf8)
  /// In bytes; a certificate of Tutti takes some 250.
  private static let certificateLimit = 4 << 10

  /// Identifier of this side's key.
  package let identifier: Identifier
  let pointer: OpaquePointer
  /// Lets OpenSSL read from memory and write into it.
  let transport: OpaquePointer

  package init(_ identity: IdentityKey) throws(SecurityError) {
    guard let pointer = SSL_CTX_new(TLS_method()) else { throw SecurityError(call: "SSL_CTX_new") }
    guard let transport = Transport.makeMethod() else {
      SSL_CTX_free(pointer)
      throw SecurityError(call: "BIO_meth_new")
    }
    self.pointer = pointer
    self.transport = transport
    identifier = identity.identifier
    try restrict()
    try show(identity)
    requireProtocol()
    requireKey()
  }

  deinit {
    SSL_CTX_free(pointer)
    BIO_meth_free(transport)
  }

  package func channel(_ role: SecureRole) -> TLSChannel { TLSChannel(self, role) }

  private func restrict() throws(SecurityError) {
    // The receiver's order counts unless the sender says that it has no AES.
    let ciphers = ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"]
    let order = copenssl_has_aes() != 0 ? ciphers : ciphers.reversed()
    guard copenssl_only_tls13(pointer) == 1, copenssl_set_groups(pointer, "X25519:P-256") == 1,
      copenssl_set_signatures(pointer, "ed25519") == 1,
      SSL_CTX_set_ciphersuites(pointer, order.joined(separator: ":")) == 1,
      SSL_CTX_set_num_tickets(pointer, 0) == 1
    else { throw SecurityError(call: "restrict TLS") }
    SSL_CTX_set_options(
      pointer,
      copenssl_no_ticket | copenssl_server_preference | copenssl_prioritize_chacha)
    SSL_CTX_clear_options(pointer, copenssl_middlebox_compatibility)
    copenssl_keep_no_sessions(pointer)
    copenssl_limit_certificates(pointer, Self.certificateLimit)
    // With this, an idle connection holds no buffers, which would take some 34 kB.
    copenssl_set_mode(pointer, Int(SSL_MODE_RELEASE_BUFFERS))
  }

  private func show(_ identity: IdentityKey) throws(SecurityError) {
    let key = try identity.handle()
    let certificate = try CertificateHandle.selfSigned(key)
    guard SSL_CTX_use_certificate(pointer, certificate.pointer) == 1,
      SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
    else { throw SecurityError(call: "SSL_CTX_use_certificate") }
  }

  /// Requires Tutti's protocol. The accepting side refuses an offer without it before it computes anything; the
  /// dialling side checks the answer when the handshake is complete.
  private func requireProtocol() {
    let name = Self.applicationProtocol
    let offered = [UInt8(name.count)] + name
    SSL_CTX_set_alpn_protos(pointer, offered, UInt32(offered.count))
    SSL_CTX_set_client_hello_cb(
      pointer,
      { channel, alert, _ in
        var start: UnsafePointer<UInt8>?
        var count = 0
        let kind = UInt32(TLSEXT_TYPE_application_layer_protocol_negotiation)
        guard SSL_client_hello_get0_ext(channel, kind, &start, &count) == 1 else {
          alert?.pointee = SSL_AD_NO_APPLICATION_PROTOCOL
          return SSL_CLIENT_HELLO_ERROR
        }
        return SSL_CLIENT_HELLO_SUCCESS
      }, nil)
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, chosen, chosenCount, offers, count, _ in
        let all = UnsafeBufferPointer(start: offers, count: Int(count))
        guard let place = TLSContext.place(ofProtocolIn: all), let offers else {
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        chosen?.pointee = offers + place
        chosenCount?.pointee = UInt8(TLSContext.applicationProtocol.count)
        return SSL_TLSEXT_ERR_OK
      }, nil)
  }

  /// Returns the position of the protocol's name among names that each follow their length; nil if it is not among
  /// them.
  private static func place(ofProtocolIn offers: UnsafeBufferPointer<UInt8>) -> Int? {
    var place = 0
    while place < offers.count {
      let name = offers[(place + 1)...].prefix(Int(offers[place]))
      if name.elementsEqual(applicationProtocol) { return place + 1 }
      place += 1 + Int(offers[place])
    }
    return nil
  }

  /// Requires a certificate, of which only the key counts; TLS itself makes the peer prove that the key is its own.
  private func requireKey() {
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    SSL_CTX_set_cert_verify_callback(pointer, { _, _ in 1 }, nil)
  }
}
