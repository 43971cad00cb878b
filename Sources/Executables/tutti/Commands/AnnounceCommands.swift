import ArgumentParser
import House
import Service

struct SayCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "say", abstract: "Speaks an announcement in a daemon's rooms.",
    discussion: """
      It is heard at the same instant in all rooms, over the music, which becomes
      quieter meanwhile and plays on. The voice is espeak-ng, or the command that the
      daemon's configuration names.

      Examples:
        tutti say 'Dinner is ready'
        tutti say 'Time for school' --on Bath,Attic --volume 60
        tutti say 'The door!' --no-chime
      """)
  @Argument(help: "What to say.")
  var words: [String]
  @OptionGroup var options: AnnounceOptions
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    .announce(request: options.request(text: words.joined(separator: " ")))
  }
}

struct AnnounceCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "announce",
    abstract: "Plays a short file or address in a daemon's rooms, over their music.",
    discussion: """
      It lasts a minute at most, and is heard at the same instant in all rooms.
      Without a file it is the chime alone.

      Examples:
        tutti announce doorbell.wav --no-chime
        tutti announce https://example.com/dinner.mp3 --on Kitchen
        tutti announce
      """)
  @Argument(help: "A file, or an address of http or https.", completion: .file())
  var file: String?
  @OptionGroup var options: AnnounceOptions
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    .announce(request: options.request(location: file.map(MediaPaths.absolute)))
  }
}

struct AnnounceOptions: ParsableArguments {
  @Option(
    help: .init(
      "Names of rooms, separated by commas (default: all that are there).", valueName: "rooms"),
    completion: RoomCompletion.kind)
  var on: String?
  @Option(
    help: .init("The address of a receiver; can be given several times.", valueName: "host:port"))
  var at: [String] = []
  @Option(
    help: .init(
      "How loud, \(RoomChange.volumes.text) (default: as loud as each room, and never inaudible).",
      valueName: "volume"))
  var volume: Double?
  @Flag(inversion: .prefixedNo, help: "Two notes before it.")
  var chime = true

  func request(text: String? = nil, location: String? = nil) -> AnnounceRequest {
    var request = AnnounceRequest(
      text: text, location: location, rooms: RoomWish.names(on), volume: volume, hasChime: chime)
    request.addresses = at
    return request
  }
}
