import Clock
import LinuxIO
import Service

/// Leads browsers from the page's address on a machine that follows to the page of the one that leads.
final class PageSign: LoopMember {
  /// Bytes of a request at most.
  private static let requestLimit = 8 << 10
  private static let clientLimit = 32

  private let reactor: Reactor
  private let listeners: [ListenerID]
  private let other: () -> SecondDaemon.Other
  private var clients: [(connection: ConnectionID, request: [UInt8])] = []

  /// - Parameter addresses: none is all of this machine.
  init(
    addresses: [String], port: UInt16, reactor: Reactor,
    other: @escaping () -> SecondDaemon.Other
  ) throws(IOError) {
    (self.reactor, self.other) = (reactor, other)
    var listeners: [ListenerID] = []
    for address in addresses.isEmpty ? [""] : addresses {
      let place = address.isEmpty ? .any(port: port) : SocketAddress(host: address, port: port)
      if let place { listeners.append(try reactor.listen(on: place)) }
    }
    self.listeners = listeners
  }

  func close() { for listener in listeners { reactor.close(listener) } }

  var nextDeadline: LocalTime? { nil }

  func turn() {}

  func handle(_ event: ReactorEvent) -> Bool {
    switch event {
    case .accepted(let connection, let listener, _) where listeners.contains(listener):
      clients.append((connection, []))
      if clients.count > Self.clientLimit { reactor.close(clients.removeFirst().connection) }
    case .received(let connection, let bytes):
      guard let index = clients.firstIndex(where: { $0.connection == connection }) else {
        return false
      }
      clients[index].request += bytes
      let request = clients[index].request
      guard request.count > Self.requestLimit || Self.isWhole(request) else { return true }
      clients.remove(at: index)
      reactor.send(Array(answer(to: request).utf8), on: connection)
      reactor.finish(connection)
    case .closed(let connection, _):
      let count = clients.count
      clients.removeAll { $0.connection == connection }
      return clients.count != count
    default: return false
    }
    return true
  }

  private static func isWhole(_ request: [UInt8]) -> Bool {
    request.suffix(4).elementsEqual("\r\n\r\n".utf8)
      || String(decoding: request, as: UTF8.self).contains("\r\n\r\n")
  }

  private func answer(to request: [UInt8]) -> String {
    let other = other()
    guard let host = other.host, let port = other.port, port > 0 else {
      return Self.answer(
        "503 Service Unavailable", "Retry-After: 2",
        "This machine follows the household's other one, which does not answer yet.\n")
    }
    let place = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    return Self.answer(
      "307 Temporary Redirect", "Location: http://\(place)\(Self.target(of: request))", "")
  }

  private static func answer(_ status: String, _ header: String, _ text: String) -> String {
    [
      "HTTP/1.1 \(status)", header, "Content-Type: text/plain",
      "Content-Length: \(text.utf8.count)", "Cache-Control: no-store", "Connection: close", "",
      text,
    ].joined(separator: "\r\n")
  }

  /// Nothing of a request that could begin another header is repeated.
  private static func target(of request: [UInt8]) -> String {
    let words = request.prefix { $0 != 0x0d }.split(separator: 0x20)
    guard words.count == 3, words[1].first == UInt8(ascii: "/"),
      words[1].allSatisfy({ (0x21...0x7e).contains($0) })
    else { return "/" }
    return String(decoding: words[1], as: UTF8.self)
  }
}
