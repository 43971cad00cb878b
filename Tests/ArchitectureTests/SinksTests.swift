import Testing

/// Checks that the table "Where text from outside goes" of docs/security.md is complete.
@Suite struct SinksTests {
  private struct Row {
    let name: String
    let places: Set<String>
    let tests: [String]

    init(_ line: Substring) {
      let cells = line.split(separator: "|").map(String.init)
      func quoted(_ cell: String?) -> [String] {
        (cell ?? "").matches(of: /`([^`]+)`/).map { String($0.1) }
      }
      name = String(cells[0].dropFirst().dropLast())
      places = Set(quoted(cells.dropFirst().first))
      tests = quoted(cells.last)
    }
  }

  private static func rows() throws -> [Row] {
    try SourceTree.text("docs/security.md")
      .split(separator: "\n", omittingEmptySubsequences: false)
      .drop { $0 != "## Where text from outside goes" }.dropFirst()
      .prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| reaches ") }
      .map(Row.init)
  }

  private static func files() throws -> [SourceText] {
    try SourceText.all(in: "Sources", endings: ["swift", "c", "h", "js", "html"])
  }

  @Test func `each place where text is read as more has a row, and each row its places`() throws {
    let rows = try Self.rows()
    let files = try Self.files()
    #expect(files.count > 400 && rows.map(\.name).sorted() == Sink.all.map(\.name).sorted())
    for sink in Sink.all {
      let known = rows.first { $0.name == sink.name }?.places ?? []
      let places = sink.places(in: files)
      #expect(places.subtracting(known).sorted() == [], "\(sink.name): not in the table")
      #expect(known.subtracting(places).sorted() == [], "\(sink.name): no longer there")
    }
  }

  @Test func `each row names its tests`() throws {
    let tests = try SourceText.testNames()
    for row in try Self.rows() {
      #expect(!row.tests.isEmpty, "\(row.name)")
      for test in row.tests { #expect(tests.contains(test), "no test is called: \(test)") }
    }
  }

  @Test func `SQL is put together of constants and numbers`() throws {
    let parts = Set(try Self.files().flatMap(PutTogetherSQL.parts))
    #expect(parts.subtracting(PutTogetherSQL.constants).sorted() == [])
    #expect(PutTogetherSQL.constants.subtracting(parts).sorted() == [])
  }

  @Test func `a new place is found`() {
    for sink in Sink.all {
      for ending in sink.endings {
        for word in sink.words {
          let path = "Sources/New/New.\(ending)"
          let line = word.replacing("*", with: "2") + "text)"
          func places(_ text: String) -> Set<String> {
            sink.places(in: [SourceText(path: path, text: text)])
          }
          #expect(places("a()\n  \(line)\n") == ["New.\(ending)"], "\(sink.name): \(word)")
          #expect(places("a()\n  // \(line)\n").isEmpty, "\(sink.name): \(word)")
        }
      }
    }
  }

  @Test func `a value that is put into SQL is found`() {
    func parts(_ text: String) -> [String] {
      PutTogetherSQL.parts(in: SourceText(path: "Sources/New/New.swift", text: text))
    }
    #expect(parts(#"let a = "SELECT id FROM b WHERE c = '\(name)'""#) == ["New.swift: name"])
    #expect(
      parts("let a = \"\"\"\n  SELECT id\n  FROM b LIMIT \\(count(b))\n") == ["New.swift: count(b)"]
    )
    #expect(parts(#"let a = "the room \(name)""#) == [])
  }

  @Test func `scripts hand no text to a shell again`() throws {
    let scripts = SourceTree.paths(in: "scripts").filter { $0.hasSuffix(".sh") }
    #expect(scripts.count > 5)
    for path in scripts {
      for line in try SourceTree.text(path).split(separator: "\n") where !line.hasPrefix("#") {
        #expect(
          line.firstMatch(of: /\beval\b|\bsh -c\b|\|\s*(?:ba)?sh\b/) == nil, "\(path): \(line)")
      }
    }
  }
}
