import Testing

/// Checks that the tests named in the table of threats of docs/security.md exist.
@Suite struct ThreatsTests {
  @Test func `each threat names its tests`() throws {
    let tests = try SourceText.testNames()
    let rows = try SourceTree.text("docs/security.md")
      .split(separator: "\n", omittingEmptySubsequences: false)
      .drop { $0 != "## Threats and their tests" }.dropFirst()
      .prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| threat ") }
    #expect(rows.count > 20)
    for row in rows {
      let named = row.split(separator: "|").last?.matches(of: /`([^`]+)`/) ?? []
      #expect(!named.isEmpty, "\(row)")
      for name in named {
        #expect(tests.contains(String(name.1)), "no test is called: \(name.1)")
      }
    }
  }
}
