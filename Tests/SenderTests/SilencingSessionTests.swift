import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of silencing rooms, whoever plays there.
@Suite struct SilencingSessionTests {
  private struct Rooms {
    var session = SilencingSession(
      senderID: .counting(from: 1), senderName: "study", clockID: 7, firstSession: 1)
    var now = LocalTime(nanoseconds: 0)
    var outputs: [SilencingSession.Output] = []

    mutating func handle(_ input: SilencingSession.Input) {
      session.handle(input, at: now)
      while let output = session.nextOutput() { outputs.append(output) }
    }

    mutating func say(_ message: ControlMessage, in room: RoomID) {
      handle(.received(room, message.encoded()))
    }

    func told(_ room: RoomID) -> [ControlMessage] {
      var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
      for output in outputs { if case .send(room, let bytes) = output { framer.append(bytes) } }
      var messages: [ControlMessage] = []
      while let raw = try? framer.next() {
        if let message = try? ControlMessage.decode(raw) { messages.append(message) }
      }
      return messages
    }

    var outcomes: [SilencedRoom.Outcome] {
      outputs.compactMap { if case .done(_, let room) = $0 { room.outcome } else { nil } }
    }

    var connecting: Int {
      outputs.count { if case .connect = $0 { true } else { false } }
    }
  }

  private static let room = RoomID(1)

  @Test func `a room is taken over, told that all is finished, and says what it dropped`() {
    var rooms = Rooms()
    rooms.handle(.roomAdded(Self.room, receiverID: nil))
    #expect(rooms.outputs == [.connect(Self.room)])
    rooms.handle(.connected(Self.room, .test()))
    guard case .hello(let hello)? = rooms.told(Self.room).first else {
      Issue.record("no hello")
      return
    }
    #expect(hello.takesOver)
    var welcome = Welcome.test()
    welcome.dropped = DroppedStream(unheard: .seconds(90), senderName: "loft")
    rooms.say(.welcome(welcome), in: Self.room)
    #expect(
      rooms.told(Self.room).last == .goodbye(Goodbye(reason: .finished, detail: "")))
    #expect(rooms.outputs.suffix(2).first == .close(Self.room))
    #expect(
      rooms.outputs.last
        == .done(
          Self.room, SilencedRoom(name: "Kitchen", outcome: .silenced(.seconds(90), of: "loft"))))
    #expect(!rooms.session.isBusy)
    #expect(rooms.session.nextDeadline == nil)
  }

  @Test func `a room that was silent already is reported so`() {
    var rooms = Rooms()
    rooms.handle(.roomAdded(Self.room, receiverID: .counting(from: 9)))
    rooms.handle(.connected(Self.room, .test()))
    rooms.say(.welcome(.test()), in: Self.room)
    #expect(rooms.outcomes == [.wasSilent])
  }

  @Test func `whatever goes wrong is told, and ends`() {
    let wrongs: [SilencingSession.Input] = [
      .closed(Self.room, reason: "refused"),
      .received(Self.room, [0, 0, 0, 0]),
      .received(
        Self.room,
        ControlMessage.refuse(Refusal(reason: .protocolViolation, detail: "no")).encoded()),
      .received(
        Self.room, ControlMessage.goodbye(Goodbye(reason: .shutdown, detail: "")).encoded()),
    ]
    for wrong in wrongs {
      var rooms = Rooms()
      rooms.handle(.roomAdded(Self.room, receiverID: nil))
      rooms.handle(.connected(Self.room, .test()))
      rooms.handle(wrong)
      guard case .unreachable? = rooms.outcomes.first else {
        Issue.record("\(wrong)")
        continue
      }
      #expect(!rooms.session.isBusy)
      rooms.handle(wrong)
      #expect(rooms.outcomes.count == 1)
    }
  }

  @Test func `another receiver at the address is not taken for the room`() {
    var rooms = Rooms()
    rooms.handle(.roomAdded(Self.room, receiverID: .counting(from: 3)))
    rooms.handle(.connected(Self.room, .test()))
    rooms.say(.welcome(.test()), in: Self.room)
    #expect(
      rooms.outcomes == [.unreachable("another receiver answers at its address")])
  }

  @Test func `a room that does not answer is given up`() {
    var rooms = Rooms()
    rooms.handle(.roomAdded(Self.room, receiverID: nil))
    rooms.handle(.connected(Self.room, .test()))
    rooms.now = rooms.now + SilencingSession.timeout
    #expect(rooms.session.nextDeadline == rooms.now)
    rooms.handle(.timeout)
    #expect(rooms.outcomes == [.unreachable("no answer")])
  }

  @Test func `few rooms are spoken to at a time, and all have their turn`() {
    var rooms = Rooms()
    for number in 1...100 { rooms.handle(.roomAdded(RoomID(number), receiverID: nil)) }
    #expect(rooms.connecting == SilencingSession.mostAtOnce)
    for number in 1...100 { rooms.handle(.closed(RoomID(number), reason: "")) }
    #expect(rooms.connecting == 100)
    #expect(rooms.outcomes.count == 100)
  }
}
