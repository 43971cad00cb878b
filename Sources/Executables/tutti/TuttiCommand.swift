import ArgumentParser

@main
struct TuttiCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tutti",
    abstract: "Plays music in several rooms at once, exactly together.",
    discussion: """
      Examples:
        tutti receivers                             what is there to play on
        tutti play album/ --on Kitchen,Bedroom      plays a folder in two rooms
        tutti pause                                 from another terminal
        tutti seek 1:30
        tutti add more/ --next                      into the list while it plays

      Exit codes: 0 done, 64 wrong usage, 66 nothing to play, 69 no room or no player, 70 internal error.
      """,
    version: "0.1.0",
    subcommands: [
      ReceiversCommand.self, PlayCommand.self, PauseCommand.self, ResumeCommand.self,
      StopCommand.self, SeekCommand.self, NextCommand.self, PreviousCommand.self,
      VolumeCommand.self, EffectsCommand.self, StatusCommand.self, QueueCommand.self,
      AddCommand.self,
      RemoveCommand.self, MoveCommand.self, ClearCommand.self, JumpCommand.self,
      ShuffleCommand.self, RepeatCommand.self,
    ])
}

/// What went wrong, in one line, and the exit code that says so to programs.
struct Failure: Error, CustomStringConvertible {
  enum Kind: Int32 {
    case usage = 64
    case noInput = 66
    case unavailable = 69
    case internalError = 70
  }

  let kind: Kind
  let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// Options that every command has.
struct CommonOptions: ParsableArguments {
  @Option(
    help: .init(
      "Where rooms are remembered and a running player is found (default: ~/.local/state/tutti).",
      valueName: "dir"))
  var stateDir: String?

  @Flag(help: "Print one JSON object a line, for programs.")
  var json = false
}

extension ParsableCommand {
  /// Runs `body`; a failure is printed as one line and ends the program with its code.
  func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let failure as Failure {
      printError("tutti: \(failure.description)")
      throw ExitCode(failure.kind.rawValue)
    }
  }
}
