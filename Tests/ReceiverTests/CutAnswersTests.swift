import Clock
import Testing
import WireProtocol

@testable import Receiver

@Suite struct CutAnswersTests {
  @Test func `of flushes that wait, no more than a hand can ask for are kept`() {
    var answers = CutAnswers()
    let now = LocalTime(nanoseconds: 0)
    let limit = UInt32(CutAnswers.limit)
    for generation in 1...limit + 10 {
      let flush = Flush(from: .zero, generation: generation, isRamped: false)
      let oldest = answers.wait(for: flush, renderGeneration: generation, at: now)
      let due = generation > limit ? Flushed(generation: generation - limit, from: .zero) : nil
      #expect(oldest == due)
    }
    #expect(answers.rendered(renderGeneration: limit + 10, from: .zero).count == Int(limit))
    #expect(answers.nextDeadline == nil)
  }
}
