import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Tests of a turntable in rooms that come late, and after this machine has slept. Were they wrong,
/// it would be heard later and later, or a room's network would carry it twice.
@Suite struct GroupSessionTurntableTests {
  /// A session whose orders are carried out when the test says so.
  private struct Bed: SessionOutputs {
    private var session: GroupSession
    let now = LocalTime(nanoseconds: 5_000_000_000)
    private(set) var outputs: [GroupSession.Output] = []
    private var orders: [ProductionOrder] = []
    private let serializer: Serializer

    init(_ session: GroupSession, openSource: @escaping Serializer.OpenSource) {
      self.session = session
      serializer = Serializer(openSource: openSource, makeEncoder: makePCMEncoder)
      drain()
    }

    mutating func handle(_ input: GroupSession.Input) {
      session.handle(input, at: now)
      drain()
    }

    mutating func say(_ message: ControlMessage, in room: RoomID) {
      handle(.received(room, .control, message.encoded()))
    }

    /// Carries out so many orders, or as many as there are.
    mutating func produce(_ count: Int) {
      var left = count
      while left > 0, !orders.isEmpty {
        left -= 1
        handle(.produced(serializer.produce(orders.removeFirst())))
      }
    }

    mutating func join(_ room: RoomID) {
      var welcome = Welcome.test()
      welcome.receiverID = .counting(from: UInt8(8 + room.number))
      handle(.roomAdded(room, name: "room", receiverID: nil))
      handle(.connected(room, .control))
      say(.welcome(welcome), in: room)
      handle(.connected(room, .media))
      say(.credit(.test(limit: 1 << 20)), in: room)
    }

    mutating func forgetOutputs() { outputs = [] }

    private mutating func drain() {
      while let output = session.nextOutput() {
        outputs.append(output)
        guard case .produce(let order) = output else { continue }
        if order.supersedesWaiting { orders.removeAll() }
        orders.append(order)
      }
    }
  }

  private static func configuration() -> GroupSession.Configuration {
    .init(
      senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
      firstSession: 100)
  }

  /// A group that plays a turntable in a room.
  private static func listening(_ configuration: GroupSession.Configuration) -> Bed {
    let session = GroupSession(configuration, playing: Playlist(["input:Turntable"]))
    var bed = Bed(session) { _ in
      TestInput(at: LocalTime(nanoseconds: 5_000_000_000), latency: .milliseconds(100))
    }
    bed.join(TestGroup.room)
    // Opens it, and takes a second.
    bed.produce(401)
    return bed
  }

  @Test func `a turntable begins anew when the machine has slept, unless it is paused`() {
    for isPaused in [false, true] {
      var bed = Self.listening(Self.configuration())
      if isPaused { bed.handle(.command(CommandID(1), .pause)) }
      bed.forgetOutputs()
      bed.handle(.resumedFromSuspend(after: .seconds(3)))
      #expect(bed.beginnings.count == (isPaused ? 0 : 1))
    }
  }

  /// Else it would get the same packets twice.
  @Test func `a room that comes late waits for datagrams where the stream goes by them`() {
    for usesDatagrams in [false, true] {
      var configuration = Self.configuration()
      if usesDatagrams {
        configuration.live = LiveSecret(
          cipher: FakeCipher(), key: [UInt8](repeating: 3, count: 32), port: 46_001)
      }
      var bed = Self.listening(configuration)
      bed.join(TestGroup.other)
      let streams = bed.told(TestGroup.other).filter {
        if case .live = $0 { true } else { false }
      }
      #expect(streams.count == (usesDatagrams ? 1 : 0))
      #expect(bed.packets(TestGroup.other).isEmpty == usesDatagrams)
    }
  }
}
