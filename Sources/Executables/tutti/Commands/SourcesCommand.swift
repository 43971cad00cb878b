import ArgumentParser
import Glibc
import House
import LinuxIO
import ProgramJSON
import Sender
import Service
import WireProtocol

struct SourcesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sources", abstract: "Lists a daemon's inputs, and adds phones and services.",
    discussion: """
      An input gets its sound from a card, from a pipe, or from a program that the
      daemon runs, such as shairport-sync for AirPlay.
      The page shows them beside the radio stations.

      Examples:
        tutti sources
        tutti sources add airplay
        tutti sources add spotify --name 'Living room'
      """,
    subcommands: [ListSourcesCommand.self, AddSourceCommand.self],
    defaultSubcommand: ListSourcesCommand.self)
}

struct ListSourcesCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the inputs, and how they are.",
    discussion: "Example:\n  tutti sources list --json")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .inputs }

  func show(_ answer: ControlAnswer) throws {
    guard let inputs = answer.inputs else {
      throw Failure(.unavailable, "only a daemon has inputs: tutti serve")
    }
    if common.json {
      for input in inputs { try printJSON(input) }
      return
    }
    guard !inputs.isEmpty else {
      return try printLine("no input yet; add one with: tutti sources add airplay")
    }
    let columns = ["name", "from", "state", "begins in"].map {
      TextTable.Column(title: $0, isCuttable: $0 == "state")
    }
    let rows = inputs.map { input in
      [input.name, input.kind, Self.state(of: input), input.onSound ?? ""].map {
        StyledText($0.shownPlainly)
      }
    }
    for line in TextTable(columns: columns, rows: rows)
      .lines(width: TerminalText.columns(of: STDOUT_FILENO))
    {
      try printLine(line)
    }
  }

  private static func state(of input: HouseState.Input) -> String {
    if let problem = input.problem { return problem }
    guard let level = input.levelDb else { return "is closed" }
    return level > -70 ? "sounds, \(Int(level)) dB" : "is silent"
  }
}

struct AddSourceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Writes an input into the daemon's configuration file.",
    discussion: """
      airplay runs shairport-sync, spotify librespot, bluetooth arecord with
      bluez-alsa, and dlna gmediarender. It says which of them is missing.

      Examples:
        sudo tutti sources add airplay
        sudo tutti sources add airplay --name 'Living room' --on-sound 'Living room'
        tutti sources add dlna --config my.conf
      """)
  @Argument(
    help: "One of: \(SourceRecipe.allCases.map(\.rawValue).joined(separator: ", ")).",
    completion: .list(SourceRecipe.allCases.map(\.rawValue)))
  var kind: String
  @Option(help: .init("Its name, also on phones (default: such as AirPlay).", valueName: "name"))
  var name: String?
  @Option(
    help: .init("A group or room that begins to play it when it sounds.", valueName: "room"))
  var onSound: String?
  @Option(
    help: .init("The daemon's configuration file, if it is another one.", valueName: "file"),
    completion: .file())
  var config: String?

  func run() throws {
    try reporting {
      guard let recipe = SourceRecipe(rawValue: kind) else {
        let all = SourceRecipe.allCases.map(\.rawValue).joined(separator: ", ")
        throw Failure(.usage, "there is no \(kind) to add; there are: \(all)")
      }
      try add(recipe, try checked(name ?? recipe.usualName), onSound: try onSound.map(checked))
    }
  }

  /// A name goes into lines of two files.
  private func checked(_ name: String) throws -> String {
    let allowed = name.unicodeScalars.allSatisfy { scalar in
      scalar.value >= 0x20 && !"\"\\[]#;%\u{7f}".unicodeScalars.contains(scalar)
    }
    guard allowed, (1...48).contains(name.utf8.count), name == name.shownPlainly,
      name.first?.isWhitespace == false, name.last?.isWhitespace == false
    else {
      throw Failure(
        .usage, "a name has at most 48 bytes, none of them \" \\ [ ] # ; % or a control character")
    }
    return name
  }

  private func add(_ recipe: SourceRecipe, _ name: String, onSound: String?) throws {
    let place = try ConfigurationFile.place(config)
    let folder = place.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let path = folder.joined(separator: "/") + "/\(recipe.rawValue)-\(Self.fileName(name)).conf"
    let settings = recipe.settingsFile(named: name)
    let lines =
      recipe.section(named: name, settings: settings.map { _ in path })
      + (onSound.map { ["on-sound = \($0)"] } ?? [])
    try ConfigurationFile.append(lines, to: place) { () throws(IOError) in
      guard let settings else { return }
      try StateFile(path: path).show(Array(settings.map { $0 + "\n" }.joined().utf8))
    }
    try printLine("\(place) has these lines now:")
    for line in lines { try printLine("    " + line) }
    if settings != nil { try printLine("\(path) has the settings of \(recipe.program)") }
    for (program, cure) in recipe.missing { try printLine("\(program) is missing: \(cure)") }
    if SystemService.isEnabled(recipe.program) {
      try printLine(
        "the system runs \(recipe.program), too, on the same port: "
          + "sudo systemctl disable --now \(recipe.program)")
    }
    try printLine("a daemon that runs begins anew with them by itself, and its music goes on")
  }

  /// Letters and digits.
  private static func fileName(_ name: String) -> String {
    String(name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
  }
}

/// Called by librespot at each event: writes it as a line into the pipe that the daemon has made. Not for people.
struct EventOfCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "event-of", abstract: "Tells the daemon of an event of librespot.",
    shouldDisplay: false)
  @Argument var program: String

  /// The descriptor that the daemon gives to the programs of inputs.
  private static let pipe: Int32 = 3

  func run() throws {
    try reporting {
      guard program == SourceRecipe.spotify.program else {
        throw Failure(.usage, "only the events of librespot are known")
      }
      guard let line = LibrespotEvent.line({ Environment[$0] }) else { return }
      var rest = line[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(Self.pipe, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Failure(.output, "the daemon's pipe is not there") }
        rest = rest.dropFirst(count)
      }
    }
  }
}
