import ArgumentParser
import Clock
import Driver
import Glibc
import LinuxIO
import Service

struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs a household's daemon: groups of rooms, saved queues and a web page.",
    discussion: """
      While the daemon runs, the other commands go through it: tutti play returns at
      once, and the music does not stop when the terminal is closed.
      Groups, queues and positions are kept when the daemon ends.

      Each option can also be a line of the configuration file, such as: port = 8770
      The daemon reads /etc/tutti/tutti.conf or, if that is missing,
      ~/.config/tutti/tutti.conf.

      Examples:
        tutti serve
        tutti serve --library /srv/music --name Home
        tutti serve --config my.conf --resume no
        tutti serve --second yes                  a second machine may join
        tutti serve --with music.local            on that machine, once it has joined
        tutti serve --record house.txt            what tutti-simulate --replay plays
      """)
  @Option(
    help: .init("Configuration file to read instead of /etc/tutti/tutti.conf.", valueName: "file"),
    completion: .file())
  var config: String?
  @Option(
    help: .init(
      "Name of the household, which rooms and pages show (default: this machine's name).",
      valueName: "name"))
  var name: String?
  @Option(
    help: .init("Port of the page and the HTTP interface (default: 8770).", valueName: "port"))
  var port: String?
  @Option(
    help: .init(
      "Addresses of this machine to listen on, separated by commas (default: all).",
      valueName: "addresses"))
  var listen: String?
  @Option(
    help: .init(
      "Token for programs. Other users can see options, so set it in the file.", valueName: "token")
  )
  var token: String?
  @Option(
    help: .init(
      "Let guests, who are not paired, control the music: yes or no (default: the switch on the page).",
      valueName: "yes|no"),
    completion: .list(["yes", "no"]))
  var open: String?
  @Option(
    help: .init(
      "More host names under which browsers open the page, separated by commas.", valueName: "names"
    ))
  var hosts: String?
  @Option(
    help: .init("A folder with music; can be given several times.", valueName: "folder"),
    completion: .directory)
  var library: [String] = []
  @Option(
    help: .init(
      "A folder from which the page may choose more of them; can be given several times.",
      valueName: "folder"),
    completion: .directory)
  var foldersFrom: [String] = []
  @Option(
    help: .init(
      "At the start, resume what played when the daemon ended: yes or no (default: yes).",
      valueName: "yes|no"
    ),
    completion: .list(["yes", "no"]))
  var resume: String?
  @Option(
    help: .init(
      "Command that speaks announcements (default: espeak-ng --stdout --stdin).",
      valueName: "command"))
  var voice: String?
  @Option(
    help: .init(
      "Answer clients of MPD: yes, which is port 6600, another port, or no (default: no).",
      valueName: "port"))
  var mpd: String?
  @Option(
    help: .init(
      "Let media keys, desktops and playerctl steer the groups, through the session bus (MPRIS): yes or no (default: no).",
      valueName: "yes|no"),
    completion: .list(["yes", "no"]))
  var mpris: String?
  @Option(
    help: .init(
      "Folder for queues, pairings and settings (default: ~/.local/state/tutti).", valueName: "dir"),
    completion: .directory)
  var stateDir: String?
  @Option(
    help: .init(
      "Another socket for commands, open to the system group that owns its folder.",
      valueName: "file"))
  var socket: String?
  @Option(
    help: .init(
      "Let another machine go on with the household if this one fails: yes, which is port 8771, another port, or no (default: no).",
      valueName: "port"))
  var second: String?
  @Option(
    help: .init(
      "The machine of the household's first daemon, with which this one has been joined.",
      valueName: "host"))
  var with: String?
  @Option(
    help: .init(
      "Write what happens to the household to this file, in lines that tutti-simulate plays.",
      valueName: "file"),
    completion: .file())
  var record: String?
  @Option(help: "How audio is sent to the rooms: auto, pcm, flac or opus.")
  var codec = CodecOption.auto

  @Option(help: .hidden)
  var wallOffset: Int64?
  @Option(help: .hidden)
  var alarmLead: Int64?

  func run() throws {
    try reporting {
      let configuration = try configured()
      let state = try StateDirectory(configuration.stateDirectory)
      try refuseSecond(of: state)
      let encoding = try EncoderChoice(codec: codec, bitrate: nil, packetLength: 20)
      if try run(configuration, state, encoding) { try ProcessImage.renew() }
    }
  }

  /// Returns true if the configuration has changed so that a new process must go on. All that the old one has open is closed
  /// then.
  private func run(
    _ configuration: HouseConfiguration, _ state: StateDirectory, _ encoding: EncoderChoice
  ) throws -> Bool {
    var configuration = configuration
    var lead: HouseLead?
    if let second = try SecondDaemon(configuration, state) {
      guard let term = try HouseStandby(second, configuration, state: state).run() else {
        return false
      }
      lead = HouseLead(term: term, second: second)
      configuration.name = configuration.name ?? second.other.name
    }
    let name = configuration.name
    let program = try HouseProgram(
      configuration, state: state, encoding: encoding, alarms: alarms,
      file: .init(places: ConfigurationFile.places(config)) {
        var configuration = try configured()
        configuration.name = configuration.name ?? name
        return configuration
      }, lead: lead)
    return try program.run()
  }

  /// In seconds, of at most a century.
  private var alarms: HouseProgram.AlarmClock {
    let century: Int64 = 3_200_000_000
    return .init(
      offset: .seconds(min(max(wallOffset ?? 0, -century), century)),
      lead: alarmLead.map { .seconds(min(max($0, 0), 3_600)) })
  }

  private func refuseSecond(of state: StateDirectory) throws {
    let client = ControlClient(.init(path: state.controlSocket), isQuiet: true)
    guard let answer = try client.askIfRunning(.groups) else { return }
    throw Failure(
      .unavailable,
      answer.groups == nil
        ? "a player already uses \(state.path); stop it with: tutti stop"
        : "a daemon already uses \(state.path); play with: tutti play FILE; end it with: tutti stop --daemon"
    )
  }

  private func configured() throws -> HouseConfiguration {
    var configuration = try ConfigurationFile.read(config)
    let options: [(HouseConfiguration.Key, [String])] = [
      (.name, [name].compactMap { $0 }), (.port, [port].compactMap { $0 }),
      (.listen, [listen].compactMap { $0 }), (.token, [token].compactMap { $0 }),
      (.open, [open].compactMap { $0 }),
      (.hosts, [hosts].compactMap { $0 }), (.library, library.map(MediaPaths.absolute)),
      (.foldersFrom, foldersFrom.map(MediaPaths.absolute)),
      (.resume, [resume].compactMap { $0 }), (.voice, [voice].compactMap { $0 }),
      (.second, [second].compactMap { $0 }), (.with, [with].compactMap { $0 }),
      (.mpd, [mpd].compactMap { $0 }), (.mpris, [mpris].compactMap { $0 }),
      (.record, [record].compactMap { $0 }.map(MediaPaths.absolute)),
      (.socket, [socket].compactMap { $0 }.map(MediaPaths.absolute)),
      (.stateDirectory, [stateDir].compactMap { $0 }.map(MediaPaths.absolute)),
    ]
    for (key, values) in options where !values.isEmpty {
      configuration.clear(key)
      for value in values {
        do {
          try configuration.set(key, to: value)
        } catch {
          throw Failure(.usage, "--\(key.rawValue) \(value): \(error)")
        }
      }
    }
    return configuration
  }
}

/// The daemon's configuration file.
enum ConfigurationFile {
  private static let system = "/etc/tutti/tutti.conf"
  /// Where the daemon of the package takes commands.
  static let systemSocket = "/run/tutti/control.sock"
  /// True if there is a file that the daemon reads, and this user may not read it.
  static func isClosed(_ given: String?) -> Bool {
    let path = places(given).first { access($0, F_OK) == 0 }
    return path.map { access($0, R_OK) != 0 } ?? false
  }

  /// Where it may be; the first that is there counts.
  static func places(_ given: String?) -> [String] {
    given.map { [MediaPaths.absolute($0)] } ?? [system, own]
  }

  private static var own: String {
    (Environment["XDG_CONFIG_HOME"] ?? (Environment["HOME"] ?? "/root") + "/.config")
      + "/tutti/tutti.conf"
  }

  /// - Parameter given: the file to read; nil for the system's, else the user's. Neither of those two
  ///   has to exist.
  static func read(_ given: String?) throws -> HouseConfiguration {
    var configuration = HouseConfiguration()
    guard let (path, text) = try find(given) else { return configuration }
    try configuration.read(text, from: path)
    return configuration
  }

  /// The file that the daemon reads, and what it has; nil if there is none yet.
  private static func find(_ given: String?) throws -> (path: String, text: String)? {
    for path in given.map({ [$0] }) ?? [system, own] {
      let bytes: [UInt8]?
      do {
        bytes = try StateFile(path: path).read(limit: HouseConfiguration.sizeLimit)
      } catch {
        throw Failure(.usage, "the configuration cannot be read: \(error)")
      }
      if let bytes { return (path, String(decoding: bytes, as: UTF8.self)) }
      if given != nil { throw Failure(.usage, "there is no configuration file \(path)") }
    }
    return nil
  }

  /// The path of the file that the daemon reads, or would read once there is one.
  static func place(_ given: String?) throws -> String {
    try given.map(MediaPaths.absolute) ?? find(nil)?.path ?? own
  }

  /// Adds lines to the end of the file, or makes it. Nothing is written unless the daemon can read the whole.
  ///
  /// - Parameter prepare: writes what the lines name.
  static func append(
    _ lines: [String], to path: String, after prepare: () throws(IOError) -> Void
  ) throws {
    let bytes: [UInt8]?
    do {
      bytes = try StateFile(path: path).read(limit: HouseConfiguration.sizeLimit)
    } catch {
      throw Failure(.usage, "the configuration cannot be read: \(error)")
    }
    let before = String(decoding: bytes ?? [], as: UTF8.self)
    let gap = before.isEmpty ? "" : before.hasSuffix("\n") ? "\n" : "\n\n"
    let text = before + gap + lines.map { $0 + "\n" }.joined()
    guard text.utf8.count <= HouseConfiguration.sizeLimit else {
      throw Failure(.usage, "\(path) would be too long")
    }
    var configuration = HouseConfiguration()
    try configuration.read(text, from: path)
    do {
      if bytes == nil, let slash = path.lastIndex(of: "/") {
        try StateFile.createDirectory(path: String(path[..<slash]))
      }
      try prepare()
      try StateFile(path: path).rewrite(Array(text.utf8))
    } catch {
      throw Failure(.output, "nothing was added: \(error)")
    }
  }
}
