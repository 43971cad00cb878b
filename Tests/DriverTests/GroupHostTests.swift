import Audio
import Clock
import LinuxIO
import OpenSSLSecurity
import Sender
import Testing
import WireProtocol

@testable import Driver

/// Several groups in one process: one event loop, one clock socket, real connections.
@Suite struct GroupHostTests {
  private final class Endless: MediaSource {
    let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
    let sampleType = SampleType.int16
    let isLossless = true
    let frameCount: Int64? = nil
    let metadata = ItemMetadata()

    func read(_ count: Int, appendingTo frames: inout [Float]) {
      frames.append(contentsOf: repeatElement(0, count: count))
    }
    func seek(toFrame frame: Int64) {}
  }

  /// Rooms and groups that share one thread.
  private final class Bed {
    let reactor: Reactor
    let host: GroupHost
    let rooms: [TestRoom]
    private(set) var groups: [GroupDriver] = []
    private(set) var datagrams: [Datagram] = []
    private let socket: DatagramID

    init(rooms count: Int, groups groupCount: Int) throws {
      let reactor = try Reactor()
      self.reactor = reactor
      host = try GroupHost(
        reactor: reactor, security: try TLSContext(try IdentityKey.generate()))
      rooms = try (1...count).map { try TestRoom($0, on: reactor) }
      socket = try reactor.openDatagrams(on: .loopback(port: 0))
      for number in 1...groupCount {
        groups.append(
          try GroupDriver(
            host: host,
            settings: .init(senderName: "group \(number)"),
            playlist: Playlist(["endless"]),
            reads: ReadControl(abandon: {}, resume: {}, end: {})
          ) { _ in
            Serializer(
              openSource: { _ in Endless() },
              makeEncoder: { PCMEncoder(audio: $0.format, sampleType: $0.sampleType) })
          })
      }
    }

    func run(until what: String, _ isDone: () -> Bool) throws {
      let deadline = HostClock.now + .seconds(20)
      while !isDone() {
        try #require(HostClock.now < deadline, "never: \(what)")
        let next = [deadline, host.nextDeadline].compactMap { $0 }.min()
        for event in try reactor.wait(until: next) {
          if case .datagram(socket, let datagram) = event { datagrams.append(datagram) }
          host.handle(event)
          for room in rooms { room.handle(event) }
        }
        host.turn()
      }
    }

    /// Waits once, without giving any group a turn. Returns false if nothing but the clock's
    /// datagrams came.
    func answerOnly() throws -> Bool {
      var isMore = false
      for event in try reactor.wait(until: HostClock.now + .milliseconds(5)) {
        switch event {
        case .datagram(socket, let datagram): datagrams.append(datagram)
        case .datagram, .transmitted: break
        default: isMore = true
        }
        host.handle(event)
        for room in rooms { room.handle(event) }
      }
      return isMore
    }

    func ask(_ hello: Hello, sequence: UInt32) throws {
      let request = TimeRequest(
        clockID: hello.clockID, keyID: TimeRequest.keyID(ofSession: hello.session),
        sequence: sequence, sentAt: HostClock.now)
      try reactor.send(
        TimePacket.request(request).encoded(key: key(of: hello)),
        to: SocketAddress.loopback(port: hello.clockPort), from: socket)
    }

    var answers: [TimeAnswer] {
      datagrams.compactMap { datagram in
        let packet = try? TimePacket.decode(datagram.bytes[...]) { packet in
          guard case .answer(let answer) = packet else { return nil }
          return sessions.last { $0.hello.clockID == answer.clockID }.map { key(of: $0.hello) }
        }
        return if case .answer(let answer)? = packet { answer } else { nil }
      }
    }

    private var sessions: [TestRoom.Session] { rooms.flatMap(\.sessions) }

    /// The key of the session that began with this hello; an empty one if the hello is made up.
    private func key(of hello: Hello) -> ClockKey {
      let session = sessions.last { $0.hello.session == hello.session }
      return ClockKey(session?.peer?.clockKey ?? [])
    }

    func end() throws { for group in groups { try group.end() } }
  }

  @Test func `the more groups of a process play, the fewer packets each may hold`() throws {
    let bed = try Bed(rooms: 2, groups: 2)
    bed.groups[0].addRoom(bed.rooms[0].record)
    try bed.run(until: "the first group plays") { bed.groups[0].heldBytes > 0 }
    #expect(bed.groups[0].session.storeLimit == StoreBudget.bytes)
    bed.groups[1].addRoom(bed.rooms[1].record)
    try bed.run(until: "both play") { bed.groups.allSatisfy { $0.heldBytes > 0 } }
    bed.host.turn()
    #expect(bed.groups.map(\.session.storeLimit) == [StoreBudget.bytes / 2, StoreBudget.bytes / 2])
    // A group learns its share even if nothing else has happened to it.
    try bed.run(until: "the first group has nothing to do") { !bed.groups[0].hasNews }
    bed.groups[0].takeTurn(storeLimit: StoreBudget.least)
    #expect(bed.groups[0].session.storeLimit == StoreBudget.least)
    try bed.end()
  }

  @Test func `two groups play at once, and a room moves while the other group's music goes on`()
    throws
  {
    let bed = try Bed(rooms: 3, groups: 2)
    let (one, two) = (bed.groups[0], bed.groups[1])
    let (left, moving, right) = (bed.rooms[0], bed.rooms[1], bed.rooms[2])
    one.addRoom(left.record)
    let moved = one.addRoom(moving.record)
    two.addRoom(right.record)
    try bed.run(until: "all rooms are sent music") {
      bed.rooms.allSatisfy { ($0.sessions.first?.packets.count ?? 0) > 50 }
    }
    #expect(left.sessions[0].hello.senderName == "group 1")
    #expect(right.sessions[0].hello.senderName == "group 2")

    one.removeRoom(moved)
    two.addRoom(moving.record, takesOver: true)
    let before = (left.sessions[0].packets.count, right.sessions[0].packets.count)
    try bed.run(until: "the moved room and the others are sent more") {
      moving.sessions.count == 2 && moving.sessions[1].packets.count > 50
        && left.sessions[0].packets.count > before.0 + 50
        && right.sessions[0].packets.count > before.1 + 50
    }
    #expect(moving.sessions[1].hello.senderName == "group 2")
    #expect(!moving.sessions[0].isOpen)
    for room in [left, right] {
      #expect(room.sessions.count == 1)
      let packets = room.sessions[0].packets
      #expect(Set(packets.map(\.generation)) == [0])
      #expect(packets.map(\.sequence) == Array(0..<UInt64(packets.count)))
    }
    #expect(one.session.name(of: moved) == nil)
    try bed.end()
  }

  @Test func `each group answers for its own clock on the socket that they share`() throws {
    let bed = try Bed(rooms: 2, groups: 2)
    for (group, room) in zip(bed.groups, bed.rooms) { group.addRoom(room.record) }
    try bed.run(until: "both are greeted") { bed.rooms.allSatisfy { !$0.sessions.isEmpty } }
    let hellos = bed.rooms.map { $0.sessions[0].hello }
    #expect(hellos[0].clockPort == hellos[1].clockPort)
    #expect(hellos[0].clockID != hellos[1].clockID)
    for (number, hello) in hellos.enumerated() { try bed.ask(hello, sequence: UInt32(number + 1)) }
    try bed.run(until: "both have answered") { bed.answers.count == 2 }
    #expect(Set(bed.answers.map(\.clockID)) == Set(hellos.map(\.clockID)))
    // The kernel's stamp of each answer comes with the next answer of the same clock.
    for (number, hello) in hellos.enumerated() { try bed.ask(hello, sequence: UInt32(number + 11)) }
    try bed.run(until: "both have answered again") { bed.answers.count == 4 }
    for (number, hello) in hellos.enumerated() {
      let second = try #require(bed.answers.last { $0.clockID == hello.clockID })
      #expect(second.previous?.sequence == UInt32(number + 1))
    }
    try bed.end()
  }

  @Test func `a request for the time is answered without a turn of the group`() throws {
    let bed = try Bed(rooms: 1, groups: 1)
    let group = bed.groups[0]
    group.addRoom(bed.rooms[0].record)
    try bed.run(until: "the room is sent music") {
      (bed.rooms[0].sessions.first?.packets.count ?? 0) > 50
    }
    let hello = bed.rooms[0].sessions[0].hello
    for sequence in 1...UInt32(500) where bed.answers.count < 20 {
      try bed.run(until: "the group has nothing to do") { !group.hasNews }
      try bed.ask(hello, sequence: sequence)
      guard try !bed.answerOnly() else { continue }
      #expect(!group.hasNews)
    }
    #expect(bed.answers.count >= 20)
    try bed.end()
  }

  @Test func `two hosts on one event loop keep their sockets apart`() throws {
    let bed = try Bed(rooms: 1, groups: 1)
    let other = try GroupHost(
      reactor: bed.reactor, security: try TLSContext(try IdentityKey.generate()))
    bed.groups[0].addRoom(bed.rooms[0].record)
    try bed.run(until: "greeted") { !bed.rooms[0].sessions.isEmpty }
    let hello = bed.rooms[0].sessions[0].hello
    var stray = hello
    stray.clockPort = other.clockPort
    try bed.ask(stray, sequence: 1)
    try bed.ask(hello, sequence: 2)
    try bed.run(until: "answered") { !bed.answers.isEmpty }
    #expect(bed.answers.map(\.sequence) == [2])
    try bed.end()
  }
}
