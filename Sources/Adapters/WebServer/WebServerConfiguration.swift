/// Where and for whom a server listens, and what it bears.
package struct WebServerConfiguration: Sendable {
  /// Of this machine; none is all of them.
  package var addresses: [String]
  /// 0 is a free one.
  package var port: Int
  /// The machine's own name.
  package var ownName: String?
  /// Further names by which browsers may call it, on top of `localhost` and addresses.
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
    /// Bytes of all headers, and of the path.
    package static let head = 16 * 1_024
    package static let headerCount = 64
    /// Bytes that wait in the program for a reader who is too slow, until nothing more is produced for it.
    static let waiting = 64 * 1_024
    /// Bytes that wait in the kernel for one, which doubles the number.
    static let socket = 256 * 1_024

    /// From a connection, or from the first byte of a request, to its end.
    package var requestPatience = Duration.seconds(10)
    /// From an answer to the next request.
    package var idlePatience = Duration.seconds(60)
    /// For a reader of an answer who takes nothing.
    package var readerPatience = Duration.seconds(20)

    package init() {}
  }
}
