import ArgumentParser
import Glibc
import House
import ProgramText
import Sender
import Service

@main
struct TuttiCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tutti",
    abstract: "Plays music in several rooms at once, exactly together.",
    discussion: """
      Examples:
        tutti receivers                         lists the rooms on this network
        tutti pair Kitchen                      once, with the PIN it shows
        tutti play album/ --on Kitchen,Bedroom  plays a folder in two rooms
        tutti pause                             works from any terminal
        tutti seek 1:30
        tutti add more/ --next                  changes the list while it plays
        tutti doctor                            says what is wrong, and what to do

      Exit codes: 0 done, 1 doctor has found something wrong, 64 wrong usage, 65 an
      item was damaged, 66 nothing to play, 69 no room or no player, 70 internal
      error, 74 the output cannot be written.
      """,
    version: "0.1.0",
    subcommands: [
      ReceiversCommand.self, PairCommand.self, UnpairCommand.self, PlayCommand.self,
      PauseCommand.self, ResumeCommand.self,
      StopCommand.self, JoinCommand.self, LeaveCommand.self, SeekCommand.self, NextCommand.self,
      PreviousCommand.self,
      VolumeCommand.self, SoundCommand.self, EffectsCommand.self, StatusCommand.self,
      GroupsCommand.self,
      QueueCommand.self,
      AddCommand.self,
      RemoveCommand.self, MoveCommand.self, ClearCommand.self, JumpCommand.self,
      ShuffleCommand.self, RepeatCommand.self, UndoCommand.self, SleepCommand.self,
      AlarmsCommand.self, NightCommand.self, ScenesCommand.self, StereoCommand.self,
      SourcesCommand.self,
      FoldersCommand.self, ServersCommand.self, RenameCommand.self,
      SearchCommand.self, FavouritesCommand.self, RadioCommand.self, PlaylistsCommand.self,
      PodcastsCommand.self,
      SaveCommand.self, MergeCommand.self,
      IdentifyCommand.self, SayCommand.self, AnnounceCommand.self, ServeCommand.self,
      JoinHouseholdCommand.self, AddPhoneCommand.self,
      HousePINCommand.self, BrowsersCommand.self, DoctorCommand.self,
      LibraryWorkerCommand.self, MediaWorkerCommand.self, EventOfCommand.self,
    ])

  static func main() {
    // A write to a reader that has gone, as with `head -1`, must not kill the program: see
    // `output`.
    signal(SIGPIPE, SIG_IGN)
    let arguments = arguments
    if let line = CommandNames.advice(on: arguments.first) {
      printError("tutti: \(line)")
      Glibc.exit(Failure.Kind.usage.rawValue)
    }
    run(
      arguments, tell: { try? output(Array(($0 + "\n").utf8)) },
      complain: { printError("tutti: \($0)") })
  }

  /// The arguments, read from C: Swift's own have lost all bytes that are no UTF-8, and with them
  /// some file names.
  private static var arguments: [String] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      guard let text = CommandLine.unsafeArgv[index] else { return nil }
      let count = strlen(text)
      return text.withMemoryRebound(to: UInt8.self, capacity: count) {
        FileName.text(UnsafeBufferPointer(start: $0, count: count))
      }
    }
  }
}

/// An error as one line for people, with the exit code that tells programs.
struct Failure: Error, CustomStringConvertible {
  enum Kind: Int32 {
    case usage = 64
    case damaged = 65
    case noInput = 66
    case unavailable = 69
    case internalError = 70
    case output = 74
  }

  let kind: Kind
  /// Nil if everything has been said before.
  let line: String?
  var description: String { line ?? "" }

  init(_ kind: Kind, _ line: String?) {
    self.kind = kind
    self.line = line
  }
}

/// Options of all commands.
struct PlaceOptions: ParsableArguments {
  @Option(
    help: .init(
      "State of the player: rooms, pairings, its socket (default: ~/.local/state/tutti).",
      valueName: "dir"),
    completion: .directory)
  var stateDir: String?

  @Flag(help: "Print one JSON object per line, for programs.")
  var json = false
}

/// Options of commands to a player.
struct CommonOptions: ParsableArguments {
  @OptionGroup var place: PlaceOptions

  @Option(
    help: .init(
      "A daemon's group, by its name or a room in it (default: the one that was used last).",
      valueName: "group"))
  var group: String?

  var json: Bool { place.json }

  func state() throws -> StateDirectory { try StateDirectory(place.stateDir) }

  func client(_ state: StateDirectory) -> ControlClient {
    ControlClient(state.commands, group: group)
  }
}

extension ParsableCommand {
  /// Runs `body`. Prints a failure as one line and ends the program with its exit code.
  func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let failure as Failure {
      throw report(failure)
    } catch let error as Refusal {
      throw report(Failure(error))
    }
  }

  private func report(_ failure: Failure) -> ExitCode {
    if let line = failure.line { printError("tutti: \(line)") }
    return ExitCode(failure.kind.rawValue)
  }
}

extension Failure {
  init(_ error: Refusal) {
    let kind: Kind =
      switch error {
      case .noSuch, .invalid: .usage
      case .forbidden, .wrong, .tooMany, .outdated, .unavailable, .notYet: .unavailable
      case .notKept: .output
      case .nothingPlayable: .noInput
      case .damaged: .damaged
      }
    // An event has already named the damaged item.
    self.init(kind, error == .damaged ? nil : error.description)
  }
}
