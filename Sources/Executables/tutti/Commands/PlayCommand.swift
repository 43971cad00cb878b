import ArgumentParser
import Clock
import Codecs
import FFmpegSource
import Foundation
import LinuxIO
import Sender

struct PlayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Plays files and folders, in the foreground.",
    discussion: """
      Examples:
        tutti play song.flac --on Kitchen,Bedroom
        tutti play album/ more.mp3 --codec opus --bitrate 160
        tutti play album/ --shuffle --repeat all
        tutti play --stay --on Kitchen                      waits for: tutti add FILE
        tutti play song.flac --at 192.168.1.20:7770        without discovery
        arecord -f cd -t raw | tutti play - --raw 44100:16:2

      Keys: space pauses and resumes, ← and → seek by 10 s, ↑ and ↓ or + and - set the volume,
      n and p go to the next and the previous item, q stops.
      """)

  @Argument(
    help:
      "Files, folders, playlists (M3U, PLS, XSPF, JSON), http:// and https:// addresses, or - for standard input."
  )
  var files: [String] = []
  @Flag(help: "Play in random order.")
  var shuffle = false
  @Option(name: .customLong("repeat"), help: "off, one or all.")
  var repetition = RepeatOption.off
  @Flag(help: "Stay when the list has ended, and play on when something is added.")
  var stay = false
  @Option(
    help: .init(
      "Rooms, with commas between them (default: every receiver on this network).",
      valueName: "rooms"))
  var on: String?
  @Option(
    help: .init("A receiver's address; may be given several times.", valueName: "host:port"))
  var at: [String] = []
  @Option(help: "auto, pcm, flac or opus.")
  var codec = CodecOption.auto
  @Option(help: .init("Of Opus.", valueName: "kbit/s"))
  var bitrate: Int?
  @Option(help: .init("Length of an Opus packet: 2.5, 5, 10, 20, 40 or 60.", valueName: "ms"))
  var packetLength: Double = 20
  @Option(
    help: .init("Standard input is raw samples: rate:bits:channels.", valueName: "48000:16:2"))
  var raw: String?
  @Option(help: .init("Faster or slower at the same pitch, 0.25 to 4.", valueName: "factor"))
  var rate: Double = 1
  @Option(
    parsing: .unconditional,
    help: .init("Higher or lower at the same speed, -12 to 12.", valueName: "semitones"))
  var pitch: Double = 0
  @Option(
    parsing: .unconditional,
    help: .init("Brings every item to this loudness, such as -16.", valueName: "LUFS"))
  var loudness: Double?
  @Option(help: .init("A chain of FFmpeg's audio filters.", valueName: "chain"))
  var filter: String?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      guard stay || !files.isEmpty else {
        throw Failure(.usage, "nothing to play; name a file or folder")
      }
      let effects = try effects()
      let items = try MediaPaths.expand(files)
      let choice = try EncoderChoice(codec: codec, bitrate: bitrate, packetLength: packetLength)
      let rawFormat = try rawFormat()
      let interruption = try ReadInterruption()
      let player = try PlayerService(
        state: try StateDirectory(common.stateDir), wish: try wish(), playlist: Playlist(items),
        endsWithPlaylist: !stay, interruption: interruption
      ) { notices in
        let opener = SourceOpener(
          raw: rawFormat, effects: effects, interruption: interruption, notices: notices)
        return Serializer(
          passesPackets: choice.passesPackets, openSource: opener.open,
          makeEncoder: choice.makeEncoder)
      }
      try prepare(player)
      try PlayerDisplay(player, isJSON: common.json).run()
    }
  }

  private func prepare(_ player: PlayerService) throws {
    if shuffle { player.handle(.command(.edit(.shuffle(seed: try SystemRandom.number())))) }
    if let repetition = Playlist.Repetition(rawValue: repetition.rawValue) {
      player.handle(.command(.edit(.setRepetition(repetition))))
    }
  }

  private func rawFormat() throws -> RawFormat? {
    guard let raw else { return nil }
    guard let format = RawFormat(raw) else {
      throw Failure(.usage, "--raw \(raw): write rate:bits:channels, such as 48000:16:2")
    }
    return format
  }

  private func effects() throws -> Effects {
    guard Effects.rates.contains(rate) else { throw Failure(.usage, "--rate is 0.25 to 4") }
    guard Effects.pitches.contains(pitch) else { throw Failure(.usage, "--pitch is -12 to 12") }
    if let loudness, !Effects.loudnesses.contains(loudness) {
      throw Failure(.usage, "--loudness is -40 to -5")
    }
    var effects = Effects()
    (effects.rate, effects.pitch) = (rate, pitch)
    (effects.loudness, effects.filter) = (loudness, filter)
    if effects.changesNothing { return effects }
    do {
      try FilteredSource.check(effects)
    } catch {
      throw Failure(.usage, error.description)
    }
    return effects
  }

  private func wish() throws -> PlayerService.Wish {
    let names = (on ?? "").split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    return .init(
      names: names.filter { !$0.isEmpty }, addresses: try at.map(Self.address),
      usesDiscovery: at.isEmpty || on != nil)
  }

  /// `host`, `host:port`, or `[IPv6]:port`.
  static func address(_ text: String) throws -> (host: String, port: UInt16) {
    let defaultPort: UInt16 = 7770
    if text.filter({ $0 == ":" }).count > 1, !text.hasPrefix("[") { return (text, defaultPort) }
    guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else {
      return (text.trimmingCharacters(in: .init(charactersIn: "[]")), defaultPort)
    }
    guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      throw Failure(.usage, "--at \(text): write host:port, such as 192.168.1.20:7770")
    }
    let host = text[..<colon].trimmingCharacters(in: .init(charactersIn: "[]"))
    return (host, port)
  }
}

/// Opens what an item names: standard input, a file, or something on the network.
struct SourceOpener: Sendable {
  var raw: RawFormat?
  var effects = Effects()
  var interruption: ReadInterruption
  var notices: Inbox<SourceNotice>

  func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    let source = try openPlain(item.location)
    return effects.changesNothing
      ? source : try FilteredSource(source, effects: effects, path: item.location)
  }

  private func openPlain(_ location: String) throws(MediaError) -> any MediaSource {
    if location == "-" {
      return try StreamSource(descriptor: 0, rawFormat: raw, interruption: interruption)
    }
    guard NetworkSource.isNetwork(location) else { return try FileSource(path: location) }
    return try NetworkSource(
      url: location, interruption: interruption, report: { [notices] in notices.post($0) })
  }
}
