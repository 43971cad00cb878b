import Clock
import Testing
import WireProtocol

@testable import Sender

/// A group with its ways to the rooms; addresses are numbers.
struct GroupSenderTests {
  private struct Bed {
    var sender = GroupSender<Int>(
      .init(
        senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
        firstSession: 100), playing: Playlist(["8000x1:80000"]))
    var now = LocalTime(nanoseconds: 1_000_000_000)
    let serializer = Serializer(openSource: openTestSource, makeEncoder: makePCMEncoder)

    /// What was asked for, packets not counted; the producer works at once.
    mutating func handle(_ input: GroupSender<Int>.Input) -> [GroupSender<Int>.Output] {
      sender.handle(input, at: now)
      var outputs: [GroupSender<Int>.Output] = []
      while let output = sender.nextOutput() {
        if case .produce(let order) = output {
          outputs += handle(.produced(serializer.carryOut(order)))
        } else {
          outputs.append(output)
        }
      }
      return outputs
    }

    mutating func advance(by span: Nanoseconds) -> [GroupSender<Int>.Output] {
      let end = now + span
      var outputs: [GroupSender<Int>.Output] = []
      while let deadline = sender.nextDeadline, deadline <= end {
        now = max(now, deadline)
        outputs += handle(.turn([]))
      }
      now = end
      return outputs
    }
  }

  private static func messages(
    _ outputs: [GroupSender<Int>.Output], to id: RoomConnectionID
  ) -> [RawMessage] {
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    for case .send(id, let bytes) in outputs { framer.append(bytes) }
    var messages: [RawMessage] = []
    while let message = try? framer.next() { messages.append(message) }
    return messages
  }

  private static let (control, media) = (
    RoomConnectionID(number: 1), RoomConnectionID(number: 2)
  )

  @Test func `a room that comes in by itself is greeted and sent music, and never dialled`() {
    var bed = Bed()
    let room = RoomID(1)
    #expect(
      bed.handle(.roomCameIn(room, name: "browser")) == [
        .adopt(Self.control, room, for: .control)
      ])
    let greeting = Self.messages(bed.handle(.connected(Self.control, .test())), to: Self.control)
    guard case .control? = greeting.first.flatMap({ try? OpeningMessage.decode($0) }) else {
      Issue.record("no hello")
      return
    }
    let welcomed = bed.handle(
      .received(Self.control, ControlMessage.welcome(.test()).encoded()))
    #expect(welcomed.contains(.adopt(Self.media, room, for: .media)))
    _ = bed.handle(.connected(Self.media, .test()))
    let sent = bed.handle(
      .received(Self.control, ControlMessage.credit(.test(limit: 1 << 20)).encoded()))
    #expect(Self.messages(sent, to: Self.media).contains { MediaMessage.isPacket($0) })

    let lost = bed.handle(.closed(Self.control, reason: "it went away"))
    #expect(lost.contains(.close(Self.media)))
    let later = bed.advance(by: .seconds(60))
    #expect(!later.contains { if case .connect = $0 { true } else { false } })
    #expect(!later.contains { if case .adopt = $0 { true } else { false } })
    let again = bed.handle(.roomCameIn(room, name: "browser"))
    #expect(again == [.adopt(RoomConnectionID(number: 3), room, for: .control)])
  }

  @Test func `a room that cannot be reached is dialled again, less and less often`() {
    var bed = Bed()
    _ = bed.handle(.roomAdded(RoomID(1), name: "Kitchen", receiverID: nil, at: [7]))
    var attempts: [LocalTime] = []
    let end = bed.now + .seconds(30)
    _ = bed.handle(.connectFailed(Self.control, reason: "refused"))
    while bed.now < end {
      for case .connect(let id, 7, .control) in bed.advance(by: .milliseconds(50)) {
        attempts.append(bed.now)
        _ = bed.handle(.connectFailed(id, reason: "refused"))
      }
    }
    let pauses = zip(attempts.dropFirst(), attempts).map { $0 - $1 }
    #expect(attempts.count > 5 && attempts.count < 14)
    #expect(zip(pauses.dropFirst(), pauses).allSatisfy { $0 >= $1 })
  }

  @Test func `one connection that takes nothing does not keep others from being filled`() {
    var pacing = GroupPacing()
    let now = LocalTime(nanoseconds: 1_000_000_000)
    pacing.sent()
    let slow = MediaPath(
      roundTrip: .milliseconds(200), shortest: .milliseconds(1), deliveryRate: 400_000)
    let fast = MediaPath(
      roundTrip: .milliseconds(1), shortest: .milliseconds(1), deliveryRate: 50_000_000)
    let limits = pacing.limits(
      [
        MediaQueue(Self.control, bytes: 60_000, path: slow),
        MediaQueue(Self.media, bytes: 60_000, path: fast),
      ], needed: 100_000, at: now
    ) { _ in true }
    #expect(
      limits == [.rate(Self.control, 1_200_000), .turn(Self.control, 75_000)])
    #expect(pacing.nextDeadline == now + MediaPacing.interval)
  }
}
