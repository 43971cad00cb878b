import ArgumentParser
import FFmpegSource
import Sender

/// How `tutti play` and `tutti effects` are told what to do to the sound.
struct EffectOptions: ParsableArguments {
  @Option(help: .init("Faster or slower at the same pitch, 0.25 to 4.", valueName: "factor"))
  var rate: Double = 1
  @Option(
    parsing: .unconditional,
    help: .init("Higher or lower at the same speed, -12 to 12.", valueName: "semitones"))
  var pitch: Double = 0
  @Option(
    parsing: .unconditional,
    help: .init("Brings every item to this loudness, such as -16.", valueName: "LUFS"))
  var loudness: Double?
  @Option(help: .init("A chain of FFmpeg's audio filters.", valueName: "chain"))
  var filter: String?

  func effects() throws -> Effects {
    var effects = Effects()
    (effects.rate, effects.pitch) = (rate, pitch)
    (effects.loudness, effects.filter) = (loudness, filter)
    try effects.check()
    return effects
  }
}

struct EffectsCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "effects",
    abstract: "Changes speed, pitch, loudness or filters in the middle of what plays.",
    discussion: """
      What is not named goes back to the item's own; without any option all effects end.

      Examples:
        tutti effects --rate 1.25
        tutti effects --pitch -2 --loudness -16
        tutti effects --filter "bass=g=5"
        tutti effects
      """)
  @OptionGroup var sound: EffectOptions
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    let effects = try sound.effects()
    return ControlRequest(
      verb: .effects, rate: effects.rate, pitch: effects.pitch, loudness: effects.loudness,
      filter: effects.filter)
  }
}

extension Effects {
  /// Throws a sentence for people where they cannot be had.
  func check() throws {
    guard Self.rates.contains(rate) else { throw Failure(.usage, "--rate is 0.25 to 4") }
    guard Self.pitches.contains(pitch) else { throw Failure(.usage, "--pitch is -12 to 12") }
    if let loudness, !Self.loudnesses.contains(loudness) {
      throw Failure(.usage, "--loudness is -40 to -5")
    }
    if changesNothing { return }
    do {
      try FilteredSource.check(self)
    } catch {
      throw Failure(.usage, error.description)
    }
  }
}

/// The source of an item with its effects.
func filtered(
  _ source: any MediaSource, _ effects: Effects, _ item: PlayItem
) throws(MediaError) -> any MediaSource {
  try FilteredSource(source, effects: effects, path: item.location)
}

extension ControlRequest {
  func newEffects() throws -> Effects {
    var effects = Effects()
    (effects.rate, effects.pitch) = (rate ?? 1, pitch ?? 0)
    (effects.loudness, effects.filter) = (loudness, filter)
    try effects.check()
    return effects
  }
}
