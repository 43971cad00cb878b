import Testing

/// Checks that each rule finds violations, and accepts correct code.
@Suite struct RulesTests {
  private static func file(_ text: String, at path: String = "Sources/Clock/X.swift")
    -> SourceTree.File
  {
    SourceTree.File(path: path, text: text)
  }

  @Test func `impure core is found, word by word`() {
    let bad = [
      "import Foundation", "internal import Glibc", "import struct Foundation.Date",
      "let now = ContinuousClock.now", "let x = Int.random(in: 0...1)", "let d = Date()",
      "Task { }", "print(x)", "let l = Logger(label: \"\")", "items.shuffled()",
      "package actor A {}", "await x()",
    ]
    for line in bad { #expect(!Rules.impurity(Self.file(line)).isEmpty, "\(line)") }
    let good = [
      "import Audio", "// print(x) and Date()", "let t = \"Task { print(\"",
      "Int.random(in: 0...1, using: &generator)", "let factor = 1",
    ]
    for line in good {
      #expect(Rules.impurity(Self.file(line)).isEmpty, "\(line)")
    }
    #expect(
      Rules.impurity(
        Self.file("import Foundation", at: "Sources/Adapters/LinuxIO/X.swift")
      ).isEmpty)
  }

  @Test func `imports against the manifest are found`() {
    let manifest = """
      // core("Nothing", ["Clock"]),
      core("Clock"), core("Audio", ["Clock"]), core("Sender", ["Clock",
        "Audio"]),
      adapter("LinuxIO", ["Clock", "CSys"]), .target(name: "CSys", path: "x"),
      """
    let declared = PackageManifest.dependencies(manifest)
    #expect(declared["Sender"] == ["Clock", "Audio"])
    #expect(declared["CSys"] == [])
    #expect(declared["Nothing"] == nil)
    let wrong = Self.file("package import Audio")
    #expect(!Rules.undeclaredImports(wrong, declared: declared).isEmpty)
    let right = Self.file("package import Audio", at: "Sources/Sender/X.swift")
    #expect(Rules.undeclaredImports(right, declared: declared).isEmpty)
    #expect(!Rules.upwardDependencies(["Clock": ["Audio"]]).isEmpty)
    #expect(!Rules.upwardDependencies(["Receiver": ["Sender"]]).isEmpty)
    #expect(Rules.upwardDependencies(declared).isEmpty)
  }

  @Test func `what stands on the library, or shows through it, is found`() {
    for (line, path) in [
      ("import Driver", "Sources/Adapters/LinuxIO/X.swift"),
      ("import Tutti", "Sources/Executables/tutti/X.swift"),
      ("import TestSupport", "Sources/Driver/X.swift"),
      ("import Service", "Sources/Driver/X.swift"),
    ] {
      #expect(!Rules.importsFromBelow(Self.file(line, at: path)).isEmpty)
    }
    #expect(Rules.importsFromBelow(Self.file("import Driver", at: "Sources/Tutti/X.swift")).isEmpty)
    for line in ["public import Audio", "import Audio", "internal import Foundation"] {
      #expect(!Rules.leakyImports(Self.file(line, at: "Sources/Tutti/X.swift")).isEmpty)
    }
    let good = Self.file("internal import Audio", at: "Sources/Tutti/X.swift")
    #expect(Rules.leakyImports(good).isEmpty)
  }

  @Test func `a player with a terminal is found`() {
    for name in ["ArgumentParser", "FoundationEssentials", "Glibc"] {
      let file = Self.file("import \(name)", at: "Sources/Service/X.swift")
      #expect(Rules.importsOfPrograms(file).count == 1)
    }
    let good = Self.file("import LinuxIO", at: "Sources/Service/X.swift")
    #expect(Rules.importsOfPrograms(good).isEmpty)
  }

  @Test func `adapters that lean on each other are found`() {
    let one = Self.file("import CALSA", at: "Sources/Adapters/A/X.swift")
    let other = Self.file("import A\nimport CALSA", at: "Sources/Adapters/B/X.swift")
    #expect(Rules.adaptersThatImportAdapters([one, other]).count == 1)
    #expect(Rules.sharedLibraries([one, other], shims: ["CALSA"]).count == 1)
    #expect(Rules.sharedLibraries([one], shims: ["CALSA"]).isEmpty)
  }

  @Test func `forced, unchecked and public words are found`() {
    for line in [
      "try! x()", "fatalError()", "final class A: @unchecked Sendable {}",
      "nonisolated(unsafe) var x = 1", "x as! Int",
    ] {
      #expect(!Rules.dangerousWords(Self.file(line)).isEmpty, "\(line)")
    }
    let ring = Self.file("@unchecked Sendable", at: "Sources/Audio/FrameRing.swift")
    #expect(Rules.dangerousWords(ring).isEmpty)
    #expect(!Rules.publicDeclarations(Self.file("public struct A {}")).isEmpty)
    #expect(
      Rules.publicDeclarations(Self.file("public struct A {}", at: "Sources/Tutti/A.swift"))
        .isEmpty)
  }

  @Test func `states as text are found`() {
    for line in [
      "if room.state == \"well\" {", "room.state = \"away\"", "guard access != \"open\"",
      "case \"away\": nil", "case \"x\", \"playing\":", "$0 == \"busy\"",
      "init(state: \"free\")", "[\"away\", \"connecting\"].contains(x)",
      "if let channels, channels != \"stereo\" {", "case \"ringing\": 1",
    ] {
      let file = SourceText(path: "X.swift", text: "let x = 1\n\(line)\n")
      #expect(Rules.stringStates(file) == ["X.swift:2: \(line)"])
    }
    for line in [
      "return \"stopped\"", "// state == \"away\"", "init(state: \"\\(state)\")",
      "x.state == .paused ? \"is paused already\" : \"paused\"", "case \"open\": x",
    ] {
      #expect(Rules.stringStates(SourceText(path: "X.swift", text: line)).isEmpty, "\(line)")
    }
  }

  @Test func `the cases of states are found`() {
    let text = """
        package enum State: String, Codable {
          case free, busy
          /// It was seen.
          case away
        }
        private enum RunState: String { case playing, paused }
        enum Kind: String { case album }
      """
    let cases = Rules.stateCases(Self.file(text))
    #expect(cases == ["free", "busy", "away", "playing", "paused"])
  }

  @Test func `what is too long is found`() {
    let lines = Array(repeating: "    x()", count: 69).joined(separator: "\n")
    let long = "  func f() {\n\(lines)\n  }"
    #expect(Rules.oversizedFunctions(Self.file(long)).count == 1)
    let short = "  func f() {\n\(lines.dropLast(8))\n  }"
    #expect(Rules.oversizedFunctions(Self.file(short)).isEmpty)
    #expect(Rules.oversizedFunctions(Self.file("  func f() { x() }\n\(lines)\n  }")).isEmpty)
    let many = String(repeating: "x\n", count: 501)
    #expect(!Rules.oversizedFiles(Self.file(many)).isEmpty)
    #expect(Rules.oversizedFiles(Self.file(many, at: "Tests/A/X.swift")).isEmpty)
  }

  @Test func `code in an article that no example has is found`() {
    let example = Self.file("import A\n\nfunc f() {}", at: "Examples/Sources/tour/X.swift")
    let right = "text\n```swift\nimport A\n\nfunc f() {}\n```\nmore"
    #expect(Rules.unprovenCode(right, in: [example]).isEmpty)
    let wrong = "```swift\nfunc f() {}\n```\n```swift\nfunc g() {}\n```"
    #expect(Rules.unprovenCode(wrong, in: [example]).count == 1)
  }

  @Test func `times without a reason are found`() {
    let time = "private static let wait = Nanoseconds.seconds(3)"
    for bad in [
      time, "\n  \(time)", "/// A reason.\nlet x = 1\n\(time)", "// A reason.\n\n\(time)",
      "static let pause = Duration.milliseconds(20)",
    ] {
      #expect(Rules.unexplainedTimes(Self.file(bad)).count == 1, "\(bad)")
    }
    for good in [
      "/// A reason.\n\(time)", "/// Both.\nstatic let a = 1\n\(time)", "static let a = 1",
      "let wait = Nanoseconds.seconds(3)", "static let none = Nanoseconds.zero",
    ] {
      #expect(Rules.unexplainedTimes(Self.file(good)).isEmpty, "\(good)")
    }
  }

  @Test func `comments with a vague opening are found`() {
    let bad = [
      "  /// What a room says.", "// Whether it plays.", "/// Of a room", "  //  By name.",
    ]
    for line in bad { #expect(Rules.vagueOpenings(Self.file(line)).count == 1, "\(line)") }
    let good = [
      "/// Whatever a room says.", "let x = 1  // What it is", "/// Says what comes.",
      "let what = \"/// What\"", "///", "What",
    ]
    for line in good { #expect(Rules.vagueOpenings(Self.file(line)).isEmpty, "\(line)") }
  }

  @Test func `links that lead nowhere are found`() {
    let text = "[a](b.md) and [c](../d.md#e)\n[f](https://g.h/i) [j](#k) [l](m/)"
    let document = Self.file(text, at: "docs/n/o.md")
    #expect(Rules.deadLinks(document) { _ in true }.isEmpty)
    let there: Set = ["docs/n/b.md", "docs/n/m"]
    #expect(Rules.deadLinks(document, exists: there.contains) == ["docs/n/o.md:1: ../d.md"])
  }

  @Test func `unnamed vectors and unnumbered decisions are found`() {
    #expect(Rules.badVectorNames("```hex").count == 1)
    #expect(Rules.badVectorNames("```hex control.a\n```\n```hex control.a").count == 1)
    #expect(Rules.badVectorNames("```hex control.a\n```\n```hex media.b").isEmpty)
    #expect(
      Rules.badDecisionNames(["0001-a.md", "1-b.md", "0001-c.md", "0002-d.txt"]).count == 3)
  }
}
