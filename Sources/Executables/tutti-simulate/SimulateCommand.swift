import ArgumentParser
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
        tutti-simulate --scenario wander --rooms 3        crystals that warm up
        tutti-simulate --scenario house --rooms 16 --hours 24
                                                          a day, every fourth room on radio
      """)

  @Option(help: "What happens to the group.")
  var scenario = "swarm"

  @Option(help: "Decides everything; the first of them where there are several runs.")
  var seed: UInt64 = 1

  @Option(help: "How many seeds to run, one after the other.")
  var runs = 1

  @Option(help: "How many rooms there are.")
  var rooms = 4

  @Option(
    help: "How a room's card tells its position, but in usb; given again, that of the next room.")
  var card: [CardQuality.Granularity] = [.fine, .edge]

  @Option(help: "How long to play, in virtual hours; a minute if not given.")
  var hours: Double?

  @Flag(help: "Print what each room said, with its time.")
  var events = false

  @Flag(help: "Where a promise is broken, find the fewest faults that break it, and print them.")
  var shrink = false

  func validate() throws {
    guard Scenario.names.contains(scenario) else {
      throw ValidationError("there is no scenario \(scenario)")
    }
    guard (1...64).contains(rooms), (1...1_000_000).contains(runs), seed <= .max / 2 else {
      throw ValidationError("1 to 64 rooms, 1 to 1000000 runs, and a seed below 2^63")
    }
    if let hours, !(hours > 0 && hours <= 10_000) {
      throw ValidationError("--hours is more than 0 and at most 10000")
    }
  }

  func run() async throws {
    var failures = 0
    for seed in seed..<seed + UInt64(runs) {
      let named = Scenario(scenario, seed: seed, rooms: rooms, hours: hours, cards: card)
      guard let scenario = named else { return }
      let result = scenario.play { seconds in
        let line = "  \(Int(seconds / 3600)) of \(Int((hours ?? 0).rounded(.up))) virtual hours\n"
        FileHandle.standardError.write(Data(line.utf8))
      }
      report(result, seed: seed)
      guard result.firstBroken != nil else { continue }
      failures += 1
      if shrink { reportFewest(of: scenario) }
    }
    if failures > 0 { throw ExitCode.failure }
  }

  private func report(_ result: Scenario.Result, seed: UInt64) {
    let group = result.group
    print(
      "scenario \(scenario) seed \(seed) rooms \(rooms) digest \(String(group.digest.value, radix: 16))"
    )
    print("  spread \(result.spread), at the end \(result.finalSpread), events \(group.eventCount)")
    print("  rates changed by \(Int(result.rateChange)) ppb a second")
    if events { printEvents(group) }
    print(result.firstBroken.map { "  BROKEN: \($0)" } ?? "  all promises kept")
  }

  private func reportFewest(of scenario: Scenario) {
    let fewest = scenario.shrunk { left in
      FileHandle.standardError.write(Data("  \(left) faults are enough\n".utf8))
    }
    guard let fewest else { return }
    print("  the fewest faults that break it:")
    for fault in fewest.disturbances { print("    at \(fault)") }
    print(fewest.play().firstBroken.map { "  BROKEN by them: \($0)" } ?? "")
  }

  private func printEvents(_ group: SimulatedGroup) {
    for room in 0..<rooms {
      for (time, event) in group.events(of: room) {
        print("  room \(room) \(time.seconds) s: \(event)")
      }
    }
    for (time, event) in group.senderEvents { print("  sender \(time.seconds) s: \(event)") }
    for item in group.microphone.breaks { print("  \(item)") }
  }
}

extension CardQuality.Granularity: ExpressibleByArgument {}
