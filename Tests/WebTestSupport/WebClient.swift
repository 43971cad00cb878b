import Dispatch
import FoundationEssentials
import Glibc

/// A connection to a server on the loopback, which can also break every rule of HTTP. It blocks threads of its own.
package final class WebConnectionClient: Sendable {
  package struct Failure: Error {
    package let description: String
  }

  private let socket: CInt
  private let queue = DispatchQueue(label: "web client")

  /// - Parameters:
  ///   - host: the connection comes from 127.0.0.`host`.
  ///   - first: sent at once, before the server may count on silence. The kernel must take it whole.
  package init(port: Int, fromHost host: UInt32 = 1, saying first: String = "") throws {
    socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    // A timeout longer than anything takes.
    var never = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &never, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &never, socklen_t(MemoryLayout<timeval>.size))
    let own = Self.call(Self.address(port: 0, host: host)) { bind(socket, $0, $1) }
    let other = Self.call(Self.address(port: port, host: 1)) { connect(socket, $0, $1) }
    guard own == 0, other == 0 else {
      throw Failure(description: "no connection: \(String(cString: strerror(errno)))")
    }
    guard !first.isEmpty else { return }
    let bytes = Array(first.utf8)
    guard Glibc.send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
      throw Failure(description: "the server takes nothing")
    }
  }

  deinit { close(socket) }

  private static func address(port: Int, host: UInt32) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = (UInt32(127) << 24 + host).bigEndian
    return address
  }

  private static func call(
    _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) -> CInt {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// Returns false once the server has ended the connection.
  @discardableResult
  package func send(_ bytes: [UInt8]) async -> Bool {
    await onQueue { [socket] in
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }

  @discardableResult
  package func send(_ text: String) async -> Bool { await send([UInt8](text.utf8)) }

  /// Returns the next bytes; empty at the end of the connection.
  package func receive() async -> [UInt8] { await take() ?? [] }

  /// Returns true once the server has ended the connection; waits until it does.
  package func end() async -> Bool {
    while let bytes = await take() { if bytes.isEmpty { return true } }
    return false
  }

  /// Returns the next bytes; empty at the end of the connection; nil if nothing comes.
  private func take() async -> [UInt8]? {
    await onQueue { [socket] in
      var isSilent = false
      let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) {
        let count = recv(socket, $0.baseAddress, $0.count, 0)
        isSilent = count < 0 && errno == EAGAIN
        $1 = max(0, count)
      }
      return isSilent ? nil : bytes
    }
  }

  private func onQueue<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { result in queue.async { result.resume(returning: body()) } }
  }
}

/// A server's answer.
package struct WebAnswer: Sendable {
  package let status: Int
  /// Headers by names in lower case.
  package let headers: [String: String]
  package let body: [UInt8]

  package var text: String { String(decoding: body, as: UTF8.self) }

  package func json<T: Decodable>(_ type: T.Type) throws -> T {
    try JSONDecoder().decode(type, from: Data(body))
  }
}

/// Reads answers from a connection, one after the other. Bytes that arrive early are kept for the next answer.
package final class WebReader {
  private let connection: WebConnectionClient
  private var bytes: [UInt8] = []

  package init(_ connection: WebConnectionClient) { self.connection = connection }

  /// Returns nil if the connection ends before an answer is complete.
  package func answer(hasBody: Bool = true) async -> WebAnswer? {
    guard let head = await text(to: "\r\n\r\n") else { return nil }
    let lines = head.split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    if status == 100 { return await answer(hasBody: hasBody) }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let sides = line.split(separator: ": ", maxSplits: 1)
      headers[sides[0].lowercased()] = sides.count > 1 ? String(sides[1]) : ""
    }
    var body: [UInt8] = []
    if hasBody, headers["transfer-encoding"] == "chunked" {
      while let chunk = await chunk() { body += chunk }
    } else if hasBody, let count = headers["content-length"].flatMap({ Int($0) }) {
      guard let whole = await take(count) else { return nil }
      body = whole
    }
    return WebAnswer(status: status, headers: headers, body: body)
  }

  /// Returns the head of an answer whose body continues.
  package func head() async -> String? { await text(to: "\r\n\r\n") }

  /// Returns the next chunk; nil at the end of the body.
  package func chunk() async -> [UInt8]? {
    guard let line = await text(to: "\r\n"), let count = Int(line, radix: 16),
      let chunk = await take(count), await take(2) != nil, count > 0
    else { return nil }
    return chunk
  }

  private func text(to end: String) async -> String? {
    let end = [UInt8](end.utf8)
    while true {
      if let place = bytes.firstRange(of: end) {
        defer { bytes.removeFirst(place.upperBound) }
        return String(decoding: bytes[..<place.lowerBound], as: UTF8.self)
      }
      guard await more() else { return nil }
    }
  }

  private func take(_ count: Int) async -> [UInt8]? {
    while bytes.count < count { guard await more() else { return nil } }
    defer { bytes.removeFirst(count) }
    return Array(bytes.prefix(count))
  }

  private func more() async -> Bool {
    let next = await connection.receive()
    bytes += next
    return !next.isEmpty
  }
}

/// Asks a server on the loopback, with a new connection for each request.
package struct WebClient: Sendable {
  package let port: Int

  package init(port: Int) { self.port = port }

  package func ask(
    _ method: String, _ path: String, _ body: String? = nil, headers: [(String, String)] = []
  ) async throws -> WebAnswer {
    let connection = try WebConnectionClient(port: port)
    await connection.send(request(method, path, body, headers: headers))
    guard let answer = await WebReader(connection).answer(hasBody: method != "HEAD") else {
      throw WebConnectionClient.Failure(description: "no answer to \(method) \(path)")
    }
    return answer
  }

  /// Returns the text of a request. Headers replace the usual ones of the same name; an empty value leaves one out.
  package func request(
    _ method: String, _ path: String, _ body: String? = nil, headers: [(String, String)] = []
  ) -> String {
    var all = [("Host", "127.0.0.1:\(port)")]
    if let body {
      all += [("Content-Type", "application/json"), ("Content-Length", "\(body.utf8.count)")]
    }
    all.removeAll { usual in headers.contains { $0.0 == usual.0 } }
    let lines = (all + headers).filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1)\r\n" }
    return "\(method) \(path) HTTP/1.1\r\n\(lines.joined())\r\n\(body ?? "")"
  }
}

/// Runs a server beside `body`, and ends it afterwards.
///
/// - Parameter serve: calls its argument with the port once it listens.
package func beside<T: Sendable>(
  _ serve: @escaping @Sendable (@escaping @Sendable (Int) -> Void) async throws -> Void,
  _ body: @escaping @Sendable (WebClient) async throws -> T
) async throws -> T {
  let (ports, port) = AsyncStream.makeStream(of: Int.self)
  return try await withThrowingTaskGroup(of: T?.self) { group in
    group.addTask {
      defer { port.finish() }
      try await serve { port.yield($0) }
      return nil
    }
    group.addTask {
      for await port in ports { return try await body(WebClient(port: port)) }
      return nil
    }
    defer { group.cancelAll() }
    while let result = try await group.next() { if let result { return result } }
    throw WebConnectionClient.Failure(description: "the server has ended")
  }
}
