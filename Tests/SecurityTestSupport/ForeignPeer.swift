internal import COpenSSL
package import WireProtocol

@testable package import OpenSSLSecurity

/// A foreign peer, made with OpenSSL directly. It trusts everybody, and has configurable manners.
package final class ForeignPeer: SecureChannel {
  package enum Key {
    case none, ed25519, rsa, p256
    /// A certificate with another's key, and a private key that does not match it.
    case stolen(IdentityKey)
  }

  package struct Manners {
    package var key: Key
    package var applicationProtocol: String?
    /// The newest version of TLS that it speaks.
    package var version: Version
    /// Number of entries of 64 characters in its certificate's name.
    package var nameCount: Int

    package enum Version { case tls12, tls13 }

    package init(
      key: Key = .ed25519, applicationProtocol: String? = "tutti/2", version: Version = .tls13,
      nameCount: Int = 1
    ) {
      self.key = key
      self.applicationProtocol = applicationProtocol
      self.version = version
      self.nameCount = nameCount
    }
  }

  /// Always nil, because it knows no keys of ours.
  package let peer: SecuredPeer? = nil
  /// True if it thinks that the handshake is complete.
  package var isComplete: Bool { SSL_is_init_finished(ssl) == 1 }
  /// The number in RFC 8446 of the alert with which it was refused.
  package private(set) var alert: Int?
  private let context: OpaquePointer
  private let ssl: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer

  package init(_ role: SecureRole, _ manners: Manners) throws {
    guard let context = SSL_CTX_new(TLS_method()) else { throw SecurityError(call: "SSL_CTX_new") }
    self.context = context
    try Self.show(manners, context)
    let newest = manners.version == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil)
    Self.setProtocol(manners.applicationProtocol, context)
    guard let ssl = SSL_new(context), let input = BIO_new(BIO_s_mem()),
      let output = BIO_new(BIO_s_mem())
    else { throw SecurityError(call: "SSL_new") }
    (self.ssl, self.input, self.output) = (ssl, input, output)
    SSL_set_bio(ssl, input, output)
    switch role {
    case .dialled: SSL_set_connect_state(ssl)
    case .accepted: SSL_set_accept_state(ssl)
    }
    SSL_do_handshake(ssl)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  /// The number of tickets that it sends after a handshake in which it was dialled.
  package var ticketCount: Int { Int(SSL_get_num_tickets(ssl)) }

  package func receive(_ bytes: [UInt8]) throws(SecureChannelError) -> [UInt8] {
    ERR_clear_error()
    BIO_write(input, bytes, Int32(bytes.count))
    guard SSL_is_init_finished(ssl) == 1 || SSL_do_handshake(ssl) == 1 else { return [] }
    var (plain, count) = ([UInt8](repeating: 0, count: 16 << 10), 0)
    guard SSL_read_ex(ssl, &plain, plain.count, &count) == 1 else {
      // OpenSSL numbers alerts from the other end from 1000 on.
      let reason = Int(ERR_GET_REASON(ERR_peek_error()))
      if reason > 1000 { alert = reason - 1000 }
      return []
    }
    return Array(plain[..<count])
  }

  package func send(_ bytes: [UInt8]) { SSL_write(ssl, bytes, Int32(bytes.count)) }

  package func takeOutput() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
    BIO_read(output, &bytes, Int32(bytes.count))
    return bytes
  }

  package func finish() { SSL_shutdown(ssl) }

  // MARK: - Manners

  private static func setProtocol(_ name: String?, _ context: OpaquePointer) {
    guard let name else { return }
    let offered = [UInt8(name.utf8.count)] + Array(name.utf8)
    SSL_CTX_set_alpn_protos(context, offered, UInt32(offered.count))
    guard name == "tutti/2" else {
      return SSL_CTX_set_alpn_select_cb(
        context, { _, _, _, _, _, _ in SSL_TLSEXT_ERR_ALERT_FATAL }, nil)
    }
    SSL_CTX_set_alpn_select_cb(
      context,
      { _, chosen, count, offers, _, _ in
        chosen?.pointee = offers.map { $0 + 1 }
        count?.pointee = offers?.pointee ?? 0
        return SSL_TLSEXT_ERR_OK
      }, nil)
  }

  private static func show(_ manners: Manners, _ context: OpaquePointer) throws {
    let key: OpaquePointer?
    switch manners.key {
    case .none: return
    case .ed25519: key = generate(EVP_PKEY_ED25519) { _ in }
    case .rsa: key = generate(EVP_PKEY_RSA) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2048) }
    case .p256:
      key = generate(EVP_PKEY_EC) {
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid($0, NID_X9_62_prime256v1)
      }
    case .stolen: key = generate(EVP_PKEY_ED25519) { _ in }
    }
    defer { EVP_PKEY_free(key) }
    let certificate = selfSigned(key, nameCount: manners.nameCount)
    defer { X509_free(certificate) }
    guard SSL_CTX_use_certificate(context, certificate) == 1,
      SSL_CTX_use_PrivateKey(context, key) == 1
    else { throw SecurityError(call: "SSL_CTX_use_PrivateKey") }
    // OpenSSL accepts only a matching pair, so change the certificate afterwards.
    if case .stolen(let identity) = manners.key {
      let owner = try identity.handle()
      X509_set_pubkey(certificate, owner.pointer)
    }
  }

  private static func generate(
    _ kind: Int32, _ configure: (OpaquePointer?) -> Void
  ) -> OpaquePointer? {
    let generator = EVP_PKEY_CTX_new_id(kind, nil)
    defer { EVP_PKEY_CTX_free(generator) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(generator)
    configure(generator)
    EVP_PKEY_keygen(generator, &key)
    return key
  }

  private static func selfSigned(_ key: OpaquePointer?, nameCount: Int) -> OpaquePointer? {
    let certificate = X509_new()
    let name = X509_get_subject_name(certificate)
    for _ in 0..<nameCount {
      let text = String(repeating: "x", count: 64)
      X509_NAME_add_entry_by_txt(name, "OU", MBSTRING_ASC, text, -1, -1, 0)
    }
    X509_set_version(certificate, 2)
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0)
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600)
    X509_set_pubkey(certificate, key)
    let isEdwards = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519
    X509_sign(certificate, key, isEdwards ? nil : EVP_sha256())
    return certificate
  }
}
