import Testing

@testable import House

/// Tests of which rooms play in which group.
@Suite struct HousePlanTests {
  private static func plan(_ groups: [String]...) -> HousePlan {
    var plan = HousePlan()
    for rooms in groups { _ = plan.create(name: nil, rooms: rooms) }
    return plan
  }

  @Test func `a room that joins one group leaves the other, and no other moves`() {
    var plan = Self.plan(["a", "b"], ["c"])
    #expect(plan.join("b", "g2") == .init(room: "b", from: "g1", to: "g2"))
    #expect(plan.groups.map(\.rooms) == [["a"], ["c", "b"]])
    #expect(plan.join("b", "g2") == nil)
    #expect(plan.join("b", "g9") == nil)
    #expect(plan.group(ofRoom: "b")?.id == "g2")
  }

  @Test func `a group's rooms can be set at once`() {
    var plan = Self.plan(["a", "b"], ["c"])
    let moves = plan.setRooms(of: "g1", to: ["c", "b", "d", "b"])
    #expect(
      Set(moves) == [
        .init(room: "a", from: "g1", to: nil), .init(room: "c", from: "g2", to: "g1"),
        .init(room: "d", from: nil, to: "g1"),
      ])
    #expect(plan.groups.map(\.rooms) == [["c", "b", "d"], []])
  }

  @Test func `merged, the rooms of the other join, and it waits for its last room`() {
    var plan = Self.plan(["a"], ["b", "c"])
    #expect(plan.merge("g2", into: "g1").map(\.room) == ["b", "c"])
    #expect(plan.groups.map(\.rooms) == [["a", "b", "c"], []])
    #expect(plan.merge("g1", into: "g1").isEmpty)
    #expect(plan.abandoned(by: ["b"]) == nil && plan.abandoned(by: ["c"]) == "g2")
  }

  @Test func `a deleted group frees its rooms, and its identity is not used again`() {
    var plan = Self.plan(["a", "b"])
    #expect(plan.delete("g1").map(\.to) == [nil, nil])
    #expect(plan.create(name: "Party", rooms: ["a"])?.id == "g2")
    #expect(HousePlan(restoring: plan.groups, lastNumber: plan.lastNumber) == plan)
  }

  @Test func `there are no more groups than the limit`() {
    var plan = HousePlan()
    for _ in 0..<HousePlan.groupLimit { #expect(plan.create(name: nil, rooms: []) != nil) }
    #expect(plan.create(name: nil, rooms: ["a"]) == nil)
    #expect(plan.groups.count == HousePlan.groupLimit)
  }

  @Test func `a room that was kept in two groups is in the first`() {
    let groups = ["g1", "g2"].map { HousePlan.Group(id: $0, name: nil, rooms: ["a"]) }
    #expect(HousePlan(restoring: groups, lastNumber: 2).groups.map(\.rooms) == [["a"], []])
  }

  @Test func `a group is called by its rooms`() {
    #expect(HousePlan.name(ofRooms: []) == "No rooms")
    #expect(HousePlan.name(ofRooms: ["Kitchen"]) == "Kitchen")
    #expect(HousePlan.name(ofRooms: ["Kitchen", "Bath"]) == "Kitchen + Bath")
    #expect(HousePlan.name(ofRooms: ["Kitchen", "Bath", "Hall", "Desk"]) == "Kitchen + 3 more")
  }
}
