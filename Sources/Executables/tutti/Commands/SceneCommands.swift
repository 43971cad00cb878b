import ArgumentParser
import House
import Service

struct ScenesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenes", abstract: "Rooms and volumes that a daemon brings back.",
    discussion: """
      A scene has the rooms of a group, each as loud as it was.
      Music that plays moves to them without a gap.

      Examples:
        tutti scenes
        tutti scenes save Dinner --group Kitchen
        tutti scenes recall Dinner
        tutti scenes remove Dinner
      """,
    subcommands: [
      ListScenesCommand.self, SaveSceneCommand.self, RecallSceneCommand.self,
      RemoveSceneCommand.self,
    ], defaultSubcommand: ListScenesCommand.self)
}

struct ListScenesCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the scenes.",
    discussion: "Example:\n  tutti scenes list")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .order(.scene(.show)) }
}

struct SaveSceneCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Keeps the rooms of a group, and how loud each is.",
    discussion: """
      A scene of the same name is replaced.

      Example:
        tutti scenes save Dinner
      """)
  @Argument(help: "A name for the scene.")
  var name: String
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    .order(.scene(.save(group: Order.meantGroup, name: name)))
  }
}

struct RecallSceneCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "recall", abstract: "Plays in the rooms of a scene, and in no others.",
    discussion: """
      Without --group it is the music that one of these rooms plays, or else that
      of the group that was used last.

      Example:
        tutti scenes recall Dinner
      """)
  @Argument(help: "The name of the scene.")
  var name: String
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest { .order(.scene(.recall(name, group: common.group))) }
}

struct RemoveSceneCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Forgets a scene; its rooms stay as they are.",
    discussion: "Example:\n  tutti scenes remove Dinner")
  @Argument(help: "The name of the scene.")
  var name: String
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest { .order(.scene(.remove(name))) }
}
