import House
import Sender

extension FakeHouse {
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
