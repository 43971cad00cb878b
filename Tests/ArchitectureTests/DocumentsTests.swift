import Foundation
import Testing

/// Checks that the documents are what they say, and lead where they say.
@Suite struct DocumentsTests {
  /// Two printed pages.
  private static let architectureLimit = 120
  /// Characters of a line that a page holds.
  private static let widthLimit = 140

  @Test func `the architecture is two pages`() throws {
    let lines = try SourceTree.text("docs/ARCHITECTURE.md").split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= Self.architectureLimit)
    #expect(lines.filter { $0.count > Self.widthLimit } == [])
  }

  @Test func `links lead to files that are there`() throws {
    let paths =
      ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
      + SourceTree.paths(in: "docs").filter { $0.hasSuffix(".md") }
    #expect(paths.count > 30)
    let dead = try paths.flatMap { path in
      Rules.deadLinks(.init(path: path, text: try SourceTree.text(path))) { link in
        FileManager.default.fileExists(atPath: SourceTree.root.appending(path: link).path)
      }
    }
    #expect(dead == [], "\(dead.joined(separator: "\n"))")
  }
}
