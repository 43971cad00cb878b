import ArgumentParser
import House
import Sender
import Service

struct UndoCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Brings back a daemon's list as it was before the last edit.",
    discussion: """
      After remove, clear, shuffle, and play in place of a list; until the next edit.

      Example:
        tutti undo
      """)
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .edit(.undo) }
}

struct SleepCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "sleep", abstract: "Pauses a daemon's group in so many minutes.",
    discussion: """
      Examples:
        tutti sleep 45
        tutti sleep 20 --group Bedroom
        tutti sleep off
      """)
  @Argument(
    help: "Minutes, 0 to \(Int(Order.GroupChange.sleeps.upperBound) / 60), or off.",
    completion: .list(["15", "30", "45", "60", "off"]))
  var minutes: String
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    guard let minutes = minutes == "off" ? 0 : Double(minutes), minutes.isFinite else {
      throw Failure(.usage, "\(minutes) is not a number of minutes; write 45, or off")
    }
    return .change(.init(sleepInS: minutes * 60))
  }
}

struct SaveCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Keeps a daemon's list as a playlist of its library.",
    discussion: "Example:\n  tutti save 'Sunday morning'")
  @Argument(help: "What the playlist is called.")
  var name: String
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .save(name: name) }
}

struct MergeCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Joins another of a daemon's groups, with all its rooms.",
    discussion: """
      The other group's list is forgotten.

      Examples:
        tutti merge Bath
        tutti merge Bath --group Kitchen    all play what plays in Kitchen
      """)
  @Argument(help: "The other group's name, or a room of it.", completion: RoomCompletion.kind)
  var other: String
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    .order(.merge(group: Order.meantGroup, other: other))
  }
}

struct IdentifyCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "identify",
    abstract: "Lets a daemon's room be heard: three tones, or its music is muted twice.",
    discussion: "Example:\n  tutti identify Kitchen")
  @Argument(help: "A room.", completion: RoomCompletion.kind)
  var room: String
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .order(.identify(room: room)) }
}
