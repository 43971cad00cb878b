/// What is to be played, in order, and how far production has come.
package struct PlayQueue {
  package private(set) var items: [PlayItem]
  /// The item that is being produced; `items.count` when all are.
  private(set) var producing = 0

  package init(_ locations: [String]) {
    items = locations.enumerated().map { PlayItem(id: $0.offset, location: $0.element) }
  }

  var current: PlayItem? { items.indices.contains(producing) ? items[producing] : nil }

  /// The item after the one being produced; production goes on there.
  mutating func advance() -> PlayItem? {
    producing = min(producing + 1, items.count)
    return current
  }

  mutating func jump(to item: PlayItem) {
    producing = items.firstIndex { $0.id == item.id } ?? items.count
  }

  func item(after item: PlayItem) -> PlayItem? {
    neighbour(of: item, 1)
  }

  func item(before item: PlayItem) -> PlayItem? {
    neighbour(of: item, -1)
  }

  private func neighbour(of item: PlayItem, _ distance: Int) -> PlayItem? {
    guard let index = items.firstIndex(where: { $0.id == item.id }) else { return nil }
    return items.indices.contains(index + distance) ? items[index + distance] : nil
  }
}
