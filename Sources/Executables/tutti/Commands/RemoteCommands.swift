import ArgumentParser
import Driver
import House
import LinuxIO
import Sender
import Service

/// A command that sends one request to a running player and prints the result.
protocol RemoteCommand: ParsableCommand {
  var common: CommonOptions { get }
  func request() throws -> ControlRequest
  func show(_ answer: ControlAnswer) throws
}

extension RemoteCommand {
  func run() throws {
    try reporting {
      let state = try common.state()
      try show(try common.client(state).ask(try request()))
    }
  }

  func show(_ answer: ControlAnswer) throws { try common.show(answer) }
}

extension CommonOptions {
  /// Prints the answer. With `--json`, prints the list if the command was about the list, otherwise the player's
  /// state; without, prints a short sentence.
  func show(_ answer: ControlAnswer) throws {
    if json, let queue = answer.queue {
      for entry in queue { try printJSON(entry) }
    } else if json {
      if let status = answer.status { try printJSON(status) }
    } else if let done = answer.done {
      for line in done.split(separator: "\n") { try printLine(String(line)) }
    }
  }
}

struct PauseCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pauses the music of a group, in all its rooms.",
    discussion: "Example:\n  tutti pause")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .transport(.pause) }
}

struct ResumeCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Resumes after a pause.",
    discussion: "Example:\n  tutti resume")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .transport(.play) }
}

struct NextCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "next", abstract: "Skips to the next item.",
    discussion: "After the last item the music ends.\n\nExample:\n  tutti next")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .transport(.next) }
}

struct PreviousCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "previous",
    abstract: "Goes to the beginning of the item, or to the previous one.",
    discussion: """
      In the first three seconds of an item it goes to the previous item.
      Of a radio station it plays the title from its beginning.

      Example:
        tutti previous
      """)
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .transport(.previous) }
}

struct SeekCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "seek", abstract: "Goes to a position in the current item.",
    discussion: """
      A position beyond the end is refused.
      A step beyond the end goes to the next item or, in the last item, to its last
      second.
      In a radio station it goes to any place of the last hour that was played or
      paused.

      Examples:
        tutti seek 90
        tutti seek 1:30
        tutti seek +15
        tutti seek -15
        tutti seek live    what the station sends now
      """)
  @Argument(
    parsing: .allUnrecognized,
    help: .init(
      "Seconds or [h:]m:s; with + or -, relative to the current position; or live.",
      valueName: "position"))
  var position: [String]
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    let position = try SignedArgument.only(of: position, called: "position", in: "seek")
    if position == "live" { return .transport(.live) }
    guard let (seconds, isRelative) = TimeText.parse(position) else {
      throw Failure(.usage, "\(position) is not a time; write 90, 1:30, +15, -15 or live")
    }
    return .order(
      .seek(group: Order.meantGroup, seconds: seconds, isRelative: isRelative))
  }
}

/// An argument that may begin with a minus. The parser would take it for an option, so the command collects all words
/// that the parser does not know and looks for the argument here.
enum SignedArgument {
  /// Returns nil if there is no such argument.
  static func only(ofAtMostOne given: [String], in command: String) throws -> String? {
    let words = given.filter { $0 != "--" }
    let marker = given.firstIndex(of: "--") ?? given.endIndex
    if let option = given[..<marker].first(where: isOption) {
      throw Failure(.usage, "unknown option '\(option)'; see: tutti \(command) --help")
    }
    if let option = words.first(where: isOption) {
      throw Failure(
        .usage, "\(option) is taken as an argument, as all after --; write it before --")
    }
    guard words.count <= 1 else { throw Failure(.usage, "\(words[1]) is one argument too many") }
    return words.first
  }

  private static func isOption(_ word: String) -> Bool {
    word != "--" && word.hasPrefix("-") && !(word.dropFirst().first?.isNumber ?? false)
  }

  static func only(
    of words: [String], called name: String, in command: String
  ) throws -> String {
    guard let word = try only(ofAtMostOne: words, in: command) else {
      throw Failure(.usage, "name a \(name)")
    }
    return word
  }
}

struct VolumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "volume",
    abstract: "Sets volume, volume limit, mute, delay or channels of rooms.",
    discussion: """
      Rooms keep these settings.
      If no player is running, name the rooms with --on or --at: the command connects
      to them itself.

      Examples:
        tutti volume 40 --on Kitchen
        tutti volume +5
        tutti volume -5
        tutti volume --mute --on Bath
        tutti volume --limit 50 --on Attic         never louder, whoever asks
        tutti volume --delay -12.5 --on Kitchen    sounds 12.5 ms earlier
        tutti volume --channels left --on Desk-L
      """)
  @Argument(
    parsing: .allUnrecognized,
    help: .init("\(RoomChange.volumes.text), or a step with + or -.", valueName: "volume"))
  var volume: [String] = []
  @Option(
    help: .init(
      "Names of rooms, separated by commas (default: all rooms that play).", valueName: "rooms"),
    completion: RoomCompletion.kind)
  var on: String?
  @Option(
    help: .init(
      "The address of a receiver, if no player runs; can be given several times.",
      valueName: "host:port")
  )
  var at: [String] = []
  @Flag(inversion: .prefixedNo, help: "Mute, or end the mute.")
  var mute: Bool?
  @Option(
    parsing: .unconditional,
    help: .init(
      "Play later (positive) or earlier (negative) by this time, \(RoomChange.delaysMs.text).",
      valueName: "ms"))
  var delay: Double?
  @Option(
    help: "What the room plays: \(RoomChange.ChannelMap.names.orList).",
    completion: .list(RoomChange.ChannelMap.names))
  var channels: String?
  @Option(
    help: .init(
      "The highest volume that the room takes from anybody, \(RoomChange.volumeLimits.text).",
      valueName: "volume"))
  var limit: Double?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let change = try change()
      let state = try common.state()
      let client = common.client(state)
      if at.isEmpty, let reply = try client.askIfRunning(.order(order(change))) {
        return try common.show(reply)
      }
      let wish = try RoomWish(on: on, at: at)
      guard !wish.names.isEmpty || !wish.addresses.isEmpty else {
        throw Failure(
          .unavailable, "nothing is playing; name the rooms, such as: tutti volume 40 --on Kitchen")
      }
      let visit = SilentVisit(
        try ReceiverSearch(state: state).records(named: wish.names), at: wish.addresses,
        on: try GroupHost(reactor: try Reactor(), security: try state.security()),
        senderName: HostName.current
      ) { printError("tutti: \($0)") }
      let rooms = try visit.set(change)
      for room in rooms {
        if common.json {
          try printJSON(room)
        } else if let line = room.settingsSentence {
          try printLine(line)
        }
      }
    }
  }

  private func order(_ change: RoomChange) -> Order {
    let rooms = RoomWish.names(on)
    return rooms.isEmpty
      ? .change(group: Order.meantGroup, .init(rooms: change)) : .set(rooms: rooms, change)
  }

  private func change() throws -> RoomChange {
    let step = try SignedArgument.only(ofAtMostOne: volume, in: "volume")
    var change = RoomChange(muted: mute, delayMs: delay, volumeLimit: limit)
    if let channels {
      change.channels = RoomChange.ChannelMap(name: channels)
      if change.channels == nil {
        throw Failure(.usage, "channels are \(RoomChange.ChannelMap.names.orList)")
      }
    }
    if let step {
      guard let value = Double(step), value.isFinite else {
        throw Failure(.usage, "\(step) is not a volume; write 0 to 100, +5 or -5")
      }
      (change.volume, change.isStep) = (value, step.hasPrefix("+") || step.hasPrefix("-"))
    }
    guard !change.isEmpty else {
      throw Failure(
        .usage, "nothing to set; what is set: tutti status --details; more: tutti volume --help")
    }
    // Refuse wrong values here, before asking anybody.
    _ = try change.commands(for: .all)
    return change
  }
}
