import Foundation

/// The rules of the source tree. Each returns its violations: a path, a line and the problem.
enum Rules {
  typealias File = SourceTree.File

  // MARK: - Core

  /// Core is pure: it has no files, sockets, clocks, tasks, logs, or randomness of its own.
  static let impureImports = [
    "Foundation", "Glibc", "Dispatch", "Logging", "ArgumentParser", "CSys",
    "CALSA", "CAvahi", "CAVCodec", "COpus", "CFLAC", "CFFmpeg", "CSQLite",
    "COpenSSL", "CExpat", "CMPRIS",
  ]
  static let impureWords = [
    "ContinuousClock", "SuspendingClock", "Date(", "SystemRandomNumberGenerator", "Task {",
    "Task.", "Task(", "print(", "Logger", "ProcessInfo", "FileManager", "DispatchQueue",
    "withLock", "Mutex<", " actor ", "async ", "await ",
  ]

  static func impurity(_ file: File) -> [String] {
    guard file.isCore else { return [] }
    let imports = file.imports.filter(impureImports.contains).map { "\(file.path): imports \($0)" }
    let words = find(impureWords, in: file)
    return imports + words + unseededRandomness(file)
  }

  /// Finds random values drawn without `using:`, which come from the system.
  private static func unseededRandomness(_ file: File) -> [String] {
    lines(of: file) { line in
      guard !line.contains("using:") else { return false }
      return drawsFromType(line)
        || ["shuffled()", "shuffle()", "randomElement()"].contains { line.contains($0) }
    }
  }

  /// True for `Int.random(in:)`, false for a method of one of our generators.
  private static func drawsFromType(_ line: String) -> Bool {
    guard let call = line.firstRange(of: ".random(") else { return false }
    let name = line[..<call.lowerBound].reversed().prefix { $0.isLetter || $0.isNumber }
    return name.last?.isUppercase ?? false
  }

  // MARK: - Imports

  /// Finds imports of our modules that Package.swift does not declare as dependencies of the target.
  static func undeclaredImports(_ file: File, declared: [String: Set<String>]) -> [String] {
    guard let allowed = declared[file.module] else { return [] }
    let ours = Set(declared.keys)
    return file.imports.filter { ours.contains($0) && !allowed.contains($0) }
      .map { "\(file.path): imports \($0)" }
  }

  /// Core modules have an order: each may import only those before it, and the two sides never import each other.
  static func upwardDependencies(_ declared: [String: Set<String>]) -> [String] {
    var found: [String] = []
    for (place, module) in SourceTree.core.enumerated() {
      let below = Set(SourceTree.core[..<place])
      for dependency in (declared[module] ?? []).subtracting(below).sorted() {
        found.append("\(module) depends on \(dependency)")
      }
    }
    for (one, other) in [("Sender", "Receiver"), ("Receiver", "Sender")]
    where declared[one]?.contains(other) == true { found.append("\(one) depends on \(other)") }
    return found
  }

  /// Modules above the adapters, with the modules that may import each. Programs are at the top, and nothing imports
  /// the library. Test support is for tests.
  static let importers = [
    "Driver": ["Driver", "Library", "Service", "Tutti", "WebAPI", "tutti"],
    "MPD": ["MPD", "tutti"],
    "Service": ["Service", "WebAPI", "MPD", "Library", "tutti"], "WebAPI": ["WebAPI", "tutti"],
    "Library": ["Library", "tutti"],
    "ReceiverDriver": ["ReceiverDriver", "Tutti", "tutti-receiver"],
    "Output": ["Output", "ALSAOutput", "Driver", "ReceiverDriver", "Tutti", "tutti-receiver"],
    "Tutti": ["Tutti", "TuttiC"], "TestSupport": [],
  ]

  static func importsFromBelow(_ file: File) -> [String] {
    file.imports.compactMap { name in
      guard let allowed = importers[name], !allowed.contains(file.module) else { return nil }
      return "\(file.path): imports \(name)"
    }
  }

  /// The library's public interface is its own: none of the modules below shows in it, and nobody needs Foundation for
  /// it.
  static func leakyImports(_ file: File) -> [String] {
    guard file.module == "Tutti" else { return [] }
    return file.lines.enumerated().filter { line in
      let words = line.element.split(separator: " ")
      guard let place = words.firstIndex(of: "import") else { return false }
      return words[..<place] != ["internal"] || words.last == "Foundation"
    }.map { "\(file.path):\($0.offset + 1): \($0.element)" }
  }

  /// Player and receiver work without a terminal, so that any program can contain one. Foundation would pull ICU into
  /// each.
  static func importsOfPrograms(_ file: File) -> [String] {
    var kept = ["ArgumentParser", "Foundation", "FoundationEssentials", "Logging"]
    switch file.module {
    case "Service": kept.append("Glibc")
    case "ReceiverDriver": break
    default: return []
    }
    return file.imports.filter(kept.contains).map { "\(file.path): imports \($0)" }
  }

  static func adaptersThatImportAdapters(_ files: [File]) -> [String] {
    let adapters = Set(files.filter(\.isAdapter).map(\.module))
    return files.filter(\.isAdapter).flatMap { file in
      file.imports.filter { adapters.contains($0) && $0 != file.module }
        .map { "\(file.path): imports \($0)" }
    }
  }

  static func sharedLibraries(_ files: [File], shims: [String]) -> [String] {
    shims.compactMap { shim in
      let users = Set(files.filter { $0.imports.contains(shim) }.map(\.module))
      return users.count > 1 ? "\(shim) is imported by \(users.sorted())" : nil
    }
  }

  // MARK: - Words

  /// Files that may contain unchecked claims: rings between two threads, the thread itself, and the hand-over to
  /// threads.
  static let uncheckedFiles = [
    "Sources/Audio/FrameRing.swift", "Sources/Receiver/Render/RenderQueues.swift",
    "Sources/Adapters/LinuxIO/RealtimeThread.swift",
  ]

  static func dangerousWords(_ file: File, allowing allowed: [String] = uncheckedFiles) -> [String]
  {
    let isAllowed = allowed.contains(file.path)
    return find(["try!", "fatalError(", "as!", "unowned(unsafe)"], in: file)
      + (isAllowed ? [] : find(["@unchecked", "nonisolated(unsafe)"], in: file))
  }

  /// States of rooms, groups, receivers and alarms, and the channels that a room plays. They are cases of enums, and no text
  /// is compared with them.
  static let stateWords = [
    "away", "buffering", "busy", "connecting", "finished", "free", "left", "missed", "mono",
    "noDevice", "notPaired", "paused", "playing", "priming", "ready", "right", "ringing", "snoozed",
    "starting", "starved", "stereo", "stopped", "taken", "unknown", "waiting",
  ]
  /// States that are also something else: a command of MPD, and an option that is switched off.
  static let ambiguousStates = ["idle", "off"]

  /// Cases of enums whose names say that they are states, and which are texts to programs.
  static func stateCases(_ file: File) -> [String] {
    file.code.enumerated().flatMap { number, line -> [String] in
      guard line.contains("enum "), line.contains("State: String") else { return [] }
      let end = String(line.prefix { $0 == " " }) + "}"
      let body =
        line.hasSuffix("}") ? [line] : Array(file.code[(number + 1)...].prefix { $0 != end })
      return body.flatMap { line in
        guard let start = line.firstRange(of: "case "), !line.contains("case .") else {
          return [String]()
        }
        return line[start.upperBound...].split { ", }".contains($0) }.map(String.init)
      }
    }
  }

  /// Lines that compare or set a state as text: `state == "…"`, `case "away"`, `["away"].contains(…)`.
  static func stringStates(_ file: SourceText) -> [String] {
    let quoted = stateWords.map { "\"\($0)\"" }
    let named = ["state", "access", "connection"].flatMap { name in
      ["==", "!=", "="].map { "\(name) \($0) \"" } + ["\(name): \""]
    }
    let lines = Set((quoted + named).flatMap(file.places).map(file.line(at:)))
    return lines.filter { isStateAsText($0.text) }.sorted { $0.number < $1.number }
      .map { "\(file.path):\($0.number): \($0.text)" }
  }

  private static func isStateAsText(_ line: String) -> Bool {
    guard !SourceText.isComment(line) else { return false }
    let words = stateWords.joined(separator: "|")
    let patterns = [
      #"\b(state|access|connection)( ==| !=| =|:) "(?!\\)"#, #"[!=]= "(\#(words))""#,
      #"case ("[^"]*", )*"(\#(words))""#, #""(\#(words))".*\]\.contains\("#,
    ]
    return patterns.contains { line.range(of: $0, options: .regularExpression) != nil }
  }

  static func publicDeclarations(_ file: File) -> [String] {
    // The functions of tutti.h are called from outside, too.
    let seen = ["Sources/Tutti/", "Sources/TuttiC/"]
    guard file.path.hasPrefix("Sources/"), !seen.contains(where: file.path.hasPrefix) else {
      return []
    }
    return find(["public ", "open class"], in: file)
  }

  // MARK: - Sizes

  static func oversizedFiles(_ file: File) -> [String] {
    let limit = file.isTest ? 800 : 500
    return file.lines.count > limit ? ["\(file.path): \(file.lines.count) lines"] : []
  }

  /// Finds functions, initialisers and accessors of more than 70 lines, by the formatter's indentation.
  static func oversizedFunctions(_ file: File) -> [String] {
    var found: [String] = []
    for (number, line) in file.lines.enumerated() {
      guard isFunction(file.code[number]) else { continue }
      let indentation = line.prefix { $0 == " " }
      let end = file.lines[(number + 1)...].firstIndex {
        $0.hasPrefix("\(indentation)}") || ($0.hasSuffix("}") && $0 == line)
      }
      if let end, end - number + 1 > 70, !line.hasSuffix("}") {
        found.append("\(file.path):\(number + 1): \(end - number + 1) lines")
      }
    }
    return found
  }

  private static func isFunction(_ code: String) -> Bool {
    guard ["func", "init"].contains(where: code.contains) else { return false }
    let words = code.split { " (<?".contains($0) }
    return words.contains("func") || words.contains("init") || words.contains("deinit")
  }

  /// Constants that are times, and that neither a comment of their own nor one of the constants above them explains.
  static func unexplainedTimes(_ file: File) -> [String] {
    var isExplained = false
    return file.lines.enumerated().compactMap { index, line in
      let line = line.drop { $0 == " " }
      if line.hasPrefix("//") {
        isExplained = true
        return nil
      }
      guard line.contains("static let "), line.contains(#/^(\w+ )*static let /#) else {
        isExplained = false
        return nil
      }
      let isTime = line.contains(#/= .*(Nanoseconds|Duration|Interval|TimeAmount)\.\w+\(\d/#)
      return isTime && !isExplained ? "\(file.path):\(index + 1): \(line)" : nil
    }
  }

  // MARK: - Documents

  /// Relative links of a document to files that are not there. Headings within a file are not looked for.
  static func deadLinks(_ document: File, exists: (String) -> Bool) -> [String] {
    let folder = document.path.split(separator: "/").dropLast()
    func path(of link: String) -> String {
      (folder + link.split(separator: "/")).reduce(into: [Substring]()) { parts, part in
        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
      }.joined(separator: "/")
    }
    return document.lines.enumerated().flatMap { number, line in
      line.matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/).map { String($0.1) }
        .filter { !exists(path(of: $0)) }
        .map { "\(document.path):\(number + 1): \($0)" }
    }
  }

  /// Every vector of the specification has a name of its own that begins with its channel.
  static func badVectorNames(_ document: String) -> [String] {
    var seen: Set<String> = []
    var found: [String] = []
    for line in document.split(separator: "\n") where line.hasPrefix("```hex") {
      let name = String(line.dropFirst(6)).trimmingPrefix(" ")
      let isNamed = ["control.", "daemon.", "journal.", "live.", "media.", "pairing.", "time."]
        .contains {
          name.hasPrefix($0)
        }
      if !isNamed || !seen.insert(String(name)).inserted { found.append(String(line)) }
    }
    return found
  }

  /// Decisions are numbered with four digits, each number once.
  static func badDecisionNames(_ names: [String]) -> [String] {
    var seen: Set<Substring> = []
    return names.filter { name in
      let number = name.prefix(4)
      let isNumbered =
        number.count == 4 && number.allSatisfy(\.isNumber)
        && name.dropFirst(4).hasPrefix("-") && name.hasSuffix(".md")
      return !isNumbered || !seen.insert(number).inserted
    }
  }

  /// Finds Swift code in an article that no example contains, so that nothing proves that it compiles.
  static func unprovenCode(_ document: String, in examples: [File]) -> [String] {
    let code = examples.map { $0.lines.joined(separator: "\n") }
    return document.components(separatedBy: "```swift\n").dropFirst().flatMap { part in
      let block = part.components(separatedBy: "```")[0]
      return block.components(separatedBy: "\n\n").filter { piece in
        let piece = piece.trimmingCharacters(in: .newlines)
        return !code.contains { $0.contains(piece) }
      }
    }
  }

  /// Comments in `Sources` that begin with one of `openings`. This number only falls: whoever rewrites some lowers it.
  static let openingLimit = 0

  /// Words with which a comment seldom says who does what.
  private static let openings: Set<Substring> = ["What", "Whether", "Of", "By"]

  /// Lines of comment that begin with one of `openings`.
  static func vagueOpenings(_ file: File) -> [String] {
    file.lines.enumerated().compactMap { index, line in
      let words = line.split { !$0.isLetter && $0 != "/" }
      guard words.count > 1, ["//", "///"].contains(words[0]), openings.contains(words[1]) else {
        return nil
      }
      return "\(file.path):\(index + 1):\(line)"
    }
  }

  // MARK: - Parts

  private static func find(_ words: [String], in file: File) -> [String] {
    words.flatMap { word in lines(of: file) { $0.contains(word) }.map { "\($0) \(word)" } }
  }

  private static func lines(of file: File, where isWrong: (String) -> Bool) -> [String] {
    file.code.enumerated().filter { isWrong($0.element) }.map { "\(file.path):\($0.offset + 1):" }
  }
}
