import ArgumentParser
import Clock
import House
import Sender
import Service

struct UndoCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undoes the last edit of the list, or a merge.",
    discussion: """
      It undoes remove, clear, move, shuffle, shuffle off, add --now,
      a tutti play that has replaced the list, and a merge of groups.
      A daemon does so after a restart, too.
      Once the list is edited again, the earlier edit cannot be undone.

      Example:
        tutti undo
      """)
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .edit(.undo) }
}

struct SleepCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "sleep", abstract: "Sleep timer: pauses the music after some minutes.",
    discussion: """
      Examples:
        tutti sleep 45
        tutti sleep 23:30                  at half past eleven
        tutti sleep 20 --group Bedroom
        tutti sleep off
      """)
  @Argument(
    help: .init(
      "Minutes, 0 to \(Self.most), a time of day such as 23:30, or off.", valueName: "minutes"),
    completion: .list(["15", "30", "45", "60", "off"]))
  var time: String
  @OptionGroup var common: CommonOptions

  private static let most = Int(Order.GroupChange.sleeps.upperBound / 60)

  func request() throws -> ControlRequest {
    .change(.init(sleepInS: try Self.seconds(time)))
  }

  /// - Parameter text: a number of minutes, the next time of day that comes, or `off`, which is 0.
  static func seconds(_ text: String) throws -> Double {
    if let minute = Alarm.minute(of: text) {
      return LocalZone.seconds(untilMinute: minute)
    }
    let seconds = text == "off" ? 0 : Double(text).map { $0 * 60 }
    guard let seconds, Order.GroupChange.sleeps.contains(seconds) else {
      throw Failure(
        .usage, "\(text) is not a number of minutes from 0 to \(most); write 45, 23:30, or off")
    }
    return seconds
  }
}

struct SaveCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Saves a daemon's list as a playlist in its library.",
    discussion: "Example:\n  tutti save 'Sunday morning'")
  @Argument(help: "Name of the playlist.")
  var name: String
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .save(name: name) }
}

struct MergeCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Moves all rooms of another of the daemon's groups into this one.",
    discussion: """
      The list of the other group waits.
      It is back when the last of its rooms leaves and plays by itself again.

      Examples:
        tutti merge Bath
        tutti merge Bath --group Kitchen    all play what plays in Kitchen
      """)
  @Argument(help: "Name of the other group, or of a room in it.", completion: RoomCompletion.kind)
  var other: String
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    .order(.merge(group: Order.meantGroup, other: other))
  }
}

struct IdentifyCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "identify",
    abstract: "Makes a daemon's room play three tones, or mutes its music twice.",
    discussion: "Example:\n  tutti identify Kitchen")
  @Argument(help: "Name of the room.", completion: RoomCompletion.kind)
  var room: String
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .order(.identify(room: room)) }
}
