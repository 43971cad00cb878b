import Testing

@testable import House

/// Tests of one slider for several rooms.
@Suite struct GroupVolumeTests {
  private static let rooms = ["a": 20.0, "b": 50, "c": 0]

  /// Returns the rooms after the slider was moved to each of these levels in turn.
  private func moved(_ levels: Double..., from rooms: [String: Double] = rooms) -> [String: Double]
  {
    var volume = GroupVolume()
    return levels.reduce(rooms) { volume.move(to: $1, $0) }
  }

  @Test func `all rooms reach 100 and 0 together`() {
    #expect(moved(100).values.allSatisfy { $0 == 100 })
    #expect(moved(0).values.allSatisfy { $0 == 0 })
    #expect(moved(99.9).values.allSatisfy { $0 < 100 })
  }

  @Test func `each room reaches its limit, and the slider ends at the highest`() {
    var volume = GroupVolume()
    let limits = ["a": 30.0, "b": 60, "c": 45]
    let loudest = volume.move(to: 100, Self.rooms, limits: limits)
    #expect(loudest == limits)
    #expect(volume.level(of: loudest) == 60)
    let half = volume.move(to: 40, loudest, limits: limits)
    #expect(half.allSatisfy { $0.value < limits[$0.key] ?? 0 })
    #expect(volume.move(to: 23.3, half, limits: limits) == Self.rooms)
  }

  @Test func `the slider of a single room stands where the room's does`() {
    var volume = GroupVolume()
    for (level, reached) in [(20.0, 20.0), (50, 50), (80, 50), (35, 35)] {
      let rooms = volume.move(to: level, ["a": 10], limits: ["a": 50])
      #expect(rooms == ["a": reached])
      #expect(volume.level(of: rooms) == reached)
    }
  }

  @Test func `rooms that are louder than a new limit are lowered, and the others are not moved`() {
    var volume = GroupVolume()
    let rooms = volume.move(to: 50, ["a": 20, "b": 80], limits: ["b": 60])
    #expect(rooms == ["a": 20, "b": 60])
  }

  @Test(arguments: [0.0, 10, 23.3, 55.5, 100])
  func `going back restores exactly what was`(level: Double) {
    let start = GroupVolume().level(of: Self.rooms)
    #expect(start == 23.3)
    #expect(moved(level, start) == Self.rooms)
    #expect(moved(level, 100, 0, start) == Self.rooms)
  }

  @Test func `a room at 0 rises, and all keep their order`() throws {
    let rooms = moved(60)
    let (a, b, c) = (try #require(rooms["a"]), try #require(rooms["b"]), try #require(rooms["c"]))
    #expect(c > 0 && c < a && a < b && b < 100)
  }

  @Test func `the slider stands where it was put`() {
    var volume = GroupVolume()
    let rooms = volume.move(to: 61.7, Self.rooms)
    #expect(volume.level(of: rooms) == 61.7)
  }

  @Test func `a room that was changed by hand is remembered as it is`() {
    var volume = GroupVolume()
    var rooms = volume.move(to: 0, Self.rooms)
    rooms["a"] = 40
    let start = volume.level(of: rooms)
    #expect(start == 13.3)
    rooms = volume.move(to: 80, rooms)
    #expect(volume.move(to: start, rooms) == ["a": 40, "b": 0, "c": 0])
  }

  @Test func `a room that came or went makes it begin anew`() {
    for change in [["a": 20.0, "b": 50], ["a": 20, "b": 50, "c": 0, "d": 90]] {
      var volume = GroupVolume()
      _ = volume.move(to: 0, Self.rooms)
      let start = volume.level(of: change)
      #expect(start == GroupVolume().level(of: change))
      let loudest = volume.move(to: 100, change)
      #expect(loudest.values.allSatisfy { $0 == 100 })
      #expect(volume.move(to: start, loudest) == change)
    }
  }

  @Test func `rooms that are all silent, or all at their loudest, move alike`() {
    #expect(moved(30, from: ["a": 0, "b": 0]) == ["a": 30, "b": 30])
    #expect(moved(30, from: ["a": 100, "b": 100]) == ["a": 30, "b": 30])
    #expect(moved(30, from: [:]) == [:])
  }
}
