import Clock
import Testing

@testable import House

extension SimulatedWorld {
  /// Gives an order, and returns the answer, which comes once it is on the disk.
  @discardableResult
  func ask(_ order: Order) throws -> Answer {
    let id = request(.order(order))
    settle()
    for _ in 0..<100 where answer(id) == nil { advance(by: .milliseconds(100)) }
    return try #require(take(id)).get()
  }

  /// Makes a group that plays in these rooms.
  func play(in rooms: [String], name: String? = nil) throws -> String {
    let id = try #require(try ask(.createGroup(rooms: rooms, name: name)).group?.id)
    try ask(.edit(group: id, .add([.init(location: "/music/a.flac")], at: .end), expected: nil))
    advance(by: .seconds(1))
    return id
  }
}
