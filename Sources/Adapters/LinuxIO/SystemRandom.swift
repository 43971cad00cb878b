internal import Glibc

/// Random bytes from the kernel, fit for keys.
package enum SystemRandom {
  /// Bytes that the kernel gives at a time.
  private static let longestCall = 256

  /// Waits only if the machine has just booted and gathered no randomness yet.
  package static func bytes(_ count: Int) throws(IOError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    for start in stride(from: 0, to: count, by: longestCall) {
      let end = min(start + longestCall, count)
      let result = bytes[start..<end].withUnsafeMutableBytes { part in
        part.baseAddress.map { getentropy($0, part.count) } ?? 0
      }
      try IOError.check("getentropy", result < 0 ? -errno : 0, "random numbers")
    }
    return bytes
  }

  package static func number() throws(IOError) -> UInt64 {
    try bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
