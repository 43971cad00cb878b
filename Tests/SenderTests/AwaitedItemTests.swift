import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// An item is over, and the source of the next one is slow.
@Suite struct AwaitedItemTests {
  private static let items = ["8000x1:16000", "8000x1:160000", "8000x1:160000"]

  /// The rooms stand still at the end of the first item.
  private static func awaiting(_ items: [String] = items) -> TestGroup {
    var group = TestGroup(items, producesAtOnce: false)
    group.joinReady()
    while let order = group.orders.first, begun(by: order) != 1 { group.produceOne() }
    group.advance(by: .seconds(5))
    group.take()
    return group
  }

  private static func begun(by order: ProductionOrder?) -> Int? {
    guard case .begin(let beginning)? = order else { return nil }
    return beginning.item.id
  }

  private func sample(_ packet: AudioPacket) -> Float {
    packet.encoded.payload.withUnsafeBytes { $0.loadUnaligned(as: Float.self) }
  }

  /// The first item lasts two seconds, so both lead as far.
  @Test(arguments: [PlayerCommand.seek(to: .seconds(9)), .seekBy(.seconds(7))])
  func `a seek ahead while the next item opens leads into that one`(seek: PlayerCommand) {
    var group = Self.awaiting()
    #expect(group.session.status(at: group.now).state == .buffering)
    #expect(group.command(seek) == .success(.done))
    let status = group.session.status(at: group.now)
    #expect(status.chosen?.id == 1)
    #expect(status.target == .seconds(7))
    group.advance(by: .seconds(5))
    group.produce()
    group.advance(by: .seconds(1))
    #expect(group.packets().first.map(sample) == TestSource.sample(56_000))
    #expect(group.session.status(at: group.now).item?.item.id == 1)
    #expect(group.session.position(at: group.now) >= .seconds(7))
  }

  @Test func `a seek back leads into what has sounded, and next to what opens`() {
    var group = Self.awaiting()
    group.command(.seekBy(.seconds(-1)))
    #expect(group.session.status(at: group.now).chosen?.id == 0)
    #expect(group.session.status(at: group.now).target == .seconds(1))
    group = Self.awaiting()
    group.command(.next)
    #expect(group.session.status(at: group.now).chosen?.id == 1)
  }

  /// The one that was chosen cannot be played.
  @Test func `a seek at once after that goes to the item in its stead`() {
    var group = TestGroup(
      ["8000x1:160000", "nothing", "8000x1:160000"], producesAtOnce: false)
    group.joinReady()
    group.produce()
    group.advance(by: .seconds(1))
    group.produce()
    group.command(.next)
    group.produceOne()
    group.take()
    #expect(Self.begun(by: group.orders.first) == 2)
    group.command(.seek(to: .seconds(7)))
    #expect(group.session.status(at: group.now).chosen?.id == 2)
    group.advance(by: .seconds(1))
    group.produce()
    group.advance(by: .seconds(1))
    #expect(group.packets().first.map(sample) == TestSource.sample(56_000))
  }
}
