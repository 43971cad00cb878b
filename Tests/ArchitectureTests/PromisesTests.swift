import Testing

/// The library's promises name the tests that hold it to them.
@Suite struct PromisesTests {
  @Test func `each promise of the library names a test that there is`() throws {
    let text = try SourceTree.text("Sources/Tutti/Tutti.docc/WhatItPromises.md")
    let rows = text.split(separator: "\n").compactMap { line -> (number: Int, test: String)? in
      let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
      guard let number = cells.first.flatMap({ Int($0.prefix { $0.isNumber }) }),
        let last = cells.last
      else { return nil }
      return (number, last.split(separator: "`").first.map(String.init) ?? "")
    }
    #expect(rows.map(\.number) == Array(1...81))
    let tests = try SourceText.testNames()
    // Nothing decodes AC-4.
    for row in rows.dropLast() {
      #expect(tests.contains(row.test), "\(row.number): \(row.test)")
    }
  }
}
