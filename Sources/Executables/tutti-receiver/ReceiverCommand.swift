import ArgumentParser
import Glibc
import LinuxIO
import Logging
import ProgramText
import Receiver
import ReceiverDriver

@main
struct ReceiverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tutti-receiver",
    abstract: "Plays what tutti sends, in sync with all other rooms.",
    discussion: """
      Examples:
        tutti-receiver                      plays on the default sound card
        tutti-receiver --name Kitchen --device hw:1
        tutti-receiver --output wav:a.wav   records, without a sound card
        tutti-receiver pin                  shows the PIN, which senders need once
        tutti-receiver pairings             lists the senders that may play here
        tutti-receiver unpair study
        tutti-receiver doctor               says what is wrong, and what to do

      Exit codes: 0 stopped or done, 1 doctor has found something wrong, 64 wrong
      usage, 69 something needed is missing or in use, 73 the file to record to
      cannot be made, 74 it cannot be written any further.
      """,
    version: "0.1.0",
    subcommands: [
      PINCommand.self, PairingsCommand.self, UnpairCommand.self, ReceiverDoctorCommand.self,
    ])

  static func main() { run(tell: Console.print, complain: Console.complain) }

  @Option(help: "Name of the room (default: the host's name).")
  var name: String?
  @Option(help: .init("ALSA device; see: aplay -L", valueName: "device"))
  var device = "default"
  @Option(
    help: .init(
      "Where the sound goes: alsa, null, or wav:PATH to record it.", valueName: "output"))
  var output = "alsa"
  @Option(help: "Sample format of the device: s16, s24, s24_3le, s32 or float (default: the best).")
  var format: String?
  @Option(help: .init("Hardware volume: none, auto or a mixer element's name.", valueName: "name"))
  var mixer = "none"
  @Option(
    help: .init("Volume until somebody sets one: 0 to 100.", valueName: "volume"))
  var startVolume: Int = 30
  @Option(
    help: .init(
      "Never play louder, whoever asks: 1 to 100 (default: as the household sets it).",
      valueName: "volume"))
  var volumeLimit: Int?
  @Option(
    help: .init(
      "A FIR filter for this room: a WAV file, as REW exports it. Switch it on with: tutti sound.",
      valueName: "file"))
  var fir: String?
  @Option(
    help: .init(
      "Who may play here: paired (senders that were paired) or open (anybody on this network).",
      valueName: "policy"))
  var access = AccessPolicy.paired.rawValue
  @Option(
    help: .init(
      "When another sender wants the room: refuse, take-over, or priority (the higher one plays).",
      valueName: "policy"))
  var whenBusy = "refuse"
  @Option(help: "TCP port; 0 for any.")
  var port = 7770
  @Option(help: .init("Largest size of the buffer.", valueName: "MiB"))
  var buffer: UInt64 = 32
  @Option(help: .init("Longest time of music in the buffer.", valueName: "minutes"))
  var bufferMinutes: Int64 = 30
  @Option(help: .init("Close the sound device after this much silence.", valueName: "seconds"))
  var idle: Int64 = 60
  @Option(
    help: .init("Log the room's figures after this much music.", valueName: "minutes"))
  var figures: Int64 = 10
  @Option(
    help: .init(
      "Where volume, identity and clock drift are kept (default: ~/.local/state/tutti-receiver).",
      valueName: "dir"))
  var stateDir: String?
  @Flag(inversion: .prefixedNo, help: "Announce this receiver with Avahi.")
  var mdns = true
  @Option(help: "error, warning, notice, info, debug or trace.")
  var logLevel = "notice"

  func run() throws {
    try reporting {
      let configuration = try ReceiverConfiguration(self)
      let log = ReceiverLog(level: configuration.logLevel)
      try ReceiverService(configuration.settings, at: configuration.place, log).run()
    }
  }
}

extension ParsableCommand {
  /// Runs `body`. Prints a failure as one line and ends the program with its exit code.
  func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let failure as StartFailure {
      Console.complain(failure.description)
      throw ExitCode(failure.code)
    } catch let error as IOError {
      Console.complain("\(error)")
      throw ExitCode(69)
    }
  }
}

enum Console {
  static func print(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }

  static func complain(_ line: String) { write("tutti-receiver: \(line)\n", to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)
    _ = Glibc.write(descriptor, &bytes, bytes.count)
  }
}
