import Foundation
import Testing

/// Holds the library to the interface that `docs/library-interface.txt` records, so that nobody changes it unawares.
@Suite struct LibraryInterfaceTests {
  private static let path = "docs/library-interface.txt"
  /// Set by `scripts/library-interface.sh`.
  private static let isRecording =
    ProcessInfo.processInfo.environment["TUTTI_RECORD_INTERFACE"] != nil

  @Test func `the library has the interface that is recorded`() throws {
    let interface = LibraryInterface(try SourceTree.files(in: "Sources/Tutti"))
    #expect(interface.types.count > 40)
    if Self.isRecording {
      try interface.text.write(
        to: SourceTree.root.appending(path: Self.path), atomically: true, encoding: .utf8)
    }
    let differences = interface.differences(from: try SourceTree.text(Self.path))
    #expect(
      differences.isEmpty,
      """
      If the change is meant, run scripts/library-interface.sh, and say in CHANGELOG.md what programs must change.
      \(differences.joined(separator: "\n"))
      """)
  }

  private static func interface(of text: String) -> LibraryInterface {
    LibraryInterface([SourceTree.File(path: "Sources/Tutti/X.swift", text: text)])
  }

  private static let shelf = """
    internal import Clock
    /// A shelf { of books.
    public final class Shelf<Book: Sendable>: Sendable, Watched {
      public enum Place: Hashable, Sendable {
        case end
        /// Before.
        case index(Int, "}")
        var isEnd: Bool { if case .end = self { true } else { false } }
      }
      private enum Hidden { case one }
      public let width: Int
      public private(set) var books: [Book] = []
      let isFull = false
      public init(width: Int = 3, _ make: @escaping () -> Int = { 1 }) { self.width = width }
      /// Adds.
      @discardableResult
      public func add(
        _ book: Book, at place: Place = .end
      ) async throws(ShelfError) -> Int {
        func inner() -> Int { public_ }
        return inner()
      }
      private func sort(_ book: Book)
        async throws(ShelfError)
      {
      }
    }
    extension Shelf.Place: CustomStringConvertible {
      public var description: String { "" }
    }
    public protocol Reader: AnyObject {
      var page: Int { get }
      func turn() throws
    }
    extension Reader {
      public var isOpen: Bool { page > 0 }
    }
    struct Own { public let x = 1 }
    extension Own: Hashable {}
    protocol Watched {}
    extension Shelf: Watched {}
    extension Duration { var own: Int { 1 } }
    """

  @Test func `public declarations are read, and no others`() {
    let interface = Self.interface(of: Self.shelf)
    #expect(
      interface.text == """
        Reader
          func turn() throws
          is protocol Reader: AnyObject
          var isOpen: Bool
          var page: Int

        Shelf
          enum Place
          func add(_ book: Book, at place: Place = .end) async throws(ShelfError) -> Int
          init(width: Int = 3, _ make: @escaping () -> Int = { 1 })
          is final class Shelf<Book: Sendable>: Sendable
          let width: Int
          private(set) var books: [Book] = []

        Shelf.Place
          : CustomStringConvertible
          case end
          case index(Int, "")
          is enum Place: Hashable, Sendable
          var description: String

        """)
  }

  @Test func `a change of the interface is found`() {
    let before = Self.interface(of: "public struct A {\n  public var x: Int\n}")
    for (text, count) in [
      ("public struct A {\n  public var x: Int { 1 }\n}", 0),
      ("public struct A {\n  public var x: Double\n}", 2),
      ("public struct A {\n}", 1), ("public struct A {\n  var x: Int\n}", 1),
      ("public struct A: Sendable {\n  public var x: Int\n}", 2),
    ] {
      #expect(Self.interface(of: text).differences(from: before.text).count == count, "\(text)")
    }
  }
}
