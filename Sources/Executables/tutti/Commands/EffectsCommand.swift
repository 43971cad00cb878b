import ArgumentParser
import House
import Sender
import Service

/// Options of `tutti play` and `tutti effects` that change the sound.
struct EffectOptions: ParsableArguments {
  @Option(
    help: .init(
      "Speed, at the same pitch, \(Effects.rates.text).", valueName: "factor"))
  var rate: Double?
  @Option(
    parsing: .unconditional,
    help: .init(
      "Pitch, at the same speed, \(Effects.pitches.text).", valueName: "semitones"))
  var pitch: Double?
  @Option(
    parsing: .unconditional,
    help: .init(
      "Play every item at this loudness, \(Effects.loudnesses.text), such as -16.",
      valueName: "LUFS"))
  var loudness: Double?
  @Option(
    help: .init(
      "Fade from one song into the next, unless it follows on the same album, for \(Effects.crossfades.text) seconds.",
      valueName: "seconds"))
  var crossfade: Double?
  @Option(
    parsing: .unconditional,
    help: .init("More or less bass, -24 to 24 dB, below about 100 Hz.", valueName: "gain[:Hz]"),
    completion: .list(["3", "6", "-3", "-6", "off"]))
  var bass: String?
  @Option(
    parsing: .unconditional,
    help: .init("More or less treble, -24 to 24 dB, above about 3000 Hz.", valueName: "gain[:Hz]"),
    completion: .list(["3", "6", "-3", "-6", "off"]))
  var treble: String?
  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Raises or lowers a band around a frequency; can be given several times.",
      valueName: "Hz:gain[:octaves]"),
    completion: .list(["1000:3:1", "off"]))
  var equalizer: [String] = []
  @Option(
    help: .init("Removes what is below this frequency.", valueName: "Hz"),
    completion: .list(["80", "120", "off"]))
  var highpass: String?
  @Option(
    help: .init("Removes what is above this frequency.", valueName: "Hz"),
    completion: .list(["8000", "12000", "off"]))
  var lowpass: String?
  @Option(
    parsing: .unconditional,
    help: .init(
      "Reduces by a ratio what exceeds a threshold in dB, then raises everything by makeup.",
      valueName: "threshold:ratio[:attack-ms[:release-ms[:makeup]]]"),
    completion: .list(["-24:4:20:250:6", "off"]))
  var compressor: String?
  @Option(
    parsing: .unconditional,
    help: .init("Keeps all peaks below this level, in dB.", valueName: "ceiling[:release-ms]"),
    completion: .list(["-1", "off"]))
  var limiter: String?

  /// Throws if a filter's numbers are wrong.
  func change() throws -> EffectsChange {
    var change = EffectsChange(
      rate: rate, pitch: pitch, loudness: loudness, crossfade: crossfade)
    for (kind, texts) in named {
      if texts == ["off"] {
        change.endedFilters.append(kind)
      } else {
        change.filters += try texts.map { try Self.filter(kind, $0) }
      }
    }
    return change
  }

  private var named: [(SoundFilter.Kind, [String])] {
    SoundFilter.Kind.allCases.map { kind in
      switch kind {
      case .highpass: (kind, [highpass].compactMap(\.self))
      case .lowpass: (kind, [lowpass].compactMap(\.self))
      case .equalizer: (kind, equalizer)
      case .bass: (kind, [bass].compactMap(\.self))
      case .treble: (kind, [treble].compactMap(\.self))
      case .compressor: (kind, [compressor].compactMap(\.self))
      case .limiter: (kind, [limiter].compactMap(\.self))
      }
    }
  }

  private static func filter(_ kind: SoundFilter.Kind, _ numbers: String) throws -> SoundFilter {
    do {
      return try SoundFilter(kind, numbers: numbers)
    } catch {
      throw Failure(.usage, "--\(error); or: --\(kind.rawValue) off")
    }
  }
}

struct EffectsCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "effects",
    abstract: "Changes speed, pitch, loudness, crossfade or filters while music plays.",
    discussion: """
      Effects that you leave out stay as they are. The value off ends one of them.
      Without options, the command shows the current effects.

      Filters are applied in this order: highpass, lowpass, equalizer, bass, treble,
      compressor, limiter. At most \(Effects.filterLimit) can be used at once.

      Examples:
        tutti effects --rate 1.25
        tutti effects --pitch -2 --loudness -16
        tutti effects --crossfade 6                        0 ends it
        tutti effects --bass 3 --treble -2
        tutti effects --equalizer 250:-4 --equalizer 2500:5:2
        tutti effects --compressor -24:4:20:250:6          for the night
        tutti effects --bass off                           the rest stays
        tutti effects --off --rate 1.1                     only that
        tutti effects --off
      """)
  @OptionGroup var sound: EffectOptions
  @Flag(help: "Switch all effects off, then apply those that are given.")
  var off = false
  @OptionGroup var common: CommonOptions

  func request() throws -> ControlRequest {
    var change = try sound.change()
    change.isReset = off
    // Refuse wrong values here, before asking a player.
    _ = try change.applied(to: Effects())
    return .change(.init(effects: change))
  }
}
