package import House
package import Sender

/// Tests make these things happen in it, as no surface can.
extension FakeHouse {
  /// Makes this many changes that nobody has asked for.
  package func stir(_ count: Int) {
    for _ in 0..<count { tell(group: groups.first?.id) }
  }

  /// The title of an entry becomes known.
  package func describe(entry place: Int, of id: String, as title: String) throws(Refusal) {
    queues[id]?.entries[place].title = title
    queues[id]?.revision += 1
    _ = try edit(group: id) { $0.queue.revision += 1 }
  }

  /// Ends the streams of all listeners, as if they were too slow, so that they miss some changes.
  package func endChanges(missing count: Int) {
    for listener in listeners { listener.finish() }
    listeners = []
    stir(count)
  }

  /// An item could not be played.
  package func fail(_ item: FailedItem, in id: String) throws(Refusal) {
    _ = try edit(group: id) { $0.failed = item }
  }

  /// A queue forgets its addresses when it is cleared: those that a guest has added since then.
  package func narrow(among addresses: Set<String>) -> Set<String> {
    var added: [Order.NewEntry] = []
    for case .edit(_, let edit, _) in requests {
      if case .add(let entries, _) = edit { added += entries }
      if case .clear = edit { added = [] }
    }
    return addresses.intersection(added.filter { $0.reach == .internet }.map(\.location))
  }
}
