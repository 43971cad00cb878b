internal import CSys
internal import Glibc

/// Random bytes from the kernel, fit for keys.
package enum SystemRandom {
  /// Waits only if the machine has just booted and gathered no randomness yet.
  package static func bytes(_ count: Int) throws(IOError) -> [UInt8] {
    var result: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      result = count > 0 ? csys_random(buffer.baseAddress, count) : 0
      initialized = result < 0 ? 0 : count
    }
    try IOError.check("getrandom", result, "random numbers")
    return bytes
  }

  package static func number() throws(IOError) -> UInt64 {
    try bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
