import CFFmpeg
package import Sender

/// A request that sends something to a server, and the beginning of its answer. FFmpeg makes the connection alone, so that
/// the request goes to this server and to no other: it would follow a redirect with all headers.
package struct AddressPost: Sendable {
  /// A server. Host and port become part of FFmpeg's address, so a host has letters, digits, dots, hyphens and colons only.
  package struct Server: Hashable, Sendable {
    package var host: String
    package var port: UInt16
    package var isSecure: Bool

    package init(host: String, port: UInt16, isSecure: Bool) {
      (self.host, self.port, self.isSecure) = (host, port, isSecure)
    }

    fileprivate var address: String? {
      let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:".utf8
      guard !host.isEmpty, host.utf8.allSatisfy(letters.contains) else { return nil }
      return "\(isSecure ? "tls" : "tcp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
  }

  /// The answer as far as it came, with its head.
  package var answer: [UInt8]

  /// Sends the request. Blocks.
  ///
  /// - Parameters:
  ///   - request: its bytes, with its head, which asks the server to close the connection.
  ///   - limit: in bytes; no more of the answer is read.
  ///   - time: after it, the connection is closed. A head that has come by then counts.
  package init(
    _ request: [UInt8], to server: Server, limit: Int, time: Duration,
    reach: SourceReach = .all, settings: NetworkSettings = NetworkSettings()
  ) throws(MediaError) {
    let name = server.host
    let library = try FFmpegLibrary.load(toPlay: name)
    guard let address = server.address else {
      throw .unreadable(path: name, reason: "this is no host")
    }
    var settings = settings
    settings.opening = OpeningLimits(requests: 1, bytes: Int64(limit) + 65_536, time: time)
    let network = NetworkInput(
      name, reach: reach, settings: settings, interruption: try ReadInterruption(),
      library: library, report: { _ in })
    cff_clear_log()
    var connection: UnsafeMutablePointer<AVIOContext>?
    let code = network.waiting { network.connect(address, &connection) }
    guard code >= 0, let connection else {
      throw .unreadable(
        path: name,
        reason: network.takeRefusal() ?? network.budget.excess ?? library.reason(of: code))
    }
    defer { network.close(connection) }
    answer = [UInt8](repeating: 0, count: limit)
    let count = network.waiting(for: connection) { [size = Int32(limit)] in
      library.calls.avio_write(connection, request, Int32(clamping: request.count))
      library.calls.avio_flush(connection)
      return library.calls.avio_read(connection, &answer, size)
    }
    guard count > 0 else {
      let reason = count == 0 || count == cff_eof ? "it answers nothing" : library.reason(of: count)
      throw .unreadable(path: name, reason: network.budget.excess ?? reason)
    }
    answer.removeLast(limit - Int(count))
  }

  /// Returns the MD5 sum in hexadecimal digits, by which Last.fm knows that a request is unchanged.
  package static func hash(of bytes: [UInt8]) throws(MediaError) -> String {
    try FFmpegLibrary.load(toPlay: "MD5").hash(of: bytes)
  }
}
