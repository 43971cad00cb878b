import Clock
import House
import LinuxIO
import Sender
import Synchronization
import Testing

@testable import Library

/// Tests of searches of the network, which is this machine's loopback here.
@Suite struct ServerFinderTests {
  private func answer(_ path: String, host: String = "127.0.0.1", rest: Int = 0) -> [UInt8] {
    let text =
      "HTTP/1.1 200 OK\r\nST: urn:schemas-upnp-org:device:MediaServer:1\r\n"
      + "LOCATION: http://\(host):8200/\(path)\r\n\r\n"
    return Array(text.utf8) + [UInt8](repeating: 32, count: rest)
  }

  /// Returns what a search finds whose first question is answered with these.
  private func found(_ answers: [[UInt8]], limit: Int = ServerSearch.serverLimit) throws -> [String]
  {
    let network = try Reactor()
    let socket = try network.openDatagrams(on: .loopback(port: 0))
    let group = try #require(network.localAddress(of: socket))
    let found = Mutex<[String]>([])
    let thread = try RealtimeThread.start(name: "search", priority: nil) {
      let answers = ServerFinder.answers(
        to: group, from: [.loopback(port: 0)], reach: .all, time: .seconds(30), limit: limit)
      found.withLock { $0 = answers.map(\.address.path) }
    }
    let deadline = HostClock.now + .seconds(30)
    var question: Datagram?
    while question == nil, HostClock.now < deadline {
      for case .datagram(_, let datagram) in try network.wait(until: deadline) {
        question = question ?? datagram
      }
    }
    let asked = try #require(question)
    #expect(asked.bytes == ServerSearch.question)
    for answer in answers { try network.send(answer, to: asked.from, from: socket) }
    thread.join()
    return found.withLock { $0 }
  }

  @Test(.timeLimit(.minutes(2)))
  func `servers that answer are found once, each at its own address`() throws {
    let answers = [
      [1, 2, 3], answer("elsewhere", host: "10.0.0.1"),
      answer("long", rest: ServerSearch.byteLimit), answer("a"), answer("a"), answer("b"),
    ]
    #expect(try found(answers, limit: 2) == ["/a", "/b"])
  }

  @Test(.timeLimit(.minutes(2)))
  func `no more servers are found than the limit`() throws {
    let answers = (0..<ServerSearch.serverLimit + 8).map { answer("\($0)") }
    #expect(try found(answers) == (0..<ServerSearch.serverLimit).map { "/\($0)" })
  }

  @Test func `a search ends without an answer, and without a network`() throws {
    let network = try Reactor()
    let socket = try network.openDatagrams(on: .loopback(port: 0))
    let group = try #require(network.localAddress(of: socket))
    func search(_ own: [SocketAddress]) -> [ServerSearch.Answer] {
      ServerFinder.answers(to: group, from: own, time: .milliseconds(600))
    }
    let begun = HostClock.now
    #expect(search([.loopback(port: 0)]).isEmpty)
    #expect(HostClock.now - begun >= .milliseconds(600))
    #expect(search([]).isEmpty)
    var questions = 0
    for case .datagram in try network.wait(until: HostClock.now) { questions += 1 }
    #expect(questions == 2)
    #expect(OwnAddress.ofInterfaces.allSatisfy { !$0.isLoopback && $0.port == 0 })
  }

  @Test func `a server in two networks is one, unless another only says that it is that one`() {
    func server(_ name: String, _ host: Int) -> FoundServer? {
      ListenAddress("http://10.0.0.\(host)/").map { FoundServer(called: name, at: $0) }
    }
    let found: [(String?, FoundServer?)] = [
      ("u1", server("Loft", 1)), ("u1", server("Loft", 2)), ("u1", server("Attic", 3)),
      (nil, server("Loft", 4)), (nil, server("Loft", 5)),
    ]
    let single = ServerFinder.single(
      found.compactMap { device, server in server.map { (device, $0) } })
    #expect(single == [0, 2, 3, 4].map { found[$0].1 })
  }

  // MARK: - Descriptions

  /// Returns the name of a server on this machine that answers this; nil says nothing.
  private func name(of answer: String?, reach: SourceReach = .all) throws -> String? {
    let server = try Reactor()
    let listener = try server.listen(on: .loopback(port: 0))
    let port = try #require(server.localAddress(of: listener)).port
    let address = try #require(ListenAddress("http://127.0.0.1:\(port)/a"))
    let found = Mutex<FoundServer?>(nil)
    let isOver = Mutex(false)
    let waker = server.waker
    let thread = try RealtimeThread.start(name: "name", priority: nil) {
      let named = ServerFinder.named(address, LibraryBed.worker, reach: reach)
      found.withLock { $0 = named }
      isOver.withLock { $0 = true }
      waker.wake()
    }
    let deadline = HostClock.now + .seconds(60)
    while !isOver.withLock({ $0 }), HostClock.now < deadline {
      for case .received(let connection, _) in try server.wait(until: deadline) {
        guard let answer else { continue }
        server.send(Array(answer.utf8), on: connection)
        server.finish(connection)
      }
    }
    thread.join()
    return found.withLock { $0?.name }
  }

  private static let description = """
    HTTP/1.1 200 OK\r\n\r\n<root xmlns="urn:schemas-upnp-org:device-1-0"><device>\
    <friendlyName>Loft</friendlyName><serviceList><service>\
    <serviceType>urn:schemas-upnp-org:service:ContentDirectory:1</serviceType>\
    <controlURL>/c</controlURL></service></serviceList></device></root>
    """

  @Test(.timeLimit(.minutes(2)))
  func `a server is called as its description says, unless it is this machine's own`() throws {
    #expect(try name(of: Self.description) == "Loft")
    #expect(try name(of: Self.description, reach: .network) == nil)
    #expect(try name(of: "HTTP/1.1 200 OK\r\n\r\n<root/>") == nil)
  }

  @Test(.timeLimit(.minutes(2)))
  func `a media server that says nothing is not found`() throws {
    let begun = ContinuousClock.now
    #expect(try name(of: nil) == nil)
    #expect(ContinuousClock.now - begun >= ServerFinder.nameTime)
    #expect(ContinuousClock.now - begun < ServerRequest.listTime)
  }
}
