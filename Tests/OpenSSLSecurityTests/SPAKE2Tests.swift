import TestSupport
import Testing

@testable import OpenSSLSecurity

/// RFC 9383, appendix C: P256-SHA256-HKDF-SHA256-HMAC-SHA256 with the identities "client" and "server".
private enum Vector {
  static let names = SPAKE2.Names(
    context: Array("SPAKE2+-P256-SHA256-HKDF-SHA256-HMAC-SHA256 Test Vectors".utf8),
    prover: Array("client".utf8), verifier: Array("server".utf8))
  static let w0 = bytes("bb8e1bbcf3c48f62c08db243652ae55d3e5586053fca77102994f23ad95491b3")
  static let w1 = bytes("7e945f34d78785b8a3ef44d0df5a1a97d6b3b460409a345ca7830387a74b1dba")
  static let l = bytes(
    "04eb7c9db3d9a9eb1f8adab81b5794c1f13ae3e225efbe91ea487425854c7fc00f"
      + "00bfedcbd09b2400142d40a14f2064ef31dfaa903b91d1faea7093d835966efd")
  static let x = bytes("d1232c8e8693d02368976c174e2088851b8365d0d79a9eee709c6a05a2fad539")
  static let shareP = bytes(
    "04ef3bd051bf78a2234ec0df197f7828060fe9856503579bb1733009042c15c0c1"
      + "de127727f418b5966afadfdd95a6e4591d171056b333dab97a79c7193e341727")
  static let y = bytes("717a72348a182085109c8d3917d6c43d59b224dc6a7fc4f0483232fa6516d8b3")
  static let shareV = bytes(
    "04c0f65da0d11927bdf5d560c69e1d7d939a05b0e88291887d679fcadea75810fb"
      + "5cc1ca7494db39e82ff2f50665255d76173e09986ab46742c798a9a68437b048")
  static let keys = SPAKE2.Keys(
    main: bytes("4c59e1ccf2cfb961aa31bd9434478a1089b56cd11542f53d3576fb6c2a438a29"),
    confirmP: bytes("871ae3f7b78445e34438fb284504240239031c39d80ac23eb5ab9be5ad6db58a"),
    confirmV: bytes("ccd53c7c1fa37b64a462b40db8be101cedcf838950162902054e644b400f1680"))
  static let confirmP = bytes("926cc713504b9b4d76c9162ded04b5493e89109f6d89462cd33adc46fda27527")
  static let confirmV = bytes("9747bcc4f8fe9f63defee53ac9b07876d907d55047e6ff2def2e7529089d3e68")
  static let shared = bytes("0c5f8ccd1413423a54f6c1fb26ff01534a87f893779c6e68666d772bfd91f3e7")
}

struct SPAKE2Tests {
  @Test func `shares and the verifier's record are those of the RFC`() throws {
    #expect(try SPAKE2.verifier(Vector.w1) == Vector.l)
    #expect(try SPAKE2.share(Vector.x, w0: Vector.w0, blindedBy: SPAKE2.m) == Vector.shareP)
    #expect(try SPAKE2.share(Vector.y, w0: Vector.w0, blindedBy: SPAKE2.n) == Vector.shareV)
  }

  @Test func `the points that blind shares are those of the document`() throws {
    let text = try Specification.text(of: "pairing.md")
    for (name, point) in [("M", SPAKE2.m), ("N", SPAKE2.n)] {
      let digits = point.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      #expect(text.contains("\n    \(name) = \(digits)"), "\(name)")
    }
  }

  @Test func `both ends compute the keys and confirmations of the RFC`() throws {
    let prover = try #require(
      try SPAKE2.proverPoints(
        x: Vector.x, w0: Vector.w0, w1: Vector.w1, shareV: Vector.shareV))
    let verifier = try #require(
      try SPAKE2.verifierPoints(
        y: Vector.y, w0: Vector.w0, l: Vector.l, shareP: Vector.shareP))
    for (z, v) in [prover, verifier] {
      let keys = try SPAKE2.keys(
        Vector.names, shareP: Vector.shareP, shareV: Vector.shareV, z: z, v: v, w0: Vector.w0)
      #expect(keys == Vector.keys)
      #expect(SPAKE2.hmac(key: keys.confirmP, Vector.shareV) == Vector.confirmP)
      #expect(SPAKE2.hmac(key: keys.confirmV, Vector.shareP) == Vector.confirmV)
      #expect(SPAKE2.derived(from: keys.main, "SharedKey", count: 32) == Vector.shared)
    }
  }

  /// Made with Python's hashlib: scrypt of the PIN, each half modulo the order of P-256.
  @Test func `a PIN becomes two numbers below the group's order`() throws {
    let (w0, w1) = try SPAKE2.secrets(pin: "12345674", salt: Array(0..<16))
    #expect(w0 == bytes("7c2379fc933cecca6cfcec703df7499a6566d1c6499b6131cb7d70e7083060ae"))
    #expect(w1 == bytes("67fb1988bc3d6ac66b892f15332db1020beeb5670fa9cfb9ea192151bf2d9d2c"))
  }

  private static let badShares: [(String, [UInt8])] = [
    ("no bytes", []), ("infinity", [0]), ("a compressed point", SPAKE2.m),
    ("beside the curve", Vector.shareP.dropLast() + [0]),
    ("coordinates above the field's size", [4] + [UInt8](repeating: 255, count: 64)),
    ("too long", Vector.shareP + [0]), ("zeros", [UInt8](repeating: 0, count: 65)),
  ]

  @Test(arguments: badShares)
  func `a share that is no point of the curve is refused`(_ what: String, share: [UInt8]) throws {
    let prover = try SPAKE2.proverPoints(x: Vector.x, w0: Vector.w0, w1: Vector.w1, shareV: share)
    #expect(prover == nil, "\(what)")
    let verifier = try SPAKE2.verifierPoints(
      y: Vector.y, w0: Vector.w0, l: Vector.l, shareP: share)
    #expect(verifier == nil, "\(what)")
  }

  /// The key would not depend on the other end's secret.
  @Test func `a share that leaves nothing when its blind is taken off is refused`() throws {
    let zero = [UInt8](repeating: 0, count: 32)
    let blindP = try SPAKE2.share(zero, w0: Vector.w0, blindedBy: SPAKE2.m)
    let blindV = try SPAKE2.share(zero, w0: Vector.w0, blindedBy: SPAKE2.n)
    #expect(
      try SPAKE2.verifierPoints(y: Vector.y, w0: Vector.w0, l: Vector.l, shareP: blindP) == nil)
    #expect(
      try SPAKE2.proverPoints(x: Vector.x, w0: Vector.w0, w1: Vector.w1, shareV: blindV) == nil)
  }

  @Test func `secret numbers are never the same twice`() throws {
    #expect(try SPAKE2.randomScalar() != SPAKE2.randomScalar())
  }

  /// RFC 4231, test case 2.
  @Test func `HMAC is that of the RFC`() {
    let sum = SPAKE2.hmac(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
    #expect(sum == bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
  }
}

private func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
