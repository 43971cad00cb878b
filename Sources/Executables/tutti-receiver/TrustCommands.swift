import ArgumentParser
import Glibc
import LinuxIO
import Pairing
import ReceiverDriver
import WireProtocol

struct PINCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Shows or changes the PIN that a sender needs once, to be paired.",
    discussion: """
      A new PIN takes effect at once, also in a running receiver. Paired senders stay
      paired.

      Examples:
        tutti-receiver pin
        tutti-receiver pin --new
        tutti-receiver pin --set 1234 5671
        sudo tutti-receiver pin          for the receiver that starts at boot
      """)
  @Option(
    parsing: .upToNextOption,
    help: .init("Eight digits, the last a check digit; make one with --new.", valueName: "PIN"))
  var set: [String] = []
  @Flag(help: "Make a new one.")
  var new = false
  @ParentCommand var receiver: ReceiverCommand

  func run() throws {
    try reporting {
      let wanted = try wanted()
      let pin = try TrustFile(of: receiver).change { record in
        if let wanted { try record.change(to: wanted) }
        if new || record.pin == nil { try record.makePIN() }
        return record.pin
      }
      if let pin { Console.print(pin.written) }
    }
  }

  private func wanted() throws -> PIN? {
    guard !set.isEmpty else { return nil }
    guard !new else { throw StartFailure.usage("--set and --new exclude each other") }
    do throws(PIN.Mistake) {
      return try PIN(set.joined(separator: " "))
    } catch {
      throw switch error {
      case .malformed:
        StartFailure.usage("--set takes eight digits, such as 1234 5671")
      case .typo:
        StartFailure.usage(
          "--set: the last digit is a check digit, and does not fit the others; --new makes a PIN")
      }
    }
  }
}

struct PairingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pairings", abstract: "Lists the senders that may play here.",
    discussion: "Example:\n  tutti-receiver pairings")
  @ParentCommand var receiver: ReceiverCommand

  func run() throws {
    try reporting {
      let pairings = try TrustFile(of: receiver).read().memory.pairings.all
      for pairing in pairings {
        Console.print("\(pairing.id.hex.prefix(8))  \(pairing.name.shownPlainly)")
      }
      if pairings.isEmpty {
        Console.print(
          "nobody is paired; on a sender: tutti pair ROOM, with the PIN of: tutti-receiver pin")
      }
    }
  }
}

struct UnpairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpair", abstract: "Forgets a sender, and ends what it plays here.",
    discussion: """
      Examples:
        tutti-receiver unpair study
        tutti-receiver unpair 4f2a91c0     by identifier
      """)
  @Argument(help: "Name or identifier of a sender; see: tutti-receiver pairings")
  var sender: String
  @ParentCommand var receiver: ReceiverCommand

  func run() throws {
    try reporting {
      let gone = try TrustFile(of: receiver).change { record in
        let matches = record.memory.pairings.matches(sender)
        guard let pairing = matches.first else {
          throw StartFailure.usage(
            "no sender called \(sender) is paired; see: tutti-receiver pairings")
        }
        guard matches.count == 1 else {
          let ids = matches.map { String($0.id.hex.prefix(8)) }.joined(separator: ", ")
          throw StartFailure.usage(
            "\(matches.count) senders are called \(sender); say which: \(ids)")
        }
        record.memory.pairings.remove(pairing.id)
        return pairing
      }
      Console.print("\(gone.name.shownPlainly) is not paired any more")
    }
  }
}

extension TrustFile {
  /// The directory in which the receiver that starts at boot keeps its state.
  private static let serviceDirectory = "/var/lib/tutti-receiver"

  /// The trust file of the receiver that a command is about: the one in `--state-dir`, else this user's, else the one
  /// that starts at boot.
  fileprivate init(of receiver: ReceiverCommand) throws {
    guard let directory = try Self.existingDirectory(of: receiver) ?? receiver.stateDir else {
      throw StartFailure.unavailable(
        "no receiver has run here yet; start it first, or name its state directory with --state-dir"
      )
    }
    try StateFile.createDirectory(path: directory)
    self.init(directory: directory)
  }

  /// Returns the state directory of that receiver, or nil if no receiver has run. As root, this process becomes the
  /// directory's owner, so that it can use the directory from then on.
  static func existingDirectory(of receiver: ReceiverCommand) throws -> String? {
    let places = receiver.stateDir.map { [$0] } ?? [ReceiverState.usualDirectory, serviceDirectory]
    guard let directory = places.first(where: { access($0, F_OK) == 0 }) else { return nil }
    try takeOwner(of: directory)
    guard access(directory, R_OK | W_OK | X_OK) == 0 else {
      throw StartFailure.unavailable(
        "\(directory) belongs to another user; try: sudo tutti-receiver …")
    }
    return directory
  }

  /// Gives up root for the directory's owner, so that files that are written stay readable for the receiver's own user.
  private static func takeOwner(of directory: String) throws {
    var status = stat()
    guard geteuid() == 0, stat(directory, &status) == 0, status.st_uid != 0 else { return }
    guard setgid(status.st_gid) == 0, setuid(status.st_uid) == 0 else {
      throw StartFailure.unavailable("cannot act as the owner of \(directory)")
    }
  }
}
