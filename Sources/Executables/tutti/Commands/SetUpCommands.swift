import ArgumentParser
import House
import Service
import WireProtocol

struct FoldersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "folders",
    abstract: "Lists the folders of the daemon's library, and changes them.",
    discussion: """
      A folder must lie where the configuration lets folders be chosen: in your
      music folder, /media, /mnt or /srv unless it has a line folders-from.
      The configuration's own folders stay. No file is ever removed.

      Examples:
        tutti folders
        tutti folders --add /srv/music
        tutti folders --remove /srv/music
      """)
  @Option(
    help: .init("Let the library read this folder as well.", valueName: "path"),
    completion: .directory)
  var add: String?
  @Option(
    help: .init("Take this folder out of the library.", valueName: "path"), completion: .directory)
  var remove: String?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let client = common.client(try common.state())
      switch (add, remove) {
      case (nil, nil):
        guard let answer = try client.askLibrary(.folders) else {
          throw Failure(.unavailable, "no daemon runs; start one with: tutti serve")
        }
        try show(answer.folders ?? [])
      case (let path?, nil): try tell(.addFolder(MediaPaths.absolute(path)), client)
      case (nil, let path?): try tell(.removeFolder(MediaPaths.absolute(path)), client)
      default: throw Failure(.usage, "one thing at a time, please")
      }
    }
  }

  private func tell(_ order: Order.SetUp, _ client: ControlClient) throws {
    try common.show(try client.ask(.order(.setUp(order))))
  }

  private func show(_ folders: [LibraryFolder]) throws {
    if common.json {
      for folder in folders { try printJSON(folder) }
      return
    }
    if folders.isEmpty {
      return try printLine("the library has no folder; add one with: tutti folders --add PATH")
    }
    for folder in folders {
      let count = "\(folder.trackCount) \(folder.trackCount == 1 ? "track" : "tracks")"
      let rest = [
        folder.isAway ? "not there now" : nil, folder.isFixed ? "in the configuration" : nil,
      ].compactMap { $0 }
      try printLine(([folder.path, count] + rest).joined(separator: ", ").shownPlainly)
    }
  }
}

struct RenameCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Gives a room another name in this household.",
    discussion: """
      Without a new name it is called again as its receiver calls itself.

      Examples:
        tutti rename raspberrypi Kitchen
        tutti rename Kitchen
      """)
  @Argument(help: "The room.", completion: RoomCompletion.kind)
  var room: String
  @Argument(help: "Its new name.")
  var name: String?
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest { .order(.setUp(.nameRoom(room, name))) }
}
