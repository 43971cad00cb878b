/// A precondition of a test was not met.
package struct Missing: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// `#require` for helpers outside of a test target.
func given<Value>(_ value: Value?, _ what: @autoclosure () -> String) throws -> Value {
  guard let value else { throw Missing(description: "missing: \(what())") }
  return value
}
