internal import COpenSSL

/// A refusal of OpenSSL, which happens if memory or the system's randomness is missing.
package struct SecurityError: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  /// Describes the last failed call on this thread, with OpenSSL's reason.
  init(call: String) {
    let reason = ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) }
    self.init("OpenSSL: \(call): \(reason ?? "failed")")
  }
}

/// Owns a key of OpenSSL, and frees it.
struct KeyHandle: ~Copyable {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer?, _ call: String) throws(SecurityError) {
    guard let pointer else { throw SecurityError(call: call) }
    self.pointer = pointer
  }

  deinit { EVP_PKEY_free(pointer) }
}

/// Bytes in memory, for functions that read or write a file.
struct MemoryHandle: ~Copyable {
  let pointer: OpaquePointer

  init() throws(SecurityError) {
    guard let pointer = BIO_new(BIO_s_mem()) else { throw SecurityError(call: "BIO_new") }
    self.pointer = pointer
  }

  deinit { BIO_free_all(pointer) }

  var content: [UInt8] {
    var start: UnsafeMutablePointer<CChar>?
    let count = copenssl_memory(pointer, &start)
    return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { _ = BIO_write(pointer, $0.baseAddress, Int32(clamping: $0.count)) }
  }
}
