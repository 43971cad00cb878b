import ArgumentParser
import Disturbances
import Foundation
import Simulation

/// Plays a group in virtual time and prints whether all promises were kept.
@main
struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tutti-simulate",
    abstract: "Plays a whole group in virtual time, from a seed.",
    discussion: """
      Scenarios: \(Scenario.names.joined(separator: ", ")).

      Examples:
        tutti-simulate --scenario swarm --runs 100        any fault at any time; says what broke
        tutti-simulate --scenario swarm --seed 7 --shrink
                                                          the fewest faults that break it
        tutti-simulate --scenario swarm --seed 7 --shrink --record found.txt
                                                          writes them down
        tutti-simulate --replay found.txt --events        plays them again
        tutti-simulate --replay house.txt --group Kitchen --shrink
                                                          plays the record of tutti serve --record
        tutti-simulate --scenario wander --rooms 3        crystals that warm up
        tutti-simulate --scenario house --rooms 16 --hours 24
                                                          a day, every fourth room on radio
      """)

  @Option(
    help: "What happens to the group; with --replay, where (default: swarm; wired, or as recorded)."
  )
  var scenario: String?

  @Option(
    help:
      "Decides everything; the first of them where there are several runs (default: 1, or as recorded)."
  )
  var seed: UInt64?

  @Option(help: "How many seeds to run, one after the other.")
  var runs = 1

  @Option(help: "How many rooms there are (default: as drawn in swarm, or as recorded; else 4).")
  var rooms: Int?

  @Option(
    help:
      "How a room's card tells its position, but in usb; given again, that of the next room (default: fine and edge, or as recorded)."
  )
  var card: [CardQuality.Granularity] = []

  @Option(help: "How long to play, in virtual hours (default: a minute, or as recorded).")
  var hours: Double?

  @Option(
    help: .init(
      "Play what this record of tutti serve, or of this program, says.", valueName: "file"),
    completion: .file())
  var replay: String?

  @Option(
    help: .init(
      "The group of the record: its name or number (default: the first).", valueName: "name"))
  var group: String?

  @Option(
    help: .init(
      "Write what happens in the run to this file, or with --shrink the fewest faults.",
      valueName: "file"),
    completion: .file())
  var record: String?

  @Flag(help: "Print what each room said, with its time.")
  var events = false

  @Flag(help: "Where a promise is broken, find the fewest faults that break it, and print them.")
  var shrink = false

  func validate() throws {
    if let scenario, !Scenario.names.contains(scenario) {
      throw ValidationError("there is no scenario \(scenario)")
    }
    guard (1...64).contains(rooms ?? 4), (1...1_000_000).contains(runs), seed ?? 1 <= .max / 2
    else {
      throw ValidationError("1 to 64 rooms, 1 to 1000000 runs, and a seed below 2^63")
    }
    if let hours, !(hours > 0 && hours <= 10_000) {
      throw ValidationError("--hours is more than 0 and at most 10000")
    }
    if record != nil, runs > 1 { throw ValidationError("--record is for one run") }
    if group != nil, replay == nil { throw ValidationError("--group is for --replay") }
  }

  func run() async throws {
    let setting = try setting()
    var failures = 0
    for seed in setting.seed..<setting.seed + UInt64(runs) {
      guard let scenario = setting.scenario(seed) else { return }
      let result = scenario.play { seconds in
        let line =
          "  \(Int(seconds / 3600)) of \(Int((scenario.seconds / 3600).rounded(.up))) virtual hours\n"
        FileHandle.standardError.write(Data(line.utf8))
      }
      report(result, of: scenario, seed: seed)
      var told = scenario
      if result.firstBroken != nil {
        failures += 1
        if shrink { told = reportFewest(of: scenario) ?? scenario }
      }
      if let record { try write(told.record(seed: seed, cards: setting.cards), to: record) }
    }
    if failures > 0 { throw ExitCode.failure }
  }

  private func report(_ result: Scenario.Result, of scenario: Scenario, seed: UInt64) {
    let group = result.group
    let rooms = scenario.configuration.rooms.count
    print(
      "scenario \(scenario.name) seed \(seed) rooms \(rooms) digest \(String(group.digest.value, radix: 16))"
    )
    if let drawn = scenario.drawn { print("  \(drawn)") }
    print("  spread \(result.spread), at the end \(result.finalSpread), events \(group.eventCount)")
    // Too short a run has no rates that change.
    if result.rateChange.isFinite {
      print("  rates changed by \(Int(result.rateChange)) ppb a second")
    }
    if events { printEvents(group, rooms: rooms) }
    print(result.firstBroken.map { "  BROKEN: \($0)" } ?? "  all promises kept")
    if result.firstBroken != nil, let commit = Checkout.commit { print("  at commit \(commit)") }
  }

  private func reportFewest(of scenario: Scenario) -> Scenario? {
    let fewest = scenario.shrunk { left in
      FileHandle.standardError.write(Data("  \(left) faults are enough\n".utf8))
    }
    guard let fewest else { return nil }
    print("  the fewest faults that break it:")
    for fault in fewest.disturbances { print("    \(fault)") }
    print(fewest.play().firstBroken.map { "  BROKEN by them: \($0)" } ?? "")
    return fewest
  }

  private func printEvents(_ group: SimulatedGroup, rooms: Int) {
    for room in 0..<rooms {
      for (time, event) in group.events(of: room) {
        print("  room \(room) \(time.seconds) s: \(event)")
      }
    }
    for (time, event) in group.senderEvents { print("  sender \(time.seconds) s: \(event)") }
    for (time, daemon, term) in group.takeovers {
      print("  daemon \(daemon) \(time.seconds) s: leads in term \(term)")
    }
    for item in group.microphone.breaks { print("  \(item)") }
    for room in 0..<rooms {
      let error = group.microphone.syncError(of: room, from: 0, to: group.now.seconds)
      print("  room \(room) is off by \(error)")
    }
  }
}

extension CardQuality.Granularity: ExpressibleByArgument {}
