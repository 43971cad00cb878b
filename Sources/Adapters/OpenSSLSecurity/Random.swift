internal import COpenSSL

enum Random {
  /// Returns random bytes that are fit for keys.
  static func bytes(_ count: Int) throws(SecurityError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard RAND_priv_bytes(&bytes, Int32(clamping: count)) == 1 else {
      throw SecurityError(call: "RAND_priv_bytes")
    }
    return bytes
  }
}
