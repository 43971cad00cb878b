import Audio
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// The sound of rooms, as a sender shows and sets it.
@Suite struct RoomSoundTests {
  private static func group(_ sound: SoundSetting?, hasFIR: Bool = false) -> TestGroup {
    var group = TestGroup()
    var welcome = Welcome.test(limit: .full)
    (welcome.settings.sound, welcome.settings.hasFIR) = (sound, hasFIR)
    group.join(with: welcome)
    group.take()
    return group
  }

  private static func told(_ group: TestGroup) -> SoundSetting? {
    group.told().compactMap { if case .sound(let sound) = $0 { sound } else { nil } }.last
  }

  private static func shown(_ group: TestGroup) -> SoundReport? {
    group.session.status(at: group.now).rooms.first.flatMap { StatusReport.Room($0).sound }
  }

  private static func change(_ change: (inout SoundChange) -> Void) -> SoundChange {
    var sound = SoundChange()
    change(&sound)
    return sound
  }

  @Test func `a change leaves the rest as it is, and is shown`() {
    var kept = SoundSetting()
    (kept.bass, kept.crossover) = (3, Crossover(.high, frequency: 80))
    var group = Self.group(kept)
    group.command(.sound(.all, Self.change { $0.treble = -2.004 }))
    kept.treble = -2
    #expect(Self.told(group) == kept)
    #expect(Self.shown(group) == SoundReport(kept, hasFIR: false))
    #expect(Self.shown(group)?.changesSound == true)
    group.command(.sound(.all, Self.change { ($0.crossover, $0.isOn) = (.off, false) }))
    #expect(Self.told(group)?.crossover == nil)
    #expect(Self.told(group)?.bass == 3)
    #expect(Self.shown(group)?.changesSound == false)
  }

  @Test func `a receiver that keeps no sound, or has no filter, is told apart`() {
    var older = Self.group(nil)
    let change = Self.change { $0.bass = 3 }
    #expect(older.command(.sound(.all, change)) == .failure(.keepsNoSound("Kitchen")))
    #expect(Self.told(older) == nil)
    #expect(Self.shown(older) == nil)
    var plain = Self.group(.plain)
    let filter = Self.change { $0.usesFIR = true }
    #expect(plain.command(.sound(.all, filter)) == .failure(.hasNoFIR("Kitchen")))
    #expect(Self.told(plain) == nil)
    var equipped = Self.group(.plain, hasFIR: true)
    equipped.command(.sound(.all, filter))
    #expect(Self.told(equipped)?.usesFIR == true)
  }
}
