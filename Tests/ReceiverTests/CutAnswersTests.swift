import Clock
import Testing
import WireProtocol

@testable import Receiver

@Suite struct CutAnswersTests {
  @Test(arguments: [(-1, 0), (0, 0), (1, 1)])
  func `no cut is told before the place that was asked for`(made: Int64, told: Int64) {
    var answers = CutAnswers()
    let place = MediaTime.zero + .seconds(5)
    let flush = Flush(from: place, generation: 3, isRamped: false)
    _ = answers.wait(for: flush, renderGeneration: 8, at: LocalTime(nanoseconds: 0))
    let due = answers.rendered(renderGeneration: 8, from: place + .seconds(made))
    #expect(due == [Flushed(generation: 3, from: place + .seconds(told))])
  }

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
