import Receiver
import Testing

@Suite struct RenderQueuesTests {
  @Test func `a full queue takes no more, and none is lost`() {
    let queue = RenderQueue<RenderCommand>.commands()
    let accepted = (0..<100).prefix { queue.send(.gain(Float($0))) }.count
    #expect(accepted == 64)
    for expected in 0..<64 {
      guard case .gain(let gain) = queue.receive() else {
        Issue.record("the queue lost a command")
        return
      }
      #expect(gain == Float(expected))
    }
    #expect(queue.receive() == nil)
    #expect(queue.send(.forgetSchedule))
  }
}
