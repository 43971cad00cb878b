internal import COpenSSL

/// The bytes between a channel's OpenSSL and its user: those received, and those to send.
final class Transport {
  private var incoming: [UInt8] = []
  private var taken = 0
  private(set) var outgoing: [UInt8] = []

  /// Replaces the received bytes. OpenSSL leaves none of the earlier ones before the stream's end.
  func deliver(_ bytes: [UInt8]) { (incoming, taken) = (bytes, 0) }

  func takeOutgoing() -> [UInt8] {
    defer { outgoing = [] }
    return outgoing
  }

  private func read(_ target: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
    let part = incoming[taken...].prefix(capacity)
    part.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: target, count: capacity).copyMemory(from: source)
    }
    taken += part.count
    if taken == incoming.count { deliver([]) }
    return part.count
  }

  /// Returns OpenSSL's handle of this object, which does not keep it alive; nil if memory is
  /// missing.
  func makeHandle(_ method: OpaquePointer) -> OpaquePointer? {
    guard let handle = BIO_new(method) else { return nil }
    BIO_set_data(handle, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(handle, 1)
    return handle
  }

  private static func of(_ handle: OpaquePointer?) -> Transport? {
    BIO_get_data(handle).map { Unmanaged<Transport>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Makes the method for `makeHandle`; it must outlive all handles.
  static func makeMethod() -> OpaquePointer? {
    guard let method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "tutti") else { return nil }
    BIO_meth_set_read(method) { handle, target, capacity in
      BIO_clear_flags(handle, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      let count = target.flatMap { Transport.of(handle)?.read($0, Int(capacity)) } ?? 0
      if count == 0 { BIO_set_flags(handle, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY) }
      return count == 0 ? -1 : Int32(count)
    }
    BIO_meth_set_write(method) { handle, source, count in
      let bytes = UnsafeRawBufferPointer(start: source, count: Int(count))
      Transport.of(handle)?.outgoing += bytes
      return count
    }
    // Writes are complete at once, so there is nothing to flush.
    BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    return method
  }
}
