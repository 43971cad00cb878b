internal import COpenSSL
package import WireProtocol

/// The Ed25519 key that a sender or receiver keeps for good, and that identifies it.
package struct IdentityKey: Sendable {
  /// Bytes of the private key, and of the public key.
  private static let byteCount = 32

  private let secret: [UInt8]
  /// The first sixteen bytes of the SHA-256 of the public key: nobody can make another key for it.
  package let identifier: Identifier

  package static func generate() throws(SecurityError) -> IdentityKey {
    try IdentityKey(secret: try Random.bytes(byteCount))
  }

  /// Reads the content of a file from `pem()`. Throws on everything but an unencrypted Ed25519 key.
  package init(pem: [UInt8]) throws(SecurityError) {
    let memory = try MemoryHandle()
    memory.append(pem)
    // Without a callback, OpenSSL asks the terminal for the password of an encrypted key.
    let key = try KeyHandle(
      PEM_read_bio_PrivateKey(memory.pointer, nil, { _, _, _, _ in -1 }, nil), "read a key")
    guard EVP_PKEY_get_base_id(key.pointer) == EVP_PKEY_ED25519 else {
      throw SecurityError("the key is not an Ed25519 key")
    }
    var count = Self.byteCount
    var secret = [UInt8](repeating: 0, count: count)
    guard EVP_PKEY_get_raw_private_key(key.pointer, &secret, &count) == 1,
      count == Self.byteCount
    else { throw SecurityError("the key has no private part") }
    try self.init(secret: secret)
  }

  private init(secret: [UInt8]) throws(SecurityError) {
    self.secret = secret
    let key = try Self.handle(secret)
    guard let identifier = Self.identifier(of: key.pointer) else {
      throw SecurityError(call: "EVP_PKEY_get_raw_public_key")
    }
    self.identifier = identifier
  }

  /// Returns the private key, unencrypted, in PKCS #8: for a file that only its owner may read.
  package func pem() throws(SecurityError) -> [UInt8] {
    let key = try handle()
    let memory = try MemoryHandle()
    guard PEM_write_bio_PrivateKey(memory.pointer, key.pointer, nil, nil, 0, nil, nil) == 1 else {
      throw SecurityError(call: "PEM_write_bio_PrivateKey")
    }
    return memory.content
  }

  func handle() throws(SecurityError) -> KeyHandle { try Self.handle(secret) }

  private static func handle(_ secret: [UInt8]) throws(SecurityError) -> KeyHandle {
    try KeyHandle(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, secret, secret.count),
      "EVP_PKEY_new_raw_private_key")
  }

  /// Returns nil for a key of another kind.
  static func identifier(of key: OpaquePointer?) -> Identifier? {
    guard let key, EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else { return nil }
    var count = byteCount
    var raw = [UInt8](repeating: 0, count: count)
    guard EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == byteCount else {
      return nil
    }
    return Identifier(Array(Digest.sha256(raw).prefix(Identifier.byteCount)))
  }
}
