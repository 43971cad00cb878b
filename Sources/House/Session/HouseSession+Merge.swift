import Sender

/// Two groups that were brought together, as long as they can be parted again: until the list of the one that plays on
/// is edited, or one of the rooms that came is moved.
package struct MergeUndo: Codable, Hashable, Sendable {
  /// For people, such as `merged Bath`.
  package let sentence: String
  /// The group that has lost its rooms, and waits.
  package let other: String
  package let rooms: [String]
  package let wasPlaying: Bool

  package init(sentence: String, other: String, rooms: [String], wasPlaying: Bool) {
    (self.sentence, self.other, self.rooms) = (sentence, other, rooms)
    self.wasPlaying = wasPlaying
  }
}

/// Brings groups together, and parts them again.
extension HouseSession {
  func merge(_ other: String, into id: String) throws(Refusal) -> String {
    let (left, group) = (try self.group(other), try group(id))
    guard other != id else { throw .invalid("a group cannot be merged with itself") }
    let name = name(ofGroup: other)
    let said = "\(name) joins \(self.name(ofGroup: id))"
    noteUse(of: group)
    let moves = plan.merge(other, into: id)
    if !moves.isEmpty {
      group.merge = MergeUndo(
        sentence: "merged \(name)", other: other, rooms: moves.map(\.room),
        wasPlaying: left.isPlaying(left.player.status))
    }
    carryOut(moves)
    return said
  }

  /// The merge that an undo in this group takes back; nil where it brings back its list.
  func standingMerge(of id: String) -> MergeUndo? {
    guard let merge = groups[id]?.merge,
      plan.group(merge.other)?.rooms.isEmpty ?? false,
      merge.rooms.allSatisfy({ plan.group(ofRoom: $0)?.id == id })
    else { return nil }
    return merge
  }

  /// The rooms go back to their group, which plays on where it did.
  func part(_ merge: MergeUndo, from id: String) throws(Refusal) -> String {
    let other = try group(merge.other)
    groups[id]?.merge = nil
    // Whoever has made a pair of one of them since keeps it together.
    carryOut(plan.setRooms(of: merge.other, to: stereo.whole(merge.rooms)))
    if merge.wasPlaying, !other.items.isEmpty { _ = try other.transport(.play) }
    return "undone: \(merge.sentence)"
  }
}
