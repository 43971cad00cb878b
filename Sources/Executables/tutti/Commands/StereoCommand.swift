import ArgumentParser
import House
import Service

struct StereoCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "stereo", abstract: "Makes two of a daemon's rooms one: a stereo pair.",
    discussion: """
      The first room plays the left channel, the second one the right.
      Everywhere they are one room, with one name and one volume.
      While one cannot play, the other one plays both channels.
      Without rooms, the pairs are listed.

      Examples:
        tutti stereo Shelf Window --name Study
        tutti stereo
        tutti stereo --swap Study
        tutti stereo --separate Study
      """)
  @Argument(help: "The left room, and the right one.", completion: RoomCompletion.kind)
  var rooms: [String] = []
  @Option(help: "What the pair is called (default: after its rooms).")
  var name: String?
  @Option(help: .init("Left and right change places in this pair.", valueName: "pair"))
  var swap: String?
  @Option(
    help: .init(
      "The rooms of this pair are rooms again, with their names and channels.", valueName: "pair"))
  var separate: String?
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    let rooms = rooms.flatMap { RoomWish.names($0) }
    switch (rooms.count, name, swap, separate) {
    case (0, nil, nil, nil): return .order(.stereo(.show))
    case (2, _, nil, nil):
      return .order(.stereo(.make(left: rooms[0], right: rooms[1], name: name)))
    case (0, nil, let pair?, nil): return .order(.stereo(.swap(pair)))
    case (0, nil, nil, let pair?): return .order(.stereo(.separate(pair)))
    default:
      throw Failure(
        .usage, "write two rooms, or --swap or --separate with a pair, and nothing else")
    }
  }
}
