import Testing

/// Checks that everything that grows has a bound, listed in docs/bounds.md with its constant and a test that fills it.
@Suite struct BoundsTests {
  @Test func `the table of bounds says what the constants say, and names the tests that fill`()
    throws
  {
    let rows = BoundsTable.rows(of: try SourceTree.text("docs/bounds.md"))
    #expect(rows.count > 30)
    let code = DeclaredTypes(try SourceTree.files(in: "Sources"))
    let tests = try SourceText.testNames()
    let faults = rows.flatMap { BoundsTable.faults($0, code: code, tests: tests) }
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test func `a row that is not so is found`() {
    let files = [
      SourceTree.File(
        path: "Sources/Clock/X.swift",
        text: """
          struct Shelf {
            static let limit = 4 * 1_024 + Other.few  // books
            private static let timeout = Nanoseconds.milliseconds(250)
            private static var depth: Int { @_noLocks @_noAllocation get { 1 << 3 } }
          }
          """),
      SourceTree.File(
        path: "Sources/Clock/Y.swift", text: "enum Other {\n  package static let few = 2\n}"),
    ]
    let code = DeclaredTypes(files)
    let tests: Set = ["a shelf is full"]
    func faults(_ bound: String, _ constant: String, _ test: String = "a shelf is full") -> Int {
      let table = """
        # A
        # Bounds
        | what | at most | constant | when full | filled by |
        |---|---|---|---|---|
        | books | \(bound) | `\(constant)` | refused | `\(test)` |
        ## B
        | no | row | of | the | table |
        """
      let rows = BoundsTable.rows(of: table)
      #expect(rows.count == 1)
      return rows.flatMap { BoundsTable.faults($0, code: code, tests: tests) }.count
    }
    #expect(faults("4098", "Shelf.limit") == 0)
    #expect(faults("4 098", "Shelf.limit") == 0)
    #expect(faults("250 ms", "Shelf.timeout") == 0)
    #expect(faults("8", "Shelf.depth") == 0)
    #expect(faults("4 KiB", "Shelf.limit") == 1)
    #expect(faults("4098", "Shelf.size") == 1)
    #expect(faults("4098", "Rack.limit") == 1)
    #expect(faults("many", "Shelf.limit") == 1)
    #expect(faults("4098", "Shelf.limit", "a shelf is empty") == 1)
  }
}
