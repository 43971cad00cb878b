import ArgumentParser
import House
import Service

struct NightCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "night", abstract: "Sets the hours in which a daemon's rooms are quiet.",
    discussion: """
      Rooms that are louder are turned down when night begins.
      Nobody who plays with this daemon turns them up.
      Afterwards they stay as they are. Alarms are as loud as they were set.

      Examples:
        tutti night
        tutti night --from 22:00 --to 7:00 --limit 20
        tutti night --off
      """)
  @Option(help: .init("Time of the day at which night begins.", valueName: "time"))
  var from: String?
  @Option(help: .init("Time of the day at which it ends.", valueName: "time"))
  var to: String?
  @Option(
    help: .init("The highest volume, \(RoomChange.volumeLimits.text).", valueName: "volume"))
  var limit: Double?
  @Flag(help: "No hours are quiet any more.")
  var off = false
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    switch (from, to, limit, off) {
    case (nil, nil, nil, false): return .order(.night(.show))
    case (nil, nil, nil, true): return .order(.night(.off))
    case (let from?, let to?, let limit?, false):
      let hours = NightHours(
        fromMinute: try AlarmOptions.minute(from), toMinute: try AlarmOptions.minute(to),
        volumeLimit: limit)
      try hours.check()
      return .order(.night(.set(hours)))
    default: throw Failure(.usage, "write --from, --to and --limit, or --off alone")
    }
  }
}
