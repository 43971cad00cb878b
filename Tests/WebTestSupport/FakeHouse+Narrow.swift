import House
import Sender

extension FakeHouse {
  /// Of what was added since a queue was cleared last.
  package func narrow(among addresses: Set<String>) -> Set<String> {
    var added: [Order.NewEntry] = []
    for case .edit(_, let edit, _) in requests {
      if case .add(let entries, _) = edit { added += entries }
      if case .clear = edit { added = [] }
    }
    return addresses.intersection(added.filter { $0.reach == .internet }.map(\.location))
  }
}
