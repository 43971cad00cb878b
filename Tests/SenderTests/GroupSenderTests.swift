import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of a group with its connections to the rooms; addresses are numbers.
struct GroupSenderTests {
  private struct Bed {
    var sender = GroupSender<Int>(
      .init(
        senderID: .counting(from: 1), senderName: "study", clockID: 77, clockPort: 46_000,
        firstSession: 100), playing: Playlist(["8000x1:80000"]))
    var now = LocalTime(nanoseconds: 1_000_000_000)
    let serializer = Serializer(openSource: openTestSource, makeEncoder: makePCMEncoder)

    /// Returns the outputs, except packets. The producer works at once.
    mutating func handle(_ input: GroupSender<Int>.Input) -> [GroupSender<Int>.Output] {
      sender.handle(input, at: now)
      var outputs: [GroupSender<Int>.Output] = []
      while let output = sender.nextOutput() {
        if case .produce(let order) = output {
          outputs += handle(.produced(serializer.produce(order)))
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

  private static let (control, media) = (
    RoomConnectionID(number: 1), RoomConnectionID(number: 2)
  )

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
    #expect(attempts.count > 5 && attempts.count < 26)
    #expect(zip(pauses.dropFirst(), pauses).allSatisfy { $0 >= $1 })
  }

  @Test func `a machine's sleep is in the answers to time requests`() throws {
    var bed = Bed()
    let peer = SecuredPeer(id: .counting(from: 9), clockKey: [1, 2, 3], binding: [9, 9])
    _ = bed.handle(.roomAdded(RoomID(1), name: "Kitchen", receiverID: nil, at: [7]))
    _ = bed.handle(.connected(Self.control, peer))
    _ = bed.handle(.resumedFromSuspend(after: .seconds(3)))
    let request = TimeRequest(
      clockID: 77, keyID: TimeRequest.keyID(ofSession: 101), sequence: 1, sentAt: bed.now)
    let key = ClockKey(peer.clockKey)
    let answered = bed.sender.answer(
      TimePacket.request(request).encoded(key: key), from: 7, of: 7,
      receivedAt: LocalTime(nanoseconds: 10), now: LocalTime(nanoseconds: 20))
    let bytes = try #require(answered).bytes
    guard case .answer(let answer) = try TimePacket.decode(bytes[...], key: key) else {
      Issue.record("no answer")
      return
    }
    #expect(answer.receivedAt == GroupTime(nanoseconds: 3_000_000_010))
    #expect(answer.sentAt == GroupTime(nanoseconds: 3_000_000_020))
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
      ], [.init(rate: 100_000, isAhead: true), .init(rate: 100_000, isAhead: true)], at: now)
    #expect(
      limits == [.rate(Self.control, 1_200_000), .turn(Self.control, 75_000)])
    #expect(pacing.nextDeadline == now + MediaPacing.interval)
  }

  @Test func `a room that is sent little is sent it no faster than its link needs for that`() {
    var pacing = GroupPacing()
    let path = MediaPath(
      roundTrip: .milliseconds(200), shortest: .milliseconds(1), deliveryRate: 46_000)
    let queues = [
      MediaQueue(Self.control, bytes: 60_000, path: path),
      MediaQueue(Self.media, bytes: 60_000, path: path),
    ]
    let small = GroupPacing.Need(rate: SmallEncoding.byteRate, isAhead: true)
    var rates: [RoomConnectionID: Double] = [:]
    for look in 0..<20 {
      pacing.sent()
      let limits = pacing.limits(
        queues, [.init(rate: 155_000, isAhead: true), small],
        at: LocalTime(nanoseconds: 1) + Nanoseconds(Int64(look) * MediaPacing.interval.count))
      for case .rate(let connection, let rate) in limits { rates[connection] = rate }
    }
    // Four times as fast for a quarter of the time; never below twice what the room is sent.
    #expect(rates == [Self.control: 4 * 310_000, Self.media: 4 * 28_000])
  }
}
