import FFmpegSource
package import Sender

/// Makes the addresses of items that servers of libraries give. Such an address has secrets: it is made when the item is
/// opened, on the thread that opens it, and goes nowhere else.
package struct ServedItems: Sendable {
  private let find: @Sendable (_ location: String) -> Result<String, MediaError>
  private let terms: @Sendable (_ library: String) -> Terms

  /// Where the items of a library may lead.
  package struct Terms: Sendable {
    /// True if its server may send nobody to another address.
    var isStrict: Bool
    var reach: SourceReach

    package init(isStrict: Bool = false, reach: SourceReach = .all) {
      (self.isStrict, self.reach) = (isStrict, reach)
    }
  }

  package init(
    terms: @escaping @Sendable (_ library: String) -> Terms = { _ in Terms() },
    _ find: @escaping @Sendable (_ location: String) -> Result<String, MediaError>
  ) {
    (self.find, self.terms) = (find, terms)
  }

  func limits(_ location: String) -> (settings: NetworkSettings, reach: SourceReach) {
    var settings = NetworkSettings()
    let terms = ServedLocation.parts(location).map { self.terms($0.library) } ?? Terms()
    if terms.isStrict { settings.redirectLimit = 0 }
    return (settings, terms.reach)
  }

  package static let none = ServedItems { .failure(.notFound(path: $0)) }

  package func address(_ location: String) throws(MediaError) -> String {
    try find(location).get()
  }
}
