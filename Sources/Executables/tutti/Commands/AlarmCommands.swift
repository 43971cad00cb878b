import ArgumentParser
import Glibc
import House
import ProgramJSON
import Sender
import Service

struct AlarmsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alarms", abstract: "Lists and sets the alarms of a daemon.",
    discussion: """
      An alarm takes its rooms from whatever plays there.
      Afterwards it gives them back.
      Rooms that are free hold its music ten minutes before, so that it rings though
      the daemon or the network is gone by then.

      Examples:
        tutti alarms
        tutti alarms add 7:00 --on Bedroom --days mon,tue,wed,thu,fri
        tutti alarms add 8:30 --on Bath --play http://example.com/radio --rise 5
        tutti alarms change a1 --time 7:15 --volume 40
        tutti alarms skip a1            leaves out the next one
        tutti alarms off a1
        tutti alarms snooze
        tutti alarms stop
      """,
    subcommands: [
      ListAlarmsCommand.self, AddAlarmCommand.self, ChangeAlarmCommand.self, SkipAlarmCommand.self,
      SwitchOnAlarmCommand.self, SwitchOffAlarmCommand.self, RemoveAlarmCommand.self,
      SnoozeAlarmsCommand.self, StopAlarmsCommand.self,
    ], defaultSubcommand: ListAlarmsCommand.self)
}

struct ListAlarmsCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the alarms.",
    discussion: "Example:\n  tutti alarms list --json")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .alarms }

  func show(_ answer: ControlAnswer) throws { try AlarmsText.show(answer, common) }
}

/// The settings of an alarm.
struct AlarmOptions: ParsableArguments {
  @Option(
    name: .customLong("on"),
    help: .init("Rooms, separated by commas.", valueName: "rooms"), completion: RoomCompletion.kind)
  var rooms: String?
  @Option(help: .init("Days, such as mon,sat; daily, or once.", valueName: "days"))
  var days: String?
  @Option(
    help: .init(
      "A file, folder, playlist or address; can be given several times.", valueName: "file"),
    completion: .file())
  var play: [String] = []
  @Flag(help: "Play on in the queue of the first room.")
  var queue = false
  @Flag(help: "Play tones instead of music.")
  var tone = false
  @Option(
    help: .init(
      "Volume of the rooms, \(RoomChange.volumes.text) (default: 30).", valueName: "volume"))
  var volume: Double?
  @Option(
    help: .init(
      "Minutes in which it becomes as loud as that, 0 to 30 (default: 0).", valueName: "minutes"))
  var rise: Double?
  @Option(help: .init("Minutes that it rings, up to 180 (default: 30).", valueName: "minutes"))
  var length: Double?
  @Option(help: .init("Minutes of a snooze, 1 to 60 (default: 9).", valueName: "minutes"))
  var snooze: Double?
  @Option(help: .init("What it is called.", valueName: "name"))
  var name: String?

  func change() throws -> AlarmChange {
    var change = AlarmChange()
    change.name = name
    change.roomIds = rooms.map { RoomWish.names($0) }
    change.days = try days.map(Self.days)
    change.volume = volume
    (change.riseS, change.lengthS) = (rise.map { $0 * 60 }, length.map { $0 * 60 })
    change.snoozeS = snooze.map { $0 * 60 }
    change.music = try music()
    return change
  }

  private static func days(_ text: String) throws -> [Weekday] {
    switch text {
    case "once": return []
    case "daily": return Weekday.allCases
    default:
      return try text.split(separator: ",").map { word in
        guard let day = Weekday(rawValue: String(word)) else {
          let all = Weekday.allCases.map(\.rawValue).orList
          throw Failure(.usage, "\(word) is no day; write \(all), or daily, or once")
        }
        return day
      }
    }
  }

  private func music() throws -> Alarm.Music? {
    guard [!play.isEmpty, queue, tone].count(where: \.self) < 2 else {
      throw Failure(.usage, "either --play, --queue or --tone")
    }
    if queue { return .queue }
    if tone { return .tone }
    if play.isEmpty { return nil }
    let entries = try MediaPaths.expand(play, takesInputs: false).map { entry in
      var entry = entry
      // The daemon runs in another folder.
      entry.location = MediaPaths.absolute(entry.location)
      return Order.NewEntry(entry)
    }
    guard entries.count <= Alarm.entryLimit else {
      throw Failure(
        .usage, "an alarm plays \(Alarm.entryLimit) items at most, not \(entries.count)")
    }
    return .entries(entries)
  }

  static func minute(_ time: String) throws -> Int {
    guard let minute = Alarm.minute(of: time) else {
      throw Failure(.usage, "\(time) is no time of the day; write 7:05 or 19:30")
    }
    return minute
  }
}

struct AddAlarmCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Sets an alarm.",
    discussion: """
      Without --days it rings once.
      Without --play or --queue it plays tones, as where its music cannot be had.

      Examples:
        tutti alarms add 7:00 --on Bedroom
        tutti alarms add 6:45 --on Bedroom --days daily --play morning.m3u --rise 10
      """)
  @Argument(help: "Time of the day, such as 7:05.")
  var time: String
  @OptionGroup var options: AlarmOptions
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    var change = try options.change()
    change.minute = try AlarmOptions.minute(time)
    guard change.roomIds != nil else { throw Failure(.usage, "say where: --on ROOM") }
    return .order(.addAlarm(change))
  }
}

struct ChangeAlarmCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "change", abstract: "Changes an alarm.",
    discussion: "Example:\n  tutti alarms change a1 --time 7:15 --days sat,sun")
  @Argument(help: "The alarm, as shown by: tutti alarms")
  var alarm: String
  @Option(help: .init("Time of the day.", valueName: "time"))
  var time: String?
  @OptionGroup var options: AlarmOptions
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    var change = try options.change()
    change.minute = try time.map(AlarmOptions.minute)
    return .order(.changeAlarm(alarm, change))
  }
}

struct SkipAlarmCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip", abstract: "Leaves out the next ring of an alarm.",
    discussion: "Examples:\n  tutti alarms skip a1\n  tutti alarms skip a1 --undo")
  @Argument(help: "The alarm, as shown by: tutti alarms")
  var alarm: String
  @Flag(help: "Let it ring after all.")
  var undo = false
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    var change = AlarmChange()
    change.skipsNext = !undo
    return .order(.changeAlarm(alarm, change))
  }
}

struct SwitchOnAlarmCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "on", abstract: "Switches an alarm on.",
    discussion: "Example:\n  tutti alarms on a1")
  @Argument(help: "The alarm, as shown by: tutti alarms")
  var alarm: String
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    var change = AlarmChange()
    change.isOn = true
    return .order(.changeAlarm(alarm, change))
  }
}

struct SwitchOffAlarmCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "off", abstract: "Switches an alarm off.",
    discussion: "Example:\n  tutti alarms off a1")
  @Argument(help: "The alarm, as shown by: tutti alarms")
  var alarm: String
  @OptionGroup var common: CommonOptions

  func request() -> ControlRequest {
    var change = AlarmChange()
    change.isOn = false
    return .order(.changeAlarm(alarm, change))
  }
}

struct RemoveAlarmCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Deletes an alarm.",
    discussion: "Example:\n  tutti alarms remove a1")
  @Argument(help: "The alarm, as shown by: tutti alarms")
  var alarm: String
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .order(.removeAlarm(alarm)) }
}

struct SnoozeAlarmsCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "snooze", abstract: "Lets what rings ring again some minutes later.",
    discussion: "Example:\n  tutti alarms snooze")
  @Argument(help: "The alarm (default: all that ring).")
  var alarm: String?
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .order(.endAlarm(alarm, snoozes: true)) }
}

struct StopAlarmsCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Ends what rings, or is snoozed.",
    discussion: "Example:\n  tutti alarms stop")
  @Argument(help: "The alarm (default: all that ring).")
  var alarm: String?
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { .order(.endAlarm(alarm, snoozes: false)) }
}

/// Alarms as a table for people.
enum AlarmsText {
  static func show(_ answer: ControlAnswer, _ common: CommonOptions) throws {
    guard let alarms = answer.alarms else {
      throw Failure(.unavailable, "a player in a terminal has no alarms; start: tutti serve")
    }
    if common.json {
      for line in alarms { try printJSON(line.alarm) }
      return
    }
    if alarms.isEmpty {
      try printLine("there are no alarms; set one: tutti alarms add 7:00 --on ROOM")
    }
    for line in lines(alarms, width: TerminalText.columns(of: STDOUT_FILENO)) {
      try printLine(line)
    }
  }

  private static func lines(_ alarms: [ControlAnswer.AlarmLine], width: Int?) -> [StyledText] {
    var table = TextTable(columns: [
      .init(title: ""), .init(title: ""), .init(title: ""), .init(title: ""),
      .init(title: "", isCuttable: true), .init(title: "", dispensability: 1, isCuttable: true),
    ])
    table.rows = alarms.map { line in
      let alarm = line.alarm
      let days = alarm.days.count == 7 ? "daily" : alarm.days.map(\.rawValue).joined(separator: ",")
      let state =
        alarm.state == .waiting && alarm.skipsNext ? "skips the next" : alarm.state.rawValue
      let isOn = alarm.state != .off && alarm.state != .missed
      return [
        StyledText(alarm.id, .faint), StyledText(alarm.time, .strong),
        StyledText(days.isEmpty ? "once" : days), StyledText(state, isOn ? .good : .plain),
        StyledText(line.rooms.joined(separator: ", ")),
        StyledText(
          [alarm.name, music(alarm.music)].compactMap(\.self).joined(separator: ": "), .faint),
      ]
    }
    return table.lines(width: width, hasHeader: false)
  }

  private static func music(_ music: HouseState.Alarm.Music) -> String {
    switch music.kind {
    case .tone: "tones"
    case .queue: "its queue"
    case .items:
      (music.title ?? "") + ((music.count ?? 1) > 1 ? " and \((music.count ?? 1) - 1) more" : "")
    }
  }
}
