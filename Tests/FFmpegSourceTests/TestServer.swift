import FFmpegSource
import Foundation
import Glibc
import Synchronization

/// An HTTP or HTTPS server on a port of its own. A test decides its answers, including wrong ones.
final class TestServer: Sendable {
  struct Request: Sendable {
    var path: String
    /// The first requested byte; nil if the client asks for the whole file.
    var rangeStart: Int?
    var wantsTitles: Bool
    /// Number of earlier requests for this path.
    var number: Int
  }

  typealias Answer = @Sendable (Request, Connection) -> Void

  private struct State {
    var counts: [String: Int] = [:]
    var byteCounts: [String: Int] = [:]
    var starts: [String: [Int]] = [:]
    var descriptors: [Int32] = []
    var connectionCount = 0
    var isOver = false
  }

  let port: UInt16
  private let listener: Int32
  private let certificate: TestCertificate?
  private let answer: Answer
  private let state = Mutex(State())

  init(_ certificate: TestCertificate? = nil, _ answer: @escaping Answer) throws {
    self.certificate = certificate
    self.answer = answer
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) + listen(descriptor, 16)
          + getsockname(descriptor, address, &size)
      }
    }
    guard code == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in acceptAll() }
  }

  func url(_ path: String) -> String {
    "\(certificate == nil ? "http" : "https")://127.0.0.1:\(port)/\(path)"
  }

  func requestCount(of path: String) -> Int { state.withLock { $0.counts["/" + path] ?? 0 } }

  var connectionCount: Int { state.withLock { $0.connectionCount } }

  /// Returns the first bytes of the requests for a path, in order.
  func starts(of path: String) -> [Int] { state.withLock { $0.starts["/" + path] ?? [] } }

  /// Returns the number of answered bytes that the system has taken: those that clients read, and some 100 kB a
  /// connection that they did not.
  func byteCount(of path: String) -> Int { state.withLock { $0.byteCounts["/" + path] ?? 0 } }

  func stop() {
    state.withLock { state in
      state.isOver = true
      for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func acceptAll() {
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { break }
      // Otherwise programs that other tests start would keep the socket open.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let isOver = state.withLock { state in
        state.descriptors.append(descriptor)
        state.connectionCount += 1
        return state.isOver
      }
      guard !isOver else { break }
      Thread.detachNewThread { [self] in serve(descriptor) }
    }
    close(listener)
  }

  private func serve(_ descriptor: Int32) {
    let session = certificate.flatMap { TLSSession(descriptor, $0) }
    // Otherwise the system would buffer megabytes that nobody reads.
    var size: Int32 = 16_384
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    var connection = Connection(descriptor, session)
    if certificate == nil || session != nil, let head = connection.readHead() {
      let request = request(head)
      connection.note = { [self] count in
        state.withLock { $0.byteCounts[request.path, default: 0] += count }
      }
      answer(request, connection)
    }
    if !connection.isToBeReset {
      session?.end()
      shutdown(descriptor, Int32(SHUT_RDWR))
    }
    state.withLock { state in
      state.descriptors.removeAll { $0 == descriptor }
      close(descriptor)
    }
  }

  private func request(_ head: String) -> Request {
    let lines = head.split(separator: "\r\n")
    let path = lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? ""
    let range = lines.first { $0.lowercased().hasPrefix("range:") }
    let start = range?.split(separator: "=").last?.split(separator: "-").first.flatMap { Int($0) }
    let number = state.withLock { state in
      state.counts[path, default: 0] += 1
      state.starts[path, default: []].append(start ?? 0)
      return (state.counts[path] ?? 1) - 1
    }
    return Request(
      path: path, rangeStart: start,
      wantsTitles: lines.contains { $0.lowercased() == "icy-metadata: 1" }, number: number)
  }

  /// A connection. Used by the thread that answers it.
  struct Connection {
    let descriptor: Int32
    private let session: TLSSession?
    fileprivate var note: @Sendable (Int) -> Void = { _ in }

    init(_ descriptor: Int32, _ session: TLSSession?) {
      self.descriptor = descriptor
      self.session = session
    }

    /// Returns false once the client has gone.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
      let bytes = Array(bytes)
      var sent = 0
      while sent < bytes.count {
        // Send little at a time, to know how much was sent.
        let count = bytes[sent..<min(bytes.count, sent + 16_384)].withUnsafeBytes { buffer -> Int in
          guard let start = buffer.baseAddress else { return 0 }
          return session?.send(start, buffer.count)
            ?? Glibc.send(descriptor, start, buffer.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
        note(count)
      }
      return true
    }

    func head(_ status: String, _ headers: [String] = []) {
      send(Array((["HTTP/1.1 " + status] + headers).joined(separator: "\r\n").utf8))
      send(Array("\r\nConnection: close\r\n\r\n".utf8))
    }

    /// Sends nothing until the client hangs up or the server is stopped.
    func fallSilent() {
      var bytes = [UInt8](repeating: 0, count: 512)
      while receive(&bytes, bytes.count) > 0 {}
    }

    private func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
      session?.receive(buffer, count) ?? recv(descriptor, buffer, count, 0)
    }

    /// Resets the connection. Data that was sent may be lost.
    func reset() {
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_LINGER, &linger,
        socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// Sends a file like a server that supports range requests.
    func send(file: [UInt8], from start: Int?, upTo end: Int? = nil) {
      let first = min(start ?? 0, file.count)
      guard first < file.count else { return head("416 Range Not Satisfiable") }
      let length = ["Content-Length: \(file.count - first)", "Accept-Ranges: bytes"]
      if start == nil {
        head("200 OK", length)
      } else {
        head(
          "206 Partial Content",
          length + ["Content-Range: bytes \(first)-\(file.count - 1)/\(file.count)"])
      }
      send(file[first..<max(first, min(end ?? file.count, file.count))])
    }

    fileprivate var isToBeReset: Bool {
      var linger = linger()
      var size = socklen_t(MemoryLayout.size(ofValue: linger))
      getsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, &size)
      return linger.l_onoff != 0
    }

    fileprivate func readHead() -> String? {
      var head: [UInt8] = []
      var byte: UInt8 = 0
      while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
        guard head.count < 8_192, receive(&byte, 1) == 1 else { return nil }
        head.append(byte)
      }
      return String(decoding: head, as: UTF8.self)
    }
  }
}

extension NetworkSettings {
  /// Two more attempts, without a pause.
  static var withoutPauses: NetworkSettings {
    var settings = NetworkSettings()
    settings.longestOutage = .zero
    settings.retryDelays = [.zero, .zero]
    return settings
  }
}
