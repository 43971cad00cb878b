import Clock
import LinuxIO
import Testing
import WireProtocol

/// Tests of a sender and a room in one process.
@Suite struct HostedConnectionsTests {
  private let senderID: Identifier
  private let room: HostedRoom
  private let connections: HostedConnections<String>
  private let address: SocketAddress

  init() throws {
    senderID = try #require(Identifier(hex: String(repeating: "1", count: 32)))
    let roomID = try #require(Identifier(hex: String(repeating: "2", count: 32)))
    room = HostedRoom(id: roomID, room: try Waker(), sender: try Waker())
    connections = HostedConnections(senderID: senderID, waker: try Waker())
    address = connections.address(of: room)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    bytes.count > 9 ? "\(bytes.count) bytes" : "\(bytes)"
  }

  private func said() -> [String] {
    connections.take().map { event in
      switch event {
      case .peer(.connected(let name, _)): "\(name) connected"
      case .peer(.failed(let name, let reason)): "\(name) failed: \(reason)"
      case .peer(.received(let name, let bytes)): "\(name) received \(Self.text(bytes))"
      case .peer(.closed(let name, let reason)): "\(name) closed: \(reason)"
      case .timeRequest(let bytes, let from, _): "time \(bytes) \(from == address)"
      case .ask(let bytes, let from, _): "ask \(bytes) \(from == address)"
      case .drained: "drained"
      }
    }
  }

  private func heard() -> [String] {
    room.take().map { message in
      switch message {
      case .connected(let number, let peer): "\(number) connected \(peer.id == senderID)"
      case .received(let number, let bytes): "\(number) received \(Self.text(bytes))"
      case .closed(let number): "\(number) closed"
      case .datagram(let bytes, _): "datagram \(bytes)"
      }
    }
  }

  private func connect(_ name: String) {
    #expect(connections.connect(to: address, as: name))
    #expect(said() == ["\(name) connected"])
  }

  @Test func `both ends have the same keys, others on each connection, and know each other`() throws
  {
    #expect(connections.connect(to: address, as: "a"))
    #expect(connections.connect(to: address, as: "b"))
    var ends: [[SecuredPeer]] = [[], []]
    for case .peer(.connected(_, let peer)) in connections.take() { ends[0].append(peer) }
    for case .connected(_, let peer) in room.take() { ends[1].append(peer) }
    try #require(ends.allSatisfy { $0.count == 2 })
    for (one, other) in zip(ends[0], ends[1]) {
      #expect(one.clockKey == other.clockKey && one.binding == other.binding)
      #expect(one.id == room.id && other.id == senderID)
    }
    #expect(ends[0][0].clockKey != ends[0][1].clockKey)
    #expect(ends[0][0].binding != ends[0][1].binding)
  }

  @Test func `bytes go both ways in order, and closing comes behind them`() {
    connect("a")
    #expect(connections.send([1], to: "a") && connections.send([2], to: "a"))
    #expect(connections.queuedBytes(to: "a") == 2)
    #expect(connections.close("a"))
    #expect(heard() == ["1 connected true", "1 received [1]", "1 received [2]", "1 closed"])
    #expect(said() == ["drained"])
    connect("b")
    room.send([3], on: 2)
    room.close(2)
    #expect(said() == ["b received [3]", "b closed: the room closed the connection"])
    #expect(!connections.send([4], to: "b"))
  }

  @Test func `datagrams arrive when they leave`() throws {
    connect("a")
    _ = heard()
    let before = HostClock.now
    let left = room.sendTimeRequest([5])
    room.sendAsk([6])
    #expect(said() == ["time [5] true", "ask [6] true"])
    let answered = try #require(connections.send(datagram: [7], to: address))
    guard case .datagram([7], let at)? = room.take().first else {
      Issue.record("no datagram")
      return
    }
    #expect(before <= left && left <= answered && at == answered)
    #expect(connections.send(datagram: [8], to: .loopback(port: 9)) == nil)
  }

  @Test func `a room that takes nothing is closed, and so is a sender`() {
    connect("a")
    let half = [UInt8](repeating: 0, count: HostedRoom.byteLimit / 2)
    #expect(connections.send(half, to: "a") && connections.send(half, to: "a"))
    #expect(connections.send([1], to: "a"))
    #expect(said() == ["a closed: the room takes no data"])
    #expect(heard().last == "1 closed")
    #expect(said() == ["drained"])

    connect("b")
    _ = heard()
    for _ in 0..<2 { room.send(half, on: 2) }
    room.sendAsk([1])
    room.send([1], on: 2)
    #expect(heard() == ["2 closed"])
    #expect(said().last == "b closed: this machine is too busy")
  }

  @Test func `no text is the address of a room in this process`() {
    for text in [address.host, address.description, "", "inProcess(1)", "1", "::1"] {
      #expect(SocketAddress(host: text, port: 0) != address)
    }
    #expect(connections.connect(to: .inProcess(7), as: "a"))
    #expect(said() == ["a failed: the room is not here any more"])
  }

  @Test func `a room that has gone ends its connections, and cannot be connected to`() {
    connect("a")
    connections.remove(room)
    #expect(said() == ["a closed: the room is not here any more"])
    #expect(connections.connect(to: address, as: "b"))
    #expect(said() == ["b failed: the room is not here any more"])
    #expect(!connections.connect(to: .loopback(port: 1), as: "c"))
  }
}
