/// Stereo pairs in the model: two rooms that are always together.
extension HouseModel {
  struct Pair: Equatable {
    let id: String
    var left: String
    var right: String
    var name: String?

    var rooms: [String] { [left, right] }
  }

  func pair(of room: String) -> Pair? { pairs.first { $0.rooms.contains(room) } }

  /// The same rooms, each one of a pair with the other one.
  func whole(_ rooms: [String]) -> [String] {
    var whole: [String] = []
    for room in rooms.flatMap({ pair(of: $0)?.rooms ?? [$0] }) where !whole.contains(room) {
      whole.append(room)
    }
    return whole
  }

  /// Where one of both plays already, the other one joins it.
  mutating func makePair(_ left: String, _ right: String, name: String?) {
    pairs.append(Pair(id: left, left: left, right: right, name: name))
    guard let group = group(ofRoom: left) ?? group(ofRoom: right) else { return }
    join([left], group.id)
    forgetAbandoned()
  }

  mutating func withPair(_ id: String, _ body: (inout Pair) -> Void) {
    if let index = pairs.firstIndex(where: { $0.id == id }) { body(&pairs[index]) }
  }
}
