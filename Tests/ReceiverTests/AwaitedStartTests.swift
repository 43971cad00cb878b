import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

/// A start that lies minutes ahead, and a sender that is gone by then.
@Suite struct AwaitedStartTests {
  private var receiver = TestReceiver()
  private let control: ConnectionID

  /// The room is filled, and begins in five minutes.
  init() {
    control = receiver.hello()
    let media = receiver.attach()
    receiver.send(50, on: media)
    receiver.advance(by: .seconds(3))
    receiver.say(
      .anchor(
        Anchor(mediaTime: .zero, groupTime: receiver.groupTime(in: .seconds(300)), rate: .playing)),
      on: control)
    receiver.handle(.closed(control))
    receiver.take()
  }

  private var hasClosedCard: Bool {
    receiver.outputs.contains { if case .closeDevice = $0 { true } else { false } }
  }

  @Test mutating func `a room waits for its start without the sender, with an open card`() {
    receiver.advance(by: .seconds(295))
    #expect(!hasClosedCard && receiver.advertised == [])
    receiver.advance(by: .seconds(20))
    // All has sounded by then.
    #expect(hasClosedCard && receiver.advertised == [false])
  }

  @Test mutating func `no room waits for a start that lies hours ahead`() {
    let next = receiver.hello(session: 6)
    receiver.say(
      .anchor(
        Anchor(
          mediaTime: .zero, groupTime: receiver.groupTime(in: .seconds(86_400)), rate: .playing)),
      on: next)
    receiver.handle(.closed(next))
    receiver.take()
    receiver.advance(by: .seconds(600))
    #expect(hasClosedCard && receiver.advertised == [false])
  }

  @Test mutating func `a volume rises by the group's clock, without the sender`() {
    let next = receiver.hello(session: 6)
    var volume = StreamVolume.full
    volume.rise = .init(begin: receiver.groupTime(in: .seconds(100)), span: .seconds(60))
    receiver.say(.streamVolume(volume), on: next)
    receiver.handle(.closed(next))
    func gain() -> Double {
      let gains = receiver.commands.compactMap {
        if case .gain(let gain) = $0 { gain } else { nil }
      }
      return Double(gains.last ?? -1)
    }
    func law(_ share: Double) -> Double { (share + 7 * share * share * share) / 8 }
    let least = StreamVolume.Rise.least
    #expect(abs(gain() - law(least)) < 0.001)
    receiver.advance(by: .seconds(99))
    #expect(abs(gain() - law(least)) < 0.001)
    receiver.advance(by: .seconds(31))
    let half = (1 + least) / 2
    #expect(abs(gain() - law(half)) < 0.02)
    receiver.advance(by: .seconds(31))
    #expect(gain() == 1)
    receiver.take()
    receiver.advance(by: .seconds(30))
    #expect(gain() == -1)
  }
}
