import Clock
import Testing
import WireProtocol

@testable import Receiver

/// Tests of the drifts that a receiver remembers of its senders' clocks. With the right one it
/// is in step sooner after a start; with that of another sender it takes longer.
@Suite struct ReceiverSessionDriftTests {
  private static func statuses(
    _ receiver: TestReceiver, _ control: ConnectionID
  ) -> [RoomStatus] {
    receiver.told(control).compactMap { if case .status(let status) = $0 { status } else { nil } }
  }

  /// The drifts that were to be stored, each time.
  private static func kept(_ receiver: TestReceiver) -> [[ReceiverMemory.ClockDrift]] {
    receiver.outputs.compactMap {
      if case .persist(let memory) = $0 { memory.clockDrifts } else { nil }
    }
  }

  /// Keeps a session for 40 s: after 30 s the drift of the sender's clock counts as known.
  private static func stay(_ receiver: inout TestReceiver, on control: ConnectionID) {
    for _ in 0..<40 {
      receiver.advance(by: .seconds(1))
      receiver.say(.keepAlive, on: control)
    }
  }

  /// One answer gives a clock but no drift, so the receiver tells the drift that it began with. In
  /// ppb.
  @Test(arguments: [(1, -70_000), (2, 40_000), (3, 0)] as [(UInt8, Int32)])
  func `a session begins with the drift that its own sender had`(
    sender: UInt8, drift: Int32
  ) throws {
    let memory = ReceiverMemory(clockDrifts: [
      ReceiverMemory.ClockDrift(sender: .counting(from: 2), drift: 40e-6),
      ReceiverMemory.ClockDrift(sender: .counting(from: 1), drift: -70e-6),
    ])
    var receiver = TestReceiver(memory: memory)
    let control = receiver.hello(sender: sender)
    receiver.answersTime = false
    let first = try #require(Self.statuses(receiver, control).first)
    #expect(first.clockDrift == 0)
    receiver.advance(by: .milliseconds(1_100))
    let status = try #require(Self.statuses(receiver, control).last)
    #expect(status.roundTrip == .microseconds(200))
    #expect(abs(status.clockDrift - drift) <= 1)
  }

  /// One answer gives an error bound, too, but not one to play by.
  @Test func `an error bound is told once the clock is locked, and not before`() throws {
    var receiver = TestReceiver()
    let control = receiver.hello()
    receiver.answersTime = false
    receiver.advance(by: .milliseconds(1_100))
    let early = try #require(Self.statuses(receiver, control).last)
    #expect(early.roundTrip == .microseconds(200))
    #expect(early.knownErrorBound == nil)
    receiver.answersTime = true
    receiver.advance(by: .seconds(3))
    let late = try #require(Self.statuses(receiver, control).last)
    let bound = try #require(late.knownErrorBound)
    #expect(bound < .milliseconds(1))
  }

  @Test func `the drifts of two senders are kept, that of the last one first`() {
    var receiver = TestReceiver()
    let first = receiver.hello(sender: 1, session: 5, clock: 77)
    Self.stay(&receiver, on: first)
    // The drift of a sender that loses the room is kept, too.
    let second = receiver.hello(sender: 2, session: 6, clock: 78, takesOver: true)
    Self.stay(&receiver, on: second)
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: second)
    let again = receiver.hello(sender: 1, session: 7, clock: 77)
    Self.stay(&receiver, on: again)
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: again)
    let (one, two) = (Identifier.counting(from: 1), Identifier.counting(from: 2))
    let senders = Self.kept(receiver).map { $0.map(\.sender) }
    #expect(senders == [[one], [two, one], [one, two]])
  }

  /// The sender's clock does not drift here. The 2 ppm that are remembered of it are near enough to
  /// that for the receiver to see no step of the clock.
  @Test(arguments: [true, false])
  func `the drifts of sixteen senders are kept, one of each`(isKnown: Bool) throws {
    let sender = Identifier.counting(from: 1)
    var before = (UInt8(2)...17).map { number in
      ReceiverMemory.ClockDrift(sender: .counting(from: number), drift: Double(number) * 1e-6)
    }
    if isKnown { before[7] = ReceiverMemory.ClockDrift(sender: sender, drift: 2e-6) }
    var receiver = TestReceiver(memory: ReceiverMemory(clockDrifts: before))
    let control = receiver.hello(sender: 1)
    Self.stay(&receiver, on: control)
    receiver.say(.goodbye(Goodbye(reason: .finished, detail: "")), on: control)
    let kept = try #require(Self.kept(receiver).last)
    let newest = try #require(kept.first)
    #expect(newest.sender == sender)
    #expect(abs(newest.drift) < 0.1e-6)
    let others = before.filter { $0.sender != sender }
    #expect(Array(kept.dropFirst()) == Array(others.prefix(15)))
  }
}
