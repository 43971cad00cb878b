import Testing

/// Checks the list of places that `make mutants` breaks, so that it keeps up with the sources.
@Suite struct MutantsTests {
  private struct Place {
    var title: String
    var path = ""
    var why = ""
    var tests = ""
    /// The lines that are broken.
    var lines: [Substring] = []

    var text: String { lines.joined(separator: "\n") }
  }

  /// Reads the list by the rules that stand at its head.
  private static func places() throws -> [Place] {
    var places: [Place] = []
    for line in try SourceTree.text("Tests/Mutants/places.txt").split(separator: "\n") {
      let rest = line.drop { $0 != " " }.dropFirst()
      if line.hasPrefix("## ") { places.append(Place(title: String(rest))) }
      guard !places.isEmpty else { continue }
      let last = places.count - 1
      switch line.prefix(while: { $0 != " " }) {
      case "in": places[last].path = rest.drop { $0 == " " }.description
      case "why": places[last].why = rest.description
      case "tests": places[last].tests = rest.description
      case "-": places[last].lines.append(rest)
      default: break
      }
    }
    return places
  }

  @Test func `the text of each place that is broken stands in the tree exactly once`() throws {
    let places = try Self.places()
    #expect(places.count >= 50)
    for place in places {
      let file = SourceText(path: place.path, text: try SourceTree.text(place.path))
      let count = file.places(of: place.text).count
      #expect(count == 1, "\(place.title): stands \(count) times in \(place.path)")
    }
  }

  @Test func `each place that is broken has a title of its own, a reason, and tests`() throws {
    let places = try Self.places()
    #expect(Set(places.map(\.title)).count == places.count)
    for place in places {
      #expect(!place.why.isEmpty && !place.tests.isEmpty && !place.text.isEmpty, "\(place.title)")
    }
  }
}
