/// A server's addresses, names and limits.
package struct WebServerConfiguration: Sendable {
  /// Addresses of this machine to listen on; empty means all.
  package var addresses: [String]
  /// TCP port; 0 lets the system choose.
  package var port: Int
  /// The machine's own name.
  package var ownName: String?
  /// Further names by which browsers may call it, besides `localhost` and addresses.
  package var hostNames: [String]
  package var limits: Limits

  package init(
    addresses: [String] = [], port: Int, ownName: String? = nil, hostNames: [String] = [],
    limits: Limits = Limits()
  ) {
    (self.addresses, self.port, self.limits) = (addresses, port, limits)
    (self.ownName, self.hostNames) = (ownName, hostNames)
  }

  package struct Limits: Sendable {
    package static let connections = 256
    /// A browser keeps six connections, and twenty pages may be open on one machine or behind one proxy.
    package static let connectionsOfOneAddress = 128
    package static let eventStreams = 32
    /// Bytes of a request's body.
    package static let body = 64 * 1_024
    /// Bytes of all headers; the path and query may have half as many.
    package static let head = 16 * 1_024
    package static let headerCount = 64
    /// Bytes that wait in the program for a slow reader; beyond them, nothing more is produced for it.
    static let waiting = 64 * 1_024
    /// Bytes that wait in the kernel for a reader; the kernel doubles the number.
    static let socket = 256 * 1_024

    /// Timeout from a connection, or from the first byte of a request, to the request's end.
    package var requestTimeout = Duration.seconds(10)
    /// Timeout from an answer to the next request.
    package var idleTimeout = Duration.seconds(60)
    /// Timeout of a reader that takes nothing of an answer.
    package var readerTimeout = Duration.seconds(20)

    package init() {}
  }
}
