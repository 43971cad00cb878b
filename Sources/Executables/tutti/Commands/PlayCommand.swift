import ArgumentParser
import Clock
import Driver
import FFmpegSource
import House
import LinuxIO
import ProgramJSON
import Sender
import Service
import WireProtocol

struct PlayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Plays files, folders and addresses in rooms.",
    discussion: """
      Plays in this terminal until the list ends.
      If tutti serve is running, the daemon plays, and this command returns at once.

      Examples:
        tutti play song.flac --on Kitchen,Bedroom
        tutti play album/ more.mp3 --codec opus --bitrate 160
        tutti play album/ --shuffle --repeat all
        tutti play --stay --on Kitchen                      waits for: tutti add FILE
        tutti play song.flac --at 192.168.1.20:7770        without discovery
        tutti play bell.wav --on Kitchen --take --give-back
        arecord -f cd -t raw | tutti play - --raw 44100:16:2
        arecord -f cd -t raw -B 20000 | tutti play - --raw 44100:16:2 --live 60
        tutti play alsa:hw:1 --live auto --on Kitchen

      Keys:
        space           pauses and resumes
        left, right     10 s back or ahead
        + - up down     volume of all rooms
        n p             next, previous item
        [ ]             speed by 5 %
        { }             pitch by a semitone
        0               normal speed and pitch
        ? h             shows these keys
        q               stops

      Ctrl-Z pauses the music, and fg or bg resumes it.
      In the background (tutti play album/ &) the player takes no keys.
      The music stops when the terminal is closed, unless nohup started the player.
      """)

  @Argument(
    help:
      "Files, folders, playlists (M3U, PLS, XSPF, JSON), http:// and https:// addresses, or - for standard input.",
    completion: .file()
  )
  var files: [String] = []
  @Flag(help: "Play in random order.")
  var shuffle = false
  @Option(
    name: .customLong("repeat"),
    help:
      "What to repeat: off, one (the current item) or all (default: off; a daemon keeps its setting)."
  )
  var repetition: Playlist.Repetition?
  @Flag(help: "Do not exit at the end of the list, but wait for: tutti add FILE")
  var stay = false
  @Option(
    help: .init(
      "Names of rooms, separated by commas (default: all receivers on this network).",
      valueName: "rooms"),
    completion: RoomCompletion.kind)
  var on: String?
  @Option(
    help: .init("The address of a receiver; can be given several times.", valueName: "host:port"))
  var at: [String] = []
  @Flag(help: "Take over rooms in which another machine plays.")
  var take = false
  @Flag(help: "With --take: at the end, let the rooms go on with what they played before.")
  var giveBack = false
  @Option(
    help: .init(
      "Priority of this player, 0 to 255, in receivers started with --when-busy priority.",
      valueName: "N"))
  var priority: UInt8 = Hello.usualPriority
  @Option(help: "How audio is sent to the rooms: auto, pcm, flac or opus.")
  var codec = CodecOption.auto
  @Option(help: .init("Bit rate of Opus.", valueName: "kbit/s"))
  var bitrate: Int?
  @Option(help: .init("Length of an Opus packet: 2.5, 5, 10, 20, 40 or 60.", valueName: "ms"))
  var packetLength: Double = 20
  @Option(
    help: .init(
      "Format of raw samples on standard input: rate:bits:channels.", valueName: "48000:16:2"))
  var raw: String?
  @Option(
    help: .init(
      "Delay of a live source (standard input, alsa: or pipe:), 10 to 2000, or auto.",
      valueName: "ms"))
  var live: String?
  @Option(
    help: .init(
      "With --json: print the position at this interval while music plays, 0.01 to 60.",
      valueName: "s"))
  var positionEvery: Double?
  @Flag(
    help:
      "Let media keys, desktops and playerctl steer this player, through the session bus (MPRIS).")
  var mpris = false
  @OptionGroup(title: "Sound") var sound: EffectOptions
  @Option(
    help: .init(
      "A chain of FFmpeg's audio filters, applied after the other effects; not with a daemon.",
      valueName: "chain"))
  var filter: String?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      guard stay || !files.isEmpty else {
        throw Failure(.usage, "nothing to play; name a file or folder")
      }
      let change = try sound.change()
      let effects = try change.applied(to: Effects())
      let positionInterval = try positionInterval()
      let items = try MediaPaths.expand(files, takesInputs: true)
      let choice = try encoderChoice()
      let rawFormat = try rawFormat()
      let latency = try liveLatency()
      let state = try common.state()
      if let answer = try playByDaemon(items, change, state) { return try common.show(answer) }
      try MediaWorkerCommand.start()
      try MediaPaths.refuseInputs(items)
      let chain = try ownChain(with: effects)
      var stranger: String?
      repeat {
        if let stranger { try PairedRoom.offer(stranger, state) }
        let host = try GroupHost(
          reactor: Reactor(), security: state.security(), remembered: state.rememberedRooms(),
          paired: state.paired())
        let player = try player(of: items, on: host, state, choice, rawFormat, latency, chain)
        try prepare(player, effects)
        try player.player.carryOut(.observePosition(every: positionInterval))
        stranger = try PlayerProgram(
          player, on: host, state: state, isJSON: common.json, hasMPRIS: mpris
        ).run()
      } while stranger != nil
    }
  }

  private func player(
    of items: [PlaylistEntry], on host: GroupHost, _ state: StateDirectory, _ choice: EncoderChoice,
    _ rawFormat: RawFormat?, _ latency: LiveLatency?, _ chain: OwnChain?
  ) throws -> PlayerService {
    try PlayerService(
      host: host,
      settings: .init(
        senderName: HostName.current, endsWithPlaylist: !stay,
        rooms: try RoomWish(on: on, at: at), directory: state.path,
        claim: .init(takesOver: take, givesBack: giveBack, priority: priority)),
      playlist: Playlist(items),
      sources: try PlaybackSources(choice, raw: rawFormat, latency: latency, chain: chain))
  }

  /// Returns the daemon's answer, or nil if no daemon runs.
  private func playByDaemon(
    _ items: [PlaylistEntry], _ change: EffectsChange, _ state: StateDirectory
  ) throws -> ControlAnswer? {
    let client = common.client(state)
    let request = ControlRequest.play(
      request: PlayRequest(
        entries: items.map { PlaylistEntry(MediaPaths.absolute($0.location), title: $0.title) },
        rooms: RoomWish.names(on), addresses: at, shuffles: shuffle,
        repetition: repetition, effects: change, takes: take,
        foregroundOptions: foregroundOptions))
    let isPiped = items.contains { $0.location == "-" }
    if !isPiped, JSON.line(ControlCall(id: 1, request)).count <= ControlServer.requestLimit {
      return try client.askIfRunning(request)
    }
    guard try client.isAnswered else { return nil }
    throw Failure(
      .usage,
      isPiped
        ? "the running player cannot take standard input; use another --state-dir"
        : "too many files at once (\(items.count)); add them in parts with: tutti add")
  }

  /// The given options that only a player in the foreground has. `--stay` is not one of them, because a daemon always
  /// stays.
  private var foregroundOptions: [String] {
    [
      ("codec", codec != .auto), ("bitrate", bitrate != nil), ("packet-length", packetLength != 20),
      ("raw", raw != nil), ("live", live != nil), ("position-every", positionEvery != nil),
      ("give-back", giveBack), ("filter", filter != nil), ("mpris", mpris),
      ("priority", priority != Hello.usualPriority),
    ].filter(\.1).map { "--" + $0.0 }
  }

  /// Checks FFmpeg and the filter chain before anything plays.
  private func ownChain(with effects: Effects) throws -> OwnChain? {
    let chain = filter.flatMap(OwnChain.init)
    if let filter, chain == nil { throw Failure(.usage, "--filter \(filter): not typed here") }
    guard chain != nil || !effects.changesNothing else { return nil }
    do {
      try FilteredSource.check(effects, chain: chain)
    } catch {
      throw Failure(.usage, error.description)
    }
    return chain
  }

  private func prepare(_ player: PlayerService, _ effects: Effects) throws {
    try player.player.carryOut(.effects(effects))
    if shuffle { try player.player.shuffleList() }
    if let repetition { try player.player.carryOut(.edit(.setRepetition(repetition))) }
  }

  private func positionInterval() throws -> Nanoseconds? {
    guard let positionEvery else { return nil }
    guard common.json, (0.01...60).contains(positionEvery) else {
      throw Failure(.usage, "--position-every \(positionEvery): 0.01 to 60 s, and only with --json")
    }
    return Nanoseconds(Int64(positionEvery * 1e9))
  }

  private func encoderChoice() throws -> EncoderChoice {
    do {
      return try EncoderChoice(codec: codec, bitrate: bitrate, packetLength: packetLength)
    } catch {
      throw Failure(.usage, error.description)
    }
  }

  private func liveLatency() throws -> LiveLatency? {
    guard let live else { return nil }
    guard let latency = LiveLatency(live) else {
      let range = LiveLatency.range
      throw Failure(
        .usage,
        "--live \(live): \(range.lowerBound) to \(range.upperBound) ms, or auto")
    }
    return latency
  }

  private func rawFormat() throws -> RawFormat? {
    guard let raw else { return nil }
    guard let format = RawFormat(raw) else {
      throw Failure(.usage, "--raw \(raw): write rate:bits:channels, such as 48000:16:2")
    }
    return format
  }
}

extension CodecOption: ExpressibleByArgument {}
