import Clock
import Receiver
import Testing

struct CardTraitsTests {
  private static func card(
    canRewind: Bool = true, _ time: CardTraits.PositionTime = .stamped, step: Int = 1
  ) -> CardTraits {
    CardTraits(
      sampleRate: 48_000, periodFrames: 480, leadFrames: 24_000, canRewind: canRewind,
      positionTime: time, positionStep: step)
  }

  @Test func `a card that takes frames back acts within a period, a margin and the fade`() {
    #expect(Self.card().commitHorizon == Nanoseconds.milliseconds(20 + 10 + 15))
  }

  @Test func `a card that takes nothing back acts behind all that is written`() {
    #expect(Self.card(canRewind: false).commitHorizon == Nanoseconds.milliseconds(500 + 10 + 15))
  }

  @Test func `a card whose clock is known is looked at every 50 ms, if enough is written ahead`() {
    let known = Int64(3 * 48_000)
    #expect(Self.card().turnFrames(after: known - 1) == 480)
    #expect(Self.card().turnFrames(after: known) == 2400)
    var card = Self.card()
    card.leadFrames = 12_000
    #expect(card.turnFrames(after: known) == 1200)
    card.leadFrames = 3840
    #expect(card.turnFrames(after: known) == 480)
  }

  @Test func `a card that tells its position by interrupts is looked at after each`() {
    #expect(Self.card(.stamped, step: 480).turnFrames(after: .max) == 480)
    #expect(Self.card(.read, step: 48).turnFrames(after: .max) == 480)
  }

  @Test func `a clock is read by its card's stamps and steps`() {
    #expect(Self.card(.watched, step: 480).clockClass == .exact)
    #expect(Self.card(.stamped, step: 8).clockClass == .fine)
    #expect(Self.card(.read, step: 8).clockClass == .fine)
    #expect(Self.card(.stamped, step: 480).clockClass == .edge)
    #expect(Self.card(.read, step: 48).clockClass == .coarse)
  }
}
