import Clock
import Testing
import WireProtocol

@testable import Receiver

@Suite struct LobbyTests {
  private static let start = LocalTime(nanoseconds: 0)

  @Test func `the seventeenth guest makes the first one leave`() {
    var lobby = Lobby()
    let evicted = (0..<Lobby.limit + 2).map {
      lobby.admit(ConnectionID($0), peer: "", at: Self.start)
    }
    #expect(evicted.dropLast(2).allSatisfy { $0 == nil })
    #expect(evicted.suffix(2) == [ConnectionID(0), ConnectionID(1)])
  }

  @Test func `a host that connects over and over displaces itself`() {
    var lobby = Lobby()
    _ = lobby.admit(ConnectionID(0), peer: "study", at: Self.start)
    let evicted = (1...100).compactMap {
      lobby.admit(ConnectionID($0), peer: "flood", at: Self.start)
    }
    #expect(evicted == (1...(100 - Lobby.limit + 1)).map { ConnectionID($0) })
    #expect(lobby[ConnectionID(0)]?.peer == "study")
  }

  @Test func `guests leave after their timeout, in order`() {
    var lobby = Lobby()
    _ = lobby.admit(ConnectionID(1), peer: "", at: Self.start)
    _ = lobby.admit(ConnectionID(2), peer: "", at: Self.start + .seconds(1))
    #expect(lobby.nextDeadline == Self.start + Lobby.timeout)
    let first = lobby.overdue(at: Self.start + Lobby.timeout)
    #expect(first == [ConnectionID(1)])
    #expect(lobby.nextDeadline == Self.start + .seconds(1) + Lobby.timeout)
    let second = lobby.overdue(at: Self.start + .seconds(100))
    #expect(second == [ConnectionID(2)])
    #expect(lobby.nextDeadline == nil)
  }

  @Test func `a host that begins connections without end is turned away, and others are not`() {
    var lobby = Lobby()
    var now = Self.start
    var turnedAway = 0
    for number in 0..<1000 {
      let id = ConnectionID(number)
      if lobby.admit(id, peer: "flood", at: now) == id { turnedAway += 1 }
      lobby.remove(id)
    }
    #expect(turnedAway == 1000 - Int(Lobby.connectionBurst))
    #expect(lobby.admit(ConnectionID(1000), peer: "study", at: now) == nil)
    now = now + .seconds(1)
    #expect(lobby.admit(ConnectionID(1001), peer: "flood", at: now) == nil)
  }

  @Test func `nothing is read of a guest before its handshake is complete`() throws {
    var lobby = Lobby()
    _ = lobby.admit(ConnectionID(1), peer: "study", at: Self.start)
    lobby.received(MediaMessage.attach(session: 3).encoded(), on: ConnectionID(1))
    let early = try lobby.nextMessage(of: ConnectionID(1))
    #expect(early == nil)
    lobby.secured(ConnectionID(1), .test(1))
    let message = try lobby.nextMessage(of: ConnectionID(1))
    #expect(message == .media(session: 3))
  }

  @Test func `what comes behind the first message is kept and counted`() throws {
    var lobby = Lobby()
    _ = lobby.admit(ConnectionID(1), peer: "study", at: Self.start)
    lobby.secured(ConnectionID(1), .test(1))
    let attach = MediaMessage.attach(session: 3).encoded()
    let packet = MediaMessage.packet(TestReceiver.packet(0)).encoded()
    lobby.received(Array(attach.prefix(5)), on: ConnectionID(1))
    let none = try lobby.nextMessage(of: ConnectionID(1))
    #expect(none == nil)
    lobby.received(Array(attach.dropFirst(5)) + packet, on: ConnectionID(1))
    let message = try lobby.nextMessage(of: ConnectionID(1))
    #expect(message == .media(session: 3))
    let guest = try #require(lobby[ConnectionID(1)])
    #expect(guest.byteCount == attach.count + packet.count)
    var framer = guest.framer
    let next = try framer.next()
    #expect(next.map(MediaMessage.isPacket) == true)
  }

  @Test func `a first message of more than a kilobyte is not stored`() {
    var lobby = Lobby()
    _ = lobby.admit(ConnectionID(1), peer: "", at: Self.start)
    lobby.secured(ConnectionID(1), .test(1))
    lobby.received([0, 0, 4, 1], on: ConnectionID(1))
    #expect(throws: DecodeError.self) { try lobby.nextMessage(of: ConnectionID(1)) }
  }

  @Test func `bytes of nobody are nothing`() throws {
    var lobby = Lobby()
    lobby.received([1, 2, 3], on: ConnectionID(1))
    let message = try lobby.nextMessage(of: ConnectionID(1))
    #expect(message == nil)
    #expect(lobby[ConnectionID(1)] == nil)
  }
}
