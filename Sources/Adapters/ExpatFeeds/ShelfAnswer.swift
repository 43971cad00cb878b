/// An answer of a ContentDirectory, as SOAP wraps it.
package struct ShelfAnswer: Sendable {
  /// The document of a page, which stands in the answer as a text.
  package private(set) var result: [UInt8] = []
  /// Objects that there are beside those of this page; 0 if the server does not say so.
  package private(set) var total = 0
  /// Properties that a search may name.
  package private(set) var capabilities = ""

  /// - Throws: a sentence's part that says why it is no answer, or why the server refuses.
  package init(_ bytes: [UInt8]) throws(MarkupFault) {
    let reader = Reader()
    do throws(MarkupFault) {
      try PlainMarkup.read(bytes, textLimit: bytes.count, to: reader)
    } catch {
      throw MarkupFault(description: "this is no answer of a media server: \(error.description)")
    }
    guard reader.error.isEmpty else {
      throw MarkupFault(description: "the server answers with its error \(reader.error)")
    }
    guard reader.isAnswer else {
      throw MarkupFault(description: "this is no answer of a media server; check the address")
    }
    (result, total, capabilities) = (reader.result, reader.total, reader.capabilities)
  }

  private final class Reader: MarkupListener {
    private static let envelope = "http://schemas.xmlsoap.org/soap/envelope/"
    private static let service = "urn:schemas-upnp-org:service:ContentDirectory:"

    var (result, total, capabilities, error) = ([UInt8](), 0, "", "")
    var isAnswer = false

    func begin(_ path: [String], _ attribute: (String) -> String?) {
      guard path.count == 3, path[0] == "\(Self.envelope) Envelope",
        path[1] == "\(Self.envelope) Body", path[2].hasPrefix(Self.service),
        path[2].hasSuffix("Response")
      else { return }
      isAnswer = true
    }

    func end(_ path: [String], _ text: [UInt8]) {
      guard path.count > 3, let name = path.last?.localName else { return }
      switch name {
      case "Result" where path.count == 4 && isAnswer: result = text
      case "TotalMatches" where path.count == 4 && isAnswer:
        total = number(text.trimmed, in: 0...1_000_000_000) ?? 0
      case "SearchCaps" where path.count == 4 && isAnswer:
        capabilities = String(text.trimmed.prefix(4_096))
      case "errorCode" where path[2] == "\(Self.envelope) Fault":
        error = number(text.trimmed, in: 0...99_999).map { "\($0)" } ?? "without a number"
      default: break
      }
    }
  }
}

/// Returns a whole number without signs, in its bounds.
func number(_ text: String, in range: ClosedRange<Int>) -> Int? {
  guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else { return nil }
  return range.contains(number) ? number : nil
}
