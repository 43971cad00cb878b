import Clock
import Receiver
import Testing
import WireProtocol

@Suite struct SuspendTests {
  /// Returns for each estimate that the render thread got whether it was a step.
  private static func steps(_ receiver: TestReceiver) -> [Bool] {
    receiver.commands.compactMap { if case .clock(_, let isStep) = $0 { isStep } else { nil } }
  }

  @Test func `after a sleep the render thread takes the new estimate as a step`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(200, on: media)
    receiver.advance(by: .seconds(1))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    receiver.advance(by: .seconds(1))
    receiver.take()
    receiver.advance(by: .seconds(1))
    #expect(Set(Self.steps(receiver)) == [false])
    receiver.take()
    receiver.handle(.resumedFromSuspend)
    receiver.advance(by: .seconds(5))
    #expect(Self.steps(receiver).first == true)
    #expect(Self.steps(receiver).count { $0 } == 1)
  }

  @Test func `a minute after a pause the time is asked for once a second until it plays again`() {
    var receiver = TestReceiver()
    let control = receiver.hello()
    let media = receiver.attach()
    receiver.send(50, on: media)
    func asks(inTurns count: Int, of span: Nanoseconds = .seconds(1)) -> Int {
      receiver.take()
      for _ in 0..<count {
        receiver.say(.keepAlive, on: control)
        receiver.advance(by: span)
      }
      return receiver.outputs.count { if case .sendTimeRequest = $0 { true } else { false } }
    }
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .paused)),
      on: control)
    _ = asks(inTurns: 40)
    #expect((150...250).contains(asks(inTurns: 10)))
    _ = asks(inTurns: 15)
    #expect((8...12).contains(asks(inTurns: 10)))
    receiver.say(
      .anchor(Anchor(mediaTime: .zero, groupTime: receiver.groupTime(), rate: .playing)),
      on: control)
    #expect((15...25).contains(asks(inTurns: 1)))
  }
}
