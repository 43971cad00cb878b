internal import CSys
internal import Glibc

/// Looks up host names through the system's resolver, including mDNS if `nsswitch.conf` says so.
package enum HostResolver {
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package let host: String
    package let reason: String

    package var description: String { "\(host) was not found: \(reason)" }
  }

  /// Limit of addresses: a caller that tries one after another has no use for more.
  static let mostAddresses = 16

  /// Returns the addresses of a name or of a numeric address, in the order in which to try them. Waits for the
  /// network, for tens of seconds at worst; never call it on an event loop's thread.
  package static func resolve(host: String, port: UInt16) throws(Failure) -> [SocketAddress] {
    if let numeric = SocketAddress(host: host, port: port) { return [numeric] }
    guard !host.isEmpty, host.utf8.count < 256, !host.utf8.contains(0) else {
      throw Failure(host: host, reason: "this is no host name")
    }
    var found = Array(repeating: csys_address(), count: mostAddresses)
    let count = csys_resolve(host, port, &found, Int32(mostAddresses))
    guard count > 0 else {
      let reason = count == 0 ? "it has no address" : String(cString: gai_strerror(count))
      throw Failure(host: host, reason: reason)
    }
    return found.prefix(Int(count)).compactMap(SocketAddress.init)
  }

  /// Does the same on a thread of its own and calls `completion` there, once. Hand the result to a `Mutex` and
  /// wake the event loop.
  package static func resolve(
    host: String, port: UInt16,
    completion: @escaping @Sendable (Result<[SocketAddress], Failure>) -> Void
  ) throws(IOError) {
    let thread = try RealtimeThread.start(name: "resolver", priority: nil) {
      do throws(Failure) {
        completion(.success(try resolve(host: host, port: port)))
      } catch {
        completion(.failure(error))
      }
    }
    thread.detach()
  }
}
