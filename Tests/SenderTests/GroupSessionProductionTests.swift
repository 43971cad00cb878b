import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of how much is produced, and when.
@Suite struct GroupSessionProductionTests {
  @Test func `there is one order at a time`() {
    var group = TestGroup(producesAtOnce: false)
    group.joinReady()
    group.advance(by: .seconds(2))
    let begun = group.outputs.filter { if case .produce = $0 { true } else { false } }
    #expect(begun.count <= 1)
  }

  @Test func `portions grow, so that the first sound comes soon`() {
    var group = TestGroup(["8000x1:8000000"])
    group.joinReady()
    let portions = group.outputs.compactMap { output -> MediaDuration? in
      if case .produce(.more(let span, _)) = output { span } else { nil }
    }
    #expect(portions.first == .milliseconds(100))
    #expect(portions.max() ?? .zero <= .seconds(5))
    #expect(zip(portions, portions.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `production rests when the rooms are full and goes on as they play`() {
    var group = TestGroup(["8000x1:8000000"], producesAtOnce: false)
    group.joinReady(with: .test(span: .seconds(10)))
    group.producesAtOnce = true
    group.produce()
    group.say(.status(.test(.ready)))
    #expect(group.session.status(at: group.now).produced < .seconds(16))
    group.take()
    // There are no messages, but the room keeps the connection alive.
    for _ in 0..<20 {
      group.advance(by: .seconds(1))
      #expect(group.session.status(at: group.now).produced >= .milliseconds(9000))
      group.handle(.received(TestGroup.room, .control, []))
    }
  }

  @Test func `production goes on by the clock alone`() {
    var group = TestGroup(["8000x1:8000000"])
    group.joinReady(with: .test(span: .seconds(10)))
    group.advance(by: .milliseconds(100))
    let wake = group.session.nextDeadline
    #expect(wake.map { $0 - group.now <= .milliseconds(100) } ?? false)
  }

  private func started(_ group: TestGroup) -> [Int] {
    group.events.compactMap { if case .itemStarted(let item) = $0 { item.item.id } else { nil } }
  }

  @Test(arguments: [(["8000x1:8000"], 0), (["gone", "gone too"], 2), ([], 0)])
  func `music repeats alone, and where there is none, what plays instead of it`(
    items: [String], expected: Int
  ) {
    var group = TestGroup(items, otherwise: "8000x1:4000")
    group.joinReady(with: .test(span: .seconds(10)))
    group.advance(by: .seconds(5))
    #expect(Set(started(group)) == [expected] && started(group).count > 3)
    #expect(group.session.status(at: group.now).produced > .seconds(10))
  }

  @Test func `items that cannot be played are passed over`() {
    var group = TestGroup(["gone", "8000x1:8000", "gone too"])
    group.joinReady()
    let failed = group.events.compactMap { event -> Int? in
      if case .itemFailed(let item, _) = event { item.id } else { nil }
    }
    #expect(failed == [0, 2])
    group.advance(by: .seconds(2))
    #expect(group.session.isFinished)
    #expect(group.packets().last?.endsStream == true)
  }

  @Test func `when nothing can be played, or there is nothing, playing is over`() {
    var broken = TestGroup(["gone", "gone"])
    broken.joinReady()
    broken.advance(by: .seconds(1))
    #expect(broken.session.isFinished)
    var empty = TestGroup([])
    empty.joinReady()
    empty.advance(by: .seconds(1))
    #expect(empty.session.isFinished)
  }

  @Test func `without a room a minute is produced, and no more`() {
    var group = TestGroup(["8000x1:4000000"], rooms: 0)
    group.handle(.timeout)
    group.advance(by: .seconds(1))
    #expect(group.session.status(at: group.now).produced < .seconds(66))
  }

  @Test func `items of one format join without a gap`() {
    var group = TestGroup(["8000x1:8020", "8000x1:8020"])
    group.joinReady()
    expectGapless(group.packets())
    #expect(group.packets().filter(\.startsRun).count == 1)
  }

  private func expectGapless(_ packets: [AudioPacket]) {
    for (one, next) in zip(packets, packets.dropFirst()) {
      let end = one.mediaTime + MediaDuration(frames: Int64(one.encoded.frameCount), at: 8000)
      #expect(next.mediaTime == end)
      #expect(next.sequence == one.sequence + 1)
    }
  }
}
