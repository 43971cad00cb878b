import Testing

/// Checks that the source tree follows its own rules.
@Suite struct TreeTests {
  private static let shims = [
    "CSys", "CALSA", "CAvahi", "COpus", "CFLAC", "CFFmpeg", "CSQLite", "COpenSSL",
    "CQRencode", "CExpat", "CMPRIS",
  ]

  private static func expectNone(_ found: [String]) {
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test func `core is pure`() throws {
    let files = try SourceTree.files(in: "Sources").filter(\.isCore)
    #expect(files.count > 50)
    Self.expectNone(files.flatMap(Rules.impurity))
  }

  @Test func `imports go where Package.swift says, and only downwards`() throws {
    let declared = PackageManifest.dependencies(try SourceTree.text("Package.swift"))
    #expect(declared["Sender"] == ["Clock", "Audio", "WireProtocol", "Pairing"])
    #expect(declared["LinuxIO"] == ["Clock", "WireProtocol", "CSys"])
    Self.expectNone(Rules.upwardDependencies(declared))
    Self.expectNone(
      try SourceTree.files(in: "Sources").flatMap {
        Rules.undeclaredImports($0, declared: declared)
      })
  }

  @Test func `the library stands on top, and shows nothing of what it is made of`() throws {
    let files = try SourceTree.files(in: "Sources")
    #expect(files.contains { $0.module == "Tutti" })
    Self.expectNone(files.flatMap(Rules.importsFromBelow))
    Self.expectNone(files.flatMap(Rules.leakyImports))
  }

  @Test func `players and receivers know no terminal`() throws {
    let files = try ["Sources/Service", "Sources/ReceiverDriver"].flatMap(SourceTree.files)
    #expect(files.count > 10)
    Self.expectNone(files.flatMap(Rules.importsOfPrograms))
  }

  @Test func `adapters stand alone, and each C library has one`() throws {
    let files = try SourceTree.files(in: "Sources")
    Self.expectNone(Rules.adaptersThatImportAdapters(files))
    Self.expectNone(Rules.sharedLibraries(files, shims: Self.shims))
  }

  @Test func `what the C shims of FFmpeg include is installed by the setup`() throws {
    let packages = try SourceTree.text("scripts/setup.sh").split { $0.isWhitespace || $0 == "\"" }
    let shims = ["CFFmpeg", "CAVCodec"].flatMap { SourceTree.paths(in: "Sources/CShims/\($0)") }
      .filter { $0.hasSuffix(".c") || $0.hasSuffix(".h") }
    let included = try Set(
      shims.flatMap { try SourceTree.text($0).matches(of: /#include <(lib(?:av|sw)\w+)\//) }
        .map { "\($0.1)-dev" })
    #expect(included.count >= 5)
    Self.expectNone(included.filter { name in !packages.contains { $0 == name } })
  }

  @Test func `nothing is forced, unchecked or public`() throws {
    let files = try SourceTree.files(in: "Sources")
    Self.expectNone(files.flatMap { Rules.dangerousWords($0) })
    Self.expectNone(files.flatMap(Rules.publicDeclarations))
  }

  @Test func `no text is compared for a state`() throws {
    Self.expectNone(
      try SourceText.all(in: "Sources", endings: ["swift"]).flatMap(Rules.stringStates))
  }

  @Test func `all states are known to the rule that finds them as text`() throws {
    let cases = Set(try SourceTree.files(in: "Sources").flatMap(Rules.stateCases))
    #expect(cases.count > 20)
    let known = Rules.stateWords + Rules.ambiguousStates
    Self.expectNone(cases.subtracting(known).sorted())
  }

  @Test func `files and functions keep to their sizes`() throws {
    let files = try SourceTree.files(in: "Sources") + SourceTree.files(in: "Tests")
    Self.expectNone(files.flatMap(Rules.oversizedFiles))
    Self.expectNone(files.flatMap(Rules.oversizedFunctions))
  }

  @Test func `each constant of time has a reason`() throws {
    Self.expectNone(try SourceTree.files(in: "Sources").flatMap(Rules.unexplainedTimes))
  }

  @Test func `comments with a vague opening become fewer`() throws {
    let files = try SourceTree.paths(in: "Sources").filter { path in
      [".swift", ".c", ".h", ".js"].contains { path.hasSuffix($0) }
    }.map { SourceTree.File(path: $0, text: try SourceTree.text($0)) }
    let found = files.flatMap(Rules.vagueOpenings)
    #expect(
      found.count <= Rules.openingLimit,
      "\(found.count) comments begin with What, Whether, Of or By: say who does what")
    if found.count < Rules.openingLimit {
      print("Rules.openingLimit can be lowered to \(found.count)")
    }
  }

  @Test func `code in the library's articles is that of the examples`() throws {
    let examples = try SourceTree.files(in: "Examples/Sources")
    let articles = SourceTree.paths(in: "Sources/Tutti/Tutti.docc").filter { $0.hasSuffix(".md") }
    #expect(articles.count > 3)
    for path in articles + ["README.md"] {
      Self.expectNone(Rules.unprovenCode(try SourceTree.text(path), in: examples))
    }
  }

  @Test func `vectors are named and decisions are numbered`() throws {
    let documents = SourceTree.paths(in: "docs/protocol").filter { $0.hasSuffix(".md") }
    #expect(!documents.isEmpty)
    let text = try documents.map(SourceTree.text).joined(separator: "\n")
    Self.expectNone(Rules.badVectorNames(text))
    let decisions = SourceTree.paths(in: "docs/adr").map { String($0.dropFirst(9)) }
    Self.expectNone(Rules.badDecisionNames(decisions))
  }
}
