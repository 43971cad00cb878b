import ArgumentParser
import Audio
import Driver
import House
import LinuxIO
import Sender
import Service

struct SoundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sound", abstract: "Sets the sound that rooms keep: equalizer, tone, crossover.",
    discussion: """
      The receivers keep it, whoever plays there.
      What you leave out stays; --band replaces all bands.
      Without options it shows what is set.
      If no player is running, the command connects to the rooms itself.

      Examples:
        tutti sound Kitchen --bass 3 --loudness
        tutti sound Kitchen --band peak:1000:-3:1.4 --band lowshelf:80:4
        tutti sound Desk-L,Desk-R --crossover high:80
        tutti sound Sub --crossover low:80 --distance 3.2m
        tutti sound Kitchen --fir               with the filter of its receiver
        tutti sound Kitchen --off               as it comes, until --on
      """)
  @Argument(
    help: .init("Names of rooms, separated by commas.", valueName: "rooms"),
    completion: RoomCompletion.kind)
  var rooms: String?
  @Option(
    help: .init(
      "The address of a receiver, if no player runs; can be given several times.",
      valueName: "host:port"))
  var at: [String] = []
  @Option(
    help: .init(
      "A band: \(SoundBand.Kind.names.orList); frequency in Hz, \(SoundBand.frequencyRange.text); gain in dB, \(SoundBand.gainRange.text); Q, \(SoundBand.qRange.text). Passes have no gain. Up to \(SoundSetting.mostBands) of them.",
      valueName: "kind:frequency[:gain[:q]]"))
  var band: [String] = []
  @Flag(help: "No bands.")
  var noBands = false
  @Option(
    parsing: .unconditional,
    help: .init("Bass, \(SoundSetting.toneRange.text) dB.", valueName: "dB"))
  var bass: Double?
  @Option(
    parsing: .unconditional,
    help: .init("Treble, \(SoundSetting.toneRange.text) dB.", valueName: "dB"))
  var treble: Double?
  @Option(
    parsing: .unconditional,
    help: .init(
      "Balance, \(SoundSetting.balanceRange.text); negative is to the left.", valueName: "percent"))
  var balance: Double?
  @Flag(inversion: .prefixedNo, help: "More bass and treble the lower the volume is.")
  var loudness: Bool?
  @Flag(inversion: .prefixedNo, help: "A part of each channel's bass goes to the other ear, too.")
  var crossfeed: Bool?
  @Option(
    help: .init(
      "What a loudspeaker plays beside a subwoofer, or the subwoofer: high:HZ, low:HZ or off; \(Crossover.frequencyRange.text) Hz.",
      valueName: "part:frequency"))
  var crossover: String?
  @Option(
    help: .init(
      "From the loudspeaker to the listener, such as 3.2m or 9.3ms: it sounds earlier by that; \(SoundSetting.distanceRange.text) m.",
      valueName: "distance"))
  var distance: String?
  @Flag(inversion: .prefixedNo, help: "Use the FIR filter that the receiver was given.")
  var fir: Bool?
  @Flag(help: "Use the sound that is set.")
  var on = false
  @Flag(help: "Leave the sound as it comes. All but the distance is off; nothing is forgotten.")
  var off = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let change = RoomChange(sound: try change())
      // Refuse wrong values here, before asking anybody.
      _ = try change.commands(for: .all)
      let wish = try RoomWish(on: rooms, at: at)
      guard !wish.names.isEmpty || !wish.addresses.isEmpty else {
        throw Failure(.usage, "name the rooms, such as: tutti sound Kitchen --bass 3")
      }
      let state = try common.state()
      let order = Order.set(rooms: wish.names, change)
      if at.isEmpty, let reply = try common.client(state).askIfRunning(.order(order)) {
        return try common.show(reply)
      }
      let visit = SilentVisit(
        try ReceiverSearch(state: state).records(named: wish.names), at: wish.addresses,
        on: try GroupHost(reactor: try Reactor(), security: try state.security()),
        senderName: HostName.current
      ) { printError("tutti: \($0)") }
      for room in try visit.set(change) {
        if common.json {
          try printJSON(room)
        } else if let line = room.settingsSentence {
          try printLine(line)
        }
      }
    }
  }

  private func change() throws -> SoundChange {
    var change = SoundChange()
    guard !(on && off), !(noBands && !band.isEmpty) else {
      throw Failure(.usage, "write one of --on and --off, and one of --band and --no-bands")
    }
    if on || off { change.isOn = on }
    if !band.isEmpty || noBands { change.bands = try band.map(Self.band) }
    (change.bass, change.treble, change.balance) = (bass, treble, balance)
    (change.hasLoudness, change.hasCrossfeed, change.usesFIR) = (loudness, crossfeed, fir)
    change.crossover = try crossover.map(Self.crossover)
    change.distance = try distance.map(Self.distance)
    return change
  }

  private static func band(_ text: String) throws -> SoundChange.Band {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.dropFirst().map { Double($0) }
    guard let kind = parts.first.flatMap({ SoundBand.Kind(name: String($0)) }),
      (1...3).contains(numbers.count), numbers.allSatisfy({ $0?.isFinite ?? false })
    else {
      throw Failure(
        .usage, "\(text) is no band; write one such as peak:1000:-3:1.4 or highpass:30")
    }
    let values = numbers.compactMap(\.self)
    // A pass has no gain, so its second number is its Q.
    let q = kind.hasGain ? values.dropFirst(2).first : values.dropFirst().first
    guard kind.hasGain || values.count < 3 else {
      throw Failure(.usage, "\(text): a \(kind.name) has no gain; write \(kind.name):frequency:q")
    }
    return SoundChange.Band(
      kind, frequency: values[0], gain: kind.hasGain ? values.dropFirst().first ?? 0 : 0,
      q: q ?? 0.71)
  }

  private static func crossover(_ text: String) throws -> SoundChange.Crossover {
    if text == "off" { return .off }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let part = Crossover.Part(name: String(parts[0])),
      let frequency = Double(parts[1]), frequency.isFinite
    else { throw Failure(.usage, "\(text) is no crossover; write high:80, low:80 or off") }
    return .on(part, frequency: frequency)
  }

  /// In metres.
  private static func distance(_ text: String) throws -> Double {
    let isTime = text.hasSuffix("ms")
    guard let number = Double(text.dropLast(isTime ? 2 : 1)), number.isFinite,
      isTime || text.hasSuffix("m")
    else { throw Failure(.usage, "\(text) is no distance; write 3.2m or 9.3ms") }
    return isTime ? number * SoundSetting.speedOfSound / 1_000 : number
  }
}
