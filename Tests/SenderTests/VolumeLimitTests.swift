import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Volume limits, as a sender shows and sets them.
@Suite struct VolumeLimitTests {
  private static func group(_ limit: VolumeLimit?) -> TestGroup {
    var group = TestGroup()
    group.join(with: .test(limit: limit))
    group.take()
    return group
  }

  private static func told(_ group: TestGroup) -> RoomSettings? {
    if case .settings(let settings)? = group.told().last { settings } else { nil }
  }

  private static func shown(_ group: TestGroup) -> RoomSettings? {
    group.session.status(at: group.now).rooms.first?.settings
  }

  @Test func `a volume beyond the limit is lowered to it, and shown so`() {
    var group = Self.group(VolumeLimit(600))
    group.command(.volume(.all, 1000))
    #expect(Self.told(group)?.volume == 600)
    #expect(Self.shown(group)?.volume == 600)
    group.command(.volumeBy(.all, 50))
    #expect(Self.shown(group)?.volume == 600)
    // The limit itself is no news.
    #expect(Self.told(group)?.volumeLimit == nil)
  }

  @Test func `a limit that is set is told once, and turns the room down`() {
    var group = Self.group(.full)
    group.command(.volumeLimit(.all, 300))
    #expect(Self.told(group)?.volumeLimit == VolumeLimit(300))
    #expect(Self.told(group)?.volume == 300)
    group.command(.volume(.all, 200))
    #expect(Self.told(group)?.volumeLimit == nil)
    #expect(Self.shown(group)?.volumeLimit == VolumeLimit(300))
  }

  @Test func `settings are taken once a status has come that was made after them`() {
    var group = Self.group(.full)
    func isTaken() -> Bool? {
      group.session.status(at: group.now).rooms.first?.hasTakenSettings
    }
    #expect(isTaken() == true)
    group.command(.volume(.all, 400))
    #expect(isTaken() == false)
    // It was on its way.
    group.advance(by: .milliseconds(249))
    group.say(.status(.test(.playing)))
    #expect(isTaken() == false)
    group.advance(by: .milliseconds(1))
    group.say(.status(.test(.playing)))
    #expect(isTaken() == true)
  }

  @Test func `a cap turns down what is louder, and rooms that join`() {
    var group = TestGroup(rooms: 2)
    group.join(TestGroup.room, with: .test(limit: .full))
    group.take()
    group.command(.volumeCap(300))
    #expect(Self.told(group)?.volume == 300)
    group.take()
    group.join(TestGroup.other)
    guard
      case .settings(let joined)? = group.told(TestGroup.other).last(where: {
        if case .settings = $0 { true } else { false }
      })
    else {
      Issue.record("no settings")
      return
    }
    #expect(joined.volume == 300)
    group.command(.volumeBy(.all, 900))
    #expect(Self.shown(group)?.volume == 300)
    group.take()
    group.command(.volumeCap(1000))
    #expect(Self.told(group) == nil)
    group.command(.volume(.all, 900))
    #expect(Self.shown(group)?.volume == 900)
  }

  @Test func `a limit that cannot be set is refused, and nothing is told`() {
    for (limit, refusal) in [
      (VolumeLimit(600, isFixed: true), CommandRefusal.volumeLimitIsFixed("Kitchen")),
      (nil, .keepsNoVolumeLimit("Kitchen")),
    ] {
      var group = Self.group(limit)
      #expect(group.command(.volumeLimit(.all, 300)) == .failure(refusal))
      #expect(Self.told(group) == nil)
      #expect(Self.shown(group)?.volumeLimit == limit)
    }
  }
}
