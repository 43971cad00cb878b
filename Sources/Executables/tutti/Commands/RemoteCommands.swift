import ArgumentParser
import Foundation

/// A command that asks a running player for one thing.
protocol RemoteCommand: ParsableCommand {
  var common: CommonOptions { get }
  func request() throws -> ControlRequest
}

extension RemoteCommand {
  func run() throws {
    try reporting {
      let state = try StateDirectory(common.stateDir)
      let reply = try ControlClient(path: state.controlSocket).ask(try request())
      if common.json, let status = reply.status { printJSON(status) }
    }
  }
}

struct PauseCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pauses, in all rooms at one sample.")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { ControlRequest(verb: .pause) }
}

struct ResumeCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Goes on after a pause.")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { ControlRequest(verb: .resume) }
}

struct StopCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Stops playing; the player ends.")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { ControlRequest(verb: .stop) }
}

struct NextCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "next", abstract: "Skips to the next item.")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { ControlRequest(verb: .next) }
}

struct PreviousCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "previous",
    abstract: "Goes to the beginning of the item, or to the one before it.")
  @OptionGroup var common: CommonOptions
  func request() -> ControlRequest { ControlRequest(verb: .previous) }
}

struct SeekCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "seek", abstract: "Goes to a place in the current item.",
    discussion:
      "Examples:\n  tutti seek 90\n  tutti seek 1:30\n  tutti seek +15\n  tutti seek -- -15")
  @Argument(help: "Seconds or [h:]m:s; with + or - from where it is now.")
  var position: String
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    guard let (seconds, isRelative) = TimeText.parse(position) else {
      throw Failure(.usage, "\(position) is not a time; write 90, 1:30, +15 or -- -15")
    }
    return ControlRequest(verb: .seek, seconds: seconds, isRelative: isRelative)
  }
}

struct VolumeCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "volume",
    abstract: "Sets volume, mute, delay or channels of one room or of all.",
    discussion: """
      Examples:
        tutti volume 40 --on Kitchen
        tutti volume +5
        tutti volume --mute --on Bath
        tutti volume --delay -12.5 --on Kitchen    sounds 12.5 ms earlier
        tutti volume --channels left --on Desk-L
      """)
  @Argument(help: "0 to 100, or a step with + or -.")
  var volume: String?
  @Option(help: .init("The room; all if not given.", valueName: "room"))
  var on: String?
  @Flag(inversion: .prefixedNo, help: "Silence.")
  var mute: Bool?
  @Option(help: .init("Later (positive) or earlier by so much.", valueName: "ms"))
  var delay: Double?
  @Option(help: "stereo, left, right or mono.")
  var channels: String?
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    var request = ControlRequest(
      verb: .volume, isMuted: mute, delayMilliseconds: delay, channels: channels, room: on)
    guard let volume else {
      guard mute != nil || delay != nil || channels != nil else {
        throw Failure(.usage, "nothing to set; see: tutti volume --help")
      }
      return request
    }
    guard let value = Double(volume), value.isFinite else {
      throw Failure(.usage, "\(volume) is not a volume; write 0 to 100, +5 or -- -5")
    }
    request.volume = value
    request.isRelative = volume.hasPrefix("+") || volume.hasPrefix("-")
    return request
  }
}

/// Times as people write them.
enum TimeText {
  static func parse(_ text: String) -> (seconds: Double, isRelative: Bool)? {
    let isRelative = text.hasPrefix("+") || text.hasPrefix("-")
    let parts = (isRelative ? text.dropFirst() : text[...]).split(
      separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for part in parts {
      guard let value = Double(part), value.isFinite, value >= 0 else { return nil }
      seconds = seconds * 60 + value
    }
    return (text.hasPrefix("-") ? -seconds : seconds, isRelative)
  }

  static func format(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e9)))
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    let tail = (rest < 10 ? "0" : "") + "\(rest)"
    return hours > 0
      ? "\(hours):" + (minutes < 10 ? "0" : "") + "\(minutes):\(tail)"
      : "\(minutes):\(tail)"
  }
}
