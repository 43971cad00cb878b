import FFmpegSource
package import Sender

/// Makes the addresses of items that servers of libraries give. Such an address has secrets: it is made when the item is
/// opened, on the thread that opens it, and goes nowhere else.
package struct ServedItems: Sendable {
  private let find: @Sendable (_ location: String) -> Result<String, MediaError>
  private let strict: [String]

  /// - Parameter strict: the libraries whose servers may send nobody to another address.
  package init(
    strict: [String] = [],
    _ find: @escaping @Sendable (_ location: String) -> Result<String, MediaError>
  ) {
    (self.find, self.strict) = (find, strict)
  }

  func settings(_ location: String) -> NetworkSettings {
    var settings = NetworkSettings()
    if let (name, _) = ServedLocation.parts(location), strict.contains(name) {
      settings.redirectLimit = 0
    }
    return settings
  }

  package static let none = ServedItems { .failure(.notFound(path: $0)) }

  package func address(_ location: String) throws(MediaError) -> String {
    try find(location).get()
  }
}
