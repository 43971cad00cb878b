package import Sender

/// Makes the addresses of items that servers of libraries give. Such an address has secrets: it is made when the item is
/// opened, on the thread that opens it, and goes nowhere else.
package struct ServedItems: Sendable {
  private let find: @Sendable (_ location: String) -> Result<String, MediaError>

  package init(_ find: @escaping @Sendable (_ location: String) -> Result<String, MediaError>) {
    self.find = find
  }

  package static let none = ServedItems { .failure(.notFound(path: $0)) }

  package func address(_ location: String) throws(MediaError) -> String {
    try find(location).get()
  }
}
