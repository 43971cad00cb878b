internal import COpenSSL

/// SPAKE2+ (RFC 9383) with P-256, SHA-256, HKDF and HMAC, both identities empty: two ends prove to each other that they
/// know the same PIN. An eavesdropper learns nothing of the PIN, an impostor only if one guess was right.
package struct SPAKE2: Sendable {
  /// Points of section 4; nobody knows their relation to the generator.
  static let m = hex("02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f")
  static let n = hex("03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49")

  /// Parameters of scrypt: each guess with a stolen receiver's record costs about 50 ms and 16 MiB.
  private static let cost: UInt64 = 1 << 14
  private static let blockSize: UInt64 = 8
  private static let memoryLimit: UInt64 = 32 << 20

  package init() {}

  /// Names at the beginning of the transcript. Tutti's identities are empty, because the context names the
  /// participants.
  struct Names {
    var context: [UInt8]
    var prover: [UInt8] = []
    var verifier: [UInt8] = []
  }

  /// Keys that both ends compute.
  struct Keys: Equatable {
    let main: [UInt8]
    let confirmP: [UInt8]
    let confirmV: [UInt8]
  }

  /// Returns a share to send, from secrets: `x` and M for the prover, `y` and N for the verifier.
  static func share(
    _ secret: [UInt8], w0: [UInt8], blindedBy blind: [UInt8]
  ) throws(SecurityError) -> [UInt8] {
    let curve = try Curve()
    guard let blind = try curve.point(blind) else { throw SecurityError("no point to blind with") }
    let blinding = try curve.product(try curve.scalar(w0), blind)
    return try curve.bytes(try curve.sum(try curve.product(try curve.scalar(secret)), blinding))
  }

  /// Returns nil if the verifier's share is no usable point.
  static func proverPoints(
    x: [UInt8], w0: [UInt8], w1: [UInt8], shareV: [UInt8]
  ) throws(SecurityError) -> (z: [UInt8], v: [UInt8])? {
    let curve = try Curve()
    guard let point = try unblinded(shareV, w0: w0, by: n, on: curve) else { return nil }
    let z = try curve.product(try curve.scalar(x), point)
    let v = try curve.product(try curve.scalar(w1), point)
    return (try curve.bytes(z), try curve.bytes(v))
  }

  /// Returns nil if the prover's share, or the record, is no usable point.
  static func verifierPoints(
    y: [UInt8], w0: [UInt8], l: [UInt8], shareP: [UInt8]
  ) throws(SecurityError) -> (z: [UInt8], v: [UInt8])? {
    let curve = try Curve()
    guard let point = try unblinded(shareP, w0: w0, by: m, on: curve), let l = try curve.point(l)
    else { return nil }
    let y = try curve.scalar(y)
    return (try curve.bytes(try curve.product(y, point)), try curve.bytes(try curve.product(y, l)))
  }

  private static func unblinded(
    _ share: [UInt8], w0: [UInt8], by blind: [UInt8], on curve: Curve
  ) throws(SecurityError) -> Curve.Point? {
    guard share.count == Curve.pointByteCount, let share = try curve.point(share),
      let blind = try curve.point(blind)
    else { return nil }
    let point = try curve.difference(share, try curve.product(try curve.scalar(w0), blind))
    return curve.isInfinity(point) ? nil : consume point
  }

  /// Derives the keys of sections 3.3 and 3.4.
  static func keys(
    _ names: Names, shareP: [UInt8], shareV: [UInt8], z: [UInt8], v: [UInt8], w0: [UInt8]
  ) throws(SecurityError) -> Keys {
    let parts = [
      names.context, names.prover, names.verifier, try uncompressed(m), try uncompressed(n), shareP,
      shareV, z, v, w0,
    ]
    var transcript: [UInt8] = []
    for part in parts {
      transcript += (0..<8).map { UInt8(truncatingIfNeeded: part.count >> ($0 * 8)) }
      transcript += part
    }
    var main = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(transcript, transcript.count, &main)
    let confirmation = derived(from: main, "ConfirmationKeys", count: 64)
    return Keys(
      main: main, confirmP: Array(confirmation[..<32]), confirmV: Array(confirmation[32...]))
  }

  private static func uncompressed(_ point: [UInt8]) throws(SecurityError) -> [UInt8] {
    let curve = try Curve()
    guard let point = try curve.point(point) else { throw SecurityError("no point of the curve") }
    return try curve.bytes(point)
  }

  // MARK: - PIN

  /// Returns both halves of the PIN's scrypt, reduced by the group's order.
  static func secrets(
    pin: String, salt: [UInt8]
  ) throws(SecurityError) -> (w0: [UInt8], w1: [UInt8]) {
    let pin = Array(pin.utf8)
    var key = [UInt8](repeating: 0, count: 80)
    let result = pin.withUnsafeBytes { bytes in
      EVP_PBE_scrypt(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, salt, salt.count, cost,
        blockSize, 1, memoryLimit, &key, key.count)
    }
    guard result == 1 else { throw SecurityError(call: "EVP_PBE_scrypt") }
    let curve = try Curve()
    let w0 = try curve.scalar(Array(key[..<40]))
    let w1 = try curve.scalar(Array(key[40...]))
    return (w0.bytes, w1.bytes)
  }

  /// Returns L, which a receiver stores instead of `w1`.
  static func verifier(_ w1: [UInt8]) throws(SecurityError) -> [UInt8] {
    let curve = try Curve()
    return try curve.bytes(try curve.product(try curve.scalar(w1)))
  }

  static func randomScalar() throws(SecurityError) -> [UInt8] { try Curve().randomScalar().bytes }

  // MARK: - Keyed sums

  /// HMAC-SHA256.
  static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var sum = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    var count: UInt32 = 0
    let result = HMAC(
      EVP_sha256(), key, Int32(key.count), message, message.count, &sum, &count)
    precondition(result != nil && Int(count) == sum.count, "HMAC-SHA256 is missing from OpenSSL")
    return sum
  }

  /// HKDF-SHA256 (RFC 5869) without a salt.
  static func derived(from key: [UInt8], _ label: String, count: Int) -> [UInt8] {
    let extracted = hmac(key: [UInt8](repeating: 0, count: 32), key)
    var (bytes, block): ([UInt8], [UInt8]) = ([], [])
    while bytes.count < count {
      block = hmac(
        key: extracted, block + Array(label.utf8) + [UInt8(bytes.count / 32 + 1)])
      bytes += block
    }
    return Array(bytes.prefix(count))
  }

  private static func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
