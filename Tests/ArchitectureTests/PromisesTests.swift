import Testing

/// The library's promises name the tests that hold it to them.
@Suite struct PromisesTests {
  @Test func `each promise of the library names tests that there are`() throws {
    let text = try SourceTree.text("Sources/Tutti/Tutti.docc/WhatItPromises.md")
    let rows = text.split(separator: "\n").compactMap { line -> (number: Int, tests: [String])? in
      let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
      guard let number = cells.first.flatMap({ Int($0.prefix { $0.isNumber }) }),
        let last = cells.last
      else { return nil }
      // Names stand between two backquotes.
      let parts = last.split(separator: "`", omittingEmptySubsequences: false)
      return (number, stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) })
    }
    #expect(rows.map(\.number) == Array(1...81))
    let tests = try SourceText.testNames()
    // Nothing decodes AC-4.
    for row in rows.dropLast() {
      #expect(!row.tests.isEmpty, "\(row.number)")
      for test in row.tests { #expect(tests.contains(test), "\(row.number): \(test)") }
    }
  }
}
