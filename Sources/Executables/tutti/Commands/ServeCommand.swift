import ArgumentParser
import Driver
import LinuxIO
import Service

struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serves a household: many groups of rooms, and queues that last.",
    discussion: """
      While it runs, the other commands work through it: tutti play returns at once,
      and the music plays on when the terminal is closed. Groups, queues and
      positions survive its end.

      Each option can also stand in the configuration file, as a line such as: port =
      8770 The file is /etc/tutti/tutti.conf, else ~/.config/tutti/tutti.conf.

      Examples:
        tutti serve
        tutti serve --library /srv/music --name Home
        tutti serve --config my.conf --resume no
      """)
  @Option(
    help: .init("In the place of /etc/tutti/tutti.conf.", valueName: "file"), completion: .file())
  var config: String?
  @Option(
    help: .init("What rooms and pages call it (default: this machine's name).", valueName: "name"))
  var name: String?
  @Option(help: .init("Of the page and the HTTP interface (default: 8770).", valueName: "port"))
  var port: String?
  @Option(
    help: .init("Only at these addresses of this machine, with commas.", valueName: "addresses"))
  var listen: String?
  @Option(help: .init("What programs must know; better in the file.", valueName: "token"))
  var token: String?
  @Option(
    help: .init(
      "Whether guests, who are not paired, may steer music: yes or no (default: as the page says).",
      valueName: "yes|no"),
    completion: .list(["yes", "no"]))
  var open: String?
  @Option(
    help: .init("Further names under which the page is opened, with commas.", valueName: "names"))
  var hosts: String?
  @Option(
    help: .init("A folder with music; may be given several times.", valueName: "folder"),
    completion: .directory)
  var library: [String] = []
  @Option(
    help: .init(
      "Whether music goes on that played at the end: yes or no (default: yes).", valueName: "yes|no"
    ),
    completion: .list(["yes", "no"]))
  var resume: String?
  @Option(
    help: .init("Where all is kept (default: ~/.local/state/tutti).", valueName: "dir"),
    completion: .directory)
  var stateDir: String?
  @Option(
    help: .init(
      "Takes commands here as well, of the group that this file's folder has.", valueName: "file"))
  var socket: String?
  @Option(help: "auto, pcm, flac or opus.")
  var codec = CodecOption.auto

  func run() throws {
    try reporting {
      let configuration = try configured()
      let state = try StateDirectory(configuration.stateDirectory)
      try refuseSecond(of: state)
      let encoding = try EncoderChoice(codec: codec, bitrate: nil, packetLength: 20)
      try HouseProgram(configuration, state: state, encoding: encoding).run()
    }
  }

  private func refuseSecond(of state: StateDirectory) throws {
    let client = ControlClient(.init(path: state.controlSocket), isQuiet: true)
    guard let answer = try client.askIfRunning(.groups) else { return }
    throw Failure(
      .unavailable,
      answer.groups == nil
        ? "a player runs with \(state.path); end it with: tutti stop"
        : "a daemon serves \(state.path) already; play with: tutti play FILE; end it with: tutti stop --daemon"
    )
  }

  private func configured() throws -> HouseConfiguration {
    var configuration = try ConfigurationFile.read(config)
    let options: [(HouseConfiguration.Key, [String])] = [
      (.name, [name].compactMap { $0 }), (.port, [port].compactMap { $0 }),
      (.listen, [listen].compactMap { $0 }), (.token, [token].compactMap { $0 }),
      (.open, [open].compactMap { $0 }),
      (.hosts, [hosts].compactMap { $0 }), (.library, library.map(MediaPaths.absolute)),
      (.resume, [resume].compactMap { $0 }),
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

  private static var own: String {
    (Environment["XDG_CONFIG_HOME"] ?? (Environment["HOME"] ?? "/root") + "/.config")
      + "/tutti/tutti.conf"
  }

  /// - Parameter given: the file to read; nil for the system's, else the user's. Neither of those two
  ///   has to exist.
  static func read(_ given: String?) throws -> HouseConfiguration {
    var configuration = HouseConfiguration()
    for path in given.map({ [$0] }) ?? [system, own] {
      let bytes: [UInt8]?
      do {
        bytes = try StateFile(path: path).read(limit: HouseConfiguration.sizeLimit)
      } catch {
        throw Failure(.usage, "the configuration cannot be read: \(error)")
      }
      if let bytes {
        try configuration.read(String(decoding: bytes, as: UTF8.self), from: path)
        return configuration
      }
      if given != nil { throw Failure(.usage, "there is no configuration file \(path)") }
    }
    return configuration
  }
}
