import Clock
import Receiver
import Testing
import WireProtocol

@Suite struct SuspendTests {
  /// Which of the estimates that the render thread was given were steps.
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
}
