import Clock
import Testing
import WireProtocol

@testable import Sender

struct GroupSessionEffectsTests {
  private static let fast: Effects = {
    var effects = Effects()
    effects.rate = 2
    return effects
  }()

  private func isOpeningNext(_ group: TestGroup) -> Bool {
    if case .begin(let next)? = group.orders.first { next.continues } else { false }
  }

  @Test func `new effects take up the item where it is at the cut`() throws {
    var group = TestGroup.playing()
    group.command(.effects(Self.fast))
    let cut = try #require(group.flushes.last).from
    let beginning = try #require(group.beginnings.last)
    #expect(beginning.effects == Self.fast)
    #expect(beginning.mediaTime == cut)
    // Nothing was sought before, so item time equals media time.
    #expect(MediaTime.zero + beginning.position == cut)
    #expect(group.flushes.count == 1)
  }

  @Test func `where effects change while something sounds the rooms cross-fade`() {
    var group = TestGroup.playing()
    group.command(.effects(Self.fast))
    #expect(group.flushes.map(\.isCrossed) == [true])
    #expect(group.flushes.map(\.isRamped) == [true])
  }

  @Test func `a seek is no cross-fade, and neither is a change while time stands still`() {
    var group = TestGroup.playing()
    group.command(.seek(to: .seconds(7)))
    #expect(group.flushes.map(\.isCrossed) == [false])
    group.command(.pause)
    group.advance(by: .seconds(1))
    group.take()
    group.command(.effects(Self.fast))
    group.advance(by: .seconds(1))
    #expect(group.flushes.map(\.isCrossed) == [false])
  }

  @Test func `what is opened later has them too`() throws {
    var group = TestGroup.playing(["8000x1:8000", "8000x1:80000"])
    group.command(.effects(Self.fast))
    group.take()
    group.command(.next)
    group.advance(by: .milliseconds(100))
    #expect(try #require(group.beginnings.last).effects == Self.fast)
  }

  @Test func `the item that sounds goes on from the cut while the next one is being opened`() throws
  {
    var group = TestGroup(["8000x1:8000", "8000x1:80000"], producesAtOnce: false)
    group.joinReady()
    while !isOpeningNext(group), group.isAwaitingProduction { group.produceOne() }
    #expect(isOpeningNext(group))
    group.advance(by: .milliseconds(300))
    group.take()
    let before = group.session.status(at: group.now).position
    group.command(.effects(Self.fast))
    let beginning = try #require(group.beginnings.last)
    #expect(beginning.item.id == 0)
    // The cut is a commit horizon ahead, and the item has played on until then.
    #expect(beginning.position - before >= .milliseconds(40))
  }

  @Test func `effects that are there already change nothing`() {
    var group = TestGroup.playing()
    group.command(.effects(Effects()))
    #expect(group.flushes.isEmpty)
  }

  @Test func `effects before the start hold from the start`() throws {
    var group = TestGroup(producesAtOnce: false)
    group.command(.effects(Self.fast))
    group.joinReady()
    group.produce()
    #expect(try #require(group.beginnings.last).position == .zero)
    #expect(try #require(group.beginnings.last).effects == Self.fast)
  }

  @Test func `changes in quick succession take one cut, and the last one counts`() throws {
    var group = TestGroup.playing()
    for rate in [1.1, 1.2, 1.3, 1.4] {
      var effects = Effects()
      effects.rate = rate
      group.command(.effects(effects))
      group.advance(by: .milliseconds(2))
    }
    group.advance(by: .milliseconds(100))
    #expect(group.flushes.count <= 2)
    #expect(try #require(group.beginnings.last).effects.rate == 1.4)
    let last = try #require(group.beginnings.last)
    #expect(MediaTime.zero + last.position == last.mediaTime)
  }

  @Test func `what cannot be sought goes on as it is, and so it is told`() {
    var group = TestGroup { (_) throws(MediaError) in
      TestSource(rate: 8_000, channels: 1, length: 80_000, isSeekable: false)
    }
    group.joinReady()
    group.advance(by: .seconds(1))
    var effects = Effects()
    effects.rate = 1.1
    let item = PlayItem(id: 0, location: "8000x1:80000")
    #expect(group.command(.effects(effects)) == .failure(.cannotBeginAnew(item)))
    #expect(group.session.status(at: group.now).effects == Effects())
    #expect(group.flushes.isEmpty)
  }

  @Test func `what is heard as it happens goes on as it is, and so it is told`() {
    let item = PlayItem(id: 0, location: "input:Turntable")
    var group = TestGroup([item.location]) { (_) throws(MediaError) in
      TestSource(rate: 8_000, channels: 1, length: 80_000, isSeekable: false, supply: .live)
    }
    group.joinReady()
    group.advance(by: .seconds(1))
    #expect(group.command(.effects(Self.fast)) == .failure(.isLive(item)))
    #expect(group.session.status(at: group.now).effects == Effects())
    #expect(group.flushes.isEmpty)
  }

  @Test func `a refusal says why in the words of users`() {
    let input = PlayItem(id: 0, location: "input:Turntable")
    let line = CommandRefusal.isLive(input).description
    #expect(line.hasPrefix("Turntable is heard as it happens"))
    #expect(!line.contains("sought"))
    #expect(!CommandRefusal.notSeekable(input).description.contains("sought"))
  }

  @Test func `what is not open yet has the rate with which it will be opened`() {
    var group = TestGroup(producesAtOnce: false)
    group.joinReady()
    group.command(.effects(Self.fast))
    #expect(group.session.status(at: group.now).rate == 2)
  }

  // MARK: - Without a hole

  private static func effects(rate: Double) -> Effects {
    var effects = Effects()
    effects.rate = rate
    return effects
  }

  private func standstills(_ group: TestGroup) -> [Anchor] {
    group.anchors.filter { $0.rate == .paused }
  }

  @Test func `the old sound plays on until the new one is there`() {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    group.command(.effects(Self.fast))
    group.advance(by: .milliseconds(150))
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(group.flushes.count == 1)
    let standstills = standstills(group)
    #expect(standstills.isEmpty)
  }

  private static let normalized: [Effects] = [-16, -23].map { loudness in
    var effects = Effects()
    effects.loudness = loudness
    return effects
  }

  @Test(arguments: [
    (Effects(), normalized[0]), (normalized[0], normalized[1]), (normalized[0], Effects()),
    (fast, Effects()),
  ])
  func `the old sound plays on whichever effects change, and where all are switched off`(
    before: Effects, after: Effects
  ) {
    var group = TestGroup()
    group.command(.effects(before))
    group.joinReady()
    group.advance(by: .milliseconds(500))
    group.take()
    group.producesAtOnce = false
    group.command(.effects(after))
    group.advance(by: .milliseconds(150))
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(group.flushes.map(\.isCrossed) == [true])
    #expect(group.beginnings.last?.effects == after)
    let standstills = standstills(group)
    #expect(standstills.isEmpty)
  }

  @Test func `a change while another one is on its way follows it without a hole`() throws {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    for rate in [1.1, 1.2, 1.3] {
      group.command(.effects(Self.effects(rate: rate)))
      group.advance(by: .milliseconds(50))
    }
    group.produce()
    group.advance(by: .milliseconds(60))
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(try #require(group.beginnings.last).effects.rate == 1.3)
    let standstills = standstills(group)
    #expect(standstills.isEmpty)
  }

  @Test func `where the new sound was not there in time the next change is given more`() {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    group.command(.effects(Self.effects(rate: 1.1)))
    group.advance(by: .milliseconds(400))
    let first = standstills(group)
    #expect(!first.isEmpty)
    group.produce()
    group.advance(by: .seconds(1))
    group.take()
    group.command(.effects(Self.effects(rate: 1.2)))
    group.advance(by: .milliseconds(400))
    group.produce()
    group.advance(by: .milliseconds(500))
    #expect(group.flushes.count == 1)
    let standstills = standstills(group)
    #expect(standstills.isEmpty)
  }

  @Test func `a loudness that the producer must find out first is given more time`() throws {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    group.command(.effects(Self.normalized[0]))
    group.advance(by: .milliseconds(700))
    group.produce()
    group.advance(by: .seconds(1))
    #expect(group.flushes.map(\.isCrossed) == [true])
    let standstills = standstills(group)
    #expect(standstills.isEmpty)
    // To leave the item as it is takes no longer than other changes.
    group.take()
    group.command(.effects(Effects()))
    let cut = try #require(group.flushes.last).from
    #expect(cut - group.session.mediaTime(at: group.now) < .milliseconds(500))
  }

  @Test func `a seek does not wait for a change that is on its way`() throws {
    var group = TestGroup.playing()
    group.producesAtOnce = false
    group.command(.effects(Self.fast))
    group.advance(by: .milliseconds(60))
    let before = group.session.mediaTime(at: group.now)
    group.command(.seek(to: .seconds(7)))
    #expect(try #require(group.flushes.last).from - before <= .milliseconds(60))
    let last = try #require(group.beginnings.last)
    #expect(last.position == .seconds(7))
    #expect(last.effects == Self.fast)
  }
}
