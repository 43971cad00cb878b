import ArgumentParser
import Sender
import Service

/// How `tutti play` and `tutti effects` are told what to do to the sound.
struct EffectOptions: ParsableArguments {
  @Option(help: .init("Faster or slower at the same pitch, 0.25 to 4.", valueName: "factor"))
  var rate: Double?
  @Option(
    parsing: .unconditional,
    help: .init("Higher or lower at the same speed, -12 to 12.", valueName: "semitones"))
  var pitch: Double?
  @Option(
    parsing: .unconditional,
    help: .init("Brings every item to this loudness, -40 to -5, such as -16.", valueName: "LUFS"))
  var loudness: Double?
  @Option(help: .init("A chain of FFmpeg's audio filters.", valueName: "chain"))
  var filter: String?

  var change: EffectsChange {
    EffectsChange(rate: rate, pitch: pitch, loudness: loudness, filter: filter)
  }
}

struct EffectsCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "effects",
    abstract: "Changes speed, pitch, loudness or filters while music plays.",
    discussion: """
      Effects that are not named stay as they are. Without any option the present ones are shown.

      Examples:
        tutti effects --rate 1.25
        tutti effects --pitch -2 --loudness -16
        tutti effects --filter "bass=g=5"
        tutti effects --off --rate 1.1     only that
        tutti effects --off
      """)
  @OptionGroup var sound: EffectOptions
  @Flag(help: "Switch all effects off, then apply those that are given.")
  var off = false
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    var change = sound.change
    change.isReset = off
    // Wrong values are refused here, before a player is asked.
    _ = try change.applied(to: Effects())
    return .effects(change: change)
  }
}
