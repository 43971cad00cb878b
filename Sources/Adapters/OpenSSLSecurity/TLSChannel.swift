internal import COpenSSL
package import WireProtocol

/// The TLS of one connection, which takes and gives bytes. A `TLSContext` makes it, and it keeps the
/// context alive.
package final class TLSChannel: SecureChannel {
  /// Records under one key, each of up to 16 KiB. RFC 8446, section 5.5, allows 2^24.5 for AES-GCM.
  static let recordsPerKey = 1 << 24
  private static let recordSize = 16 << 10

  package private(set) var peer: SecuredPeer?
  private let context: TLSContext
  private let transport = Transport()
  private let ssl: OpaquePointer
  private let recordsPerKey: Int
  private var recordsUntilKey: Int
  private var failure: SecureChannelError?

  init(_ context: TLSContext, _ role: SecureRole, recordsPerKey: Int = recordsPerKey) {
    guard let ssl = SSL_new(context.pointer),
      let handle = transport.makeHandle(context.transport)
    else { preconditionFailure("out of memory") }
    self.context = context
    self.ssl = ssl
    self.recordsPerKey = recordsPerKey
    recordsUntilKey = recordsPerKey
    SSL_set_bio(ssl, handle, handle)
    switch role {
    case .dialled:
      SSL_set_connect_state(ssl)
      // Produces the first message of the dialling side. It cannot fail.
      SSL_do_handshake(ssl)
    case .accepted: SSL_set_accept_state(ssl)
    }
  }

  deinit { SSL_free(ssl) }

  package func receive(_ bytes: [UInt8]) throws(SecureChannelError) -> [UInt8] {
    if let failure { throw failure }
    transport.deliver(bytes)
    defer { transport.deliver([]) }
    ERR_clear_error()
    do throws(SecureChannelError) {
      if peer == nil { try shakeHands() }
      return peer == nil ? [] : try read()
    } catch {
      failure = error
      throw error
    }
  }

  package func send(_ bytes: [UInt8]) {
    precondition(peer != nil, "sent before the handshake is complete")
    guard failure == nil, !bytes.isEmpty else { return }
    ERR_clear_error()
    recordsUntilKey -= (bytes.count + Self.recordSize - 1) / Self.recordSize
    if recordsUntilKey <= 0 {
      recordsUntilKey = recordsPerKey
      SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED)
    }
    var count = 0
    guard SSL_write_ex(ssl, bytes, bytes.count, &count) == 1 else {
      failure = .describing(ssl, result: 0)
      return
    }
  }

  package func takeOutput() -> [UInt8] { transport.takeOutgoing() }

  package func finish() {
    guard peer != nil, failure == nil else { return }
    ERR_clear_error()
    SSL_shutdown(ssl)
  }

  // MARK: - Steps

  private func shakeHands() throws(SecureChannelError) {
    let result = SSL_do_handshake(ssl)
    guard result != 1 else {
      peer = try identify()
      return
    }
    guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else {
      throw .describing(ssl, result: result)
    }
  }

  private func read() throws(SecureChannelError) -> [UInt8] {
    var plain: [UInt8] = []
    let result = withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 8) { buffer in
      while true {
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        guard result == 1 else { return result }
        plain += buffer[..<count]
      }
    }
    switch SSL_get_error(ssl, result) {
    // Nothing follows the peer's closing message.
    case SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN: return plain
    default: throw .describing(ssl, result: result)
    }
  }

  private func identify() throws(SecureChannelError) -> SecuredPeer {
    guard hasAgreedOnProtocol else { throw .otherProtocol }
    let certificate = SSL_get1_peer_certificate(ssl)
    defer { X509_free(certificate) }
    guard let id = IdentityKey.identifier(of: certificate.flatMap { X509_get0_pubkey($0) }) else {
      throw .noKey
    }
    guard let clockKey = exported("EXPORTER-tutti-clock", 16),
      let binding = exported("EXPORTER-tutti-pairing", 32)
    else { throw .describing(ssl, result: 0) }
    return SecuredPeer(id: id, clockKey: clockKey, binding: binding)
  }

  private var hasAgreedOnProtocol: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    return UnsafeBufferPointer(start: name, count: Int(count))
      .elementsEqual(TLSContext.applicationProtocol)
  }

  /// Returns bytes that both ends can compute from this channel's secrets, and nobody else (RFC 8446,
  /// section 7.5).
  private func exported(_ label: String, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = SSL_export_keying_material(
      ssl, &bytes, count, label, label.utf8.count, nil, 0, 0)
    return result == 1 ? bytes : nil
  }
}
