import ALSAOutput
import ArgumentParser
import AvahiDiscovery
import Diagnosis
import Doctor
import Glibc
import HostFacts
import LinuxIO
import OpenSSLSecurity
import Pairing
import Receiver
import ReceiverDriver
import WireProtocol

struct ReceiverDoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks the receiver of this machine, and says what to do.",
    discussion: """
      It checks the receiver that runs with this state directory, and the options
      that it was started with.
      If none is running, give the options before "doctor".

      Examples:
        tutti-receiver doctor
        sudo tutti-receiver doctor                for the one that starts at boot
        tutti-receiver --device hw:1 doctor --json

      Exit codes: 0 nothing is wrong, 1 something is.
      """)
  @Flag(help: "Print one JSON object per line, for programs.")
  var json = false
  @ParentCommand var receiver: ReceiverCommand

  func run() throws {
    try reporting {
      ALSALibrary.configure()
      // Before the receiver's first start only the machine can be checked.
      let directory = try TrustFile.existingDirectory(of: receiver)
      let examined = ExaminedReceiver(
        directory ?? ReceiverState.usualDirectory, given: receiver)
      var checkup = Checkup(
        isJSON: json, isColoured: Console.isColoured, width: Console.width, print: Console.print)
      let search = NetworkSearch()
      try checkup.run(
        [
          search.check(paired: [:]), directory.map(Checkup.state), examined.card,
          examined.rights, Checkup.clock(), Checkup.interfaces(),
        ].compactMap(\.self))
      try checkup.run([examined.receiver(search)])
      throw ExitCode(try checkup.end())
    }
  }
}

/// A receiver in another process, which `tutti-receiver doctor` examines.
private struct ExaminedReceiver: Sendable {
  private static let program = "tutti-receiver"

  let directory: String
  /// The receiver's process; nil if none runs.
  private let process: Int32?
  private let device: String
  private let output: String
  private let port: Int
  private let name: String
  private let isOpen: Bool
  private let isToBeAnnounced: Bool

  init(_ directory: String, given: ReceiverCommand) {
    self.directory = directory
    let files = SystemFiles()
    let holder = DirectoryLock.process(holding: directory)
    let process = holder.flatMap { files.runs($0, program: Self.program) ? $0 : nil }
    let arguments = process.map { files.arguments(ofProcess: $0).dropFirst() }
    let command = arguments.flatMap { try? ReceiverCommand.parse(Array($0)) } ?? given
    self.process = process
    (device, output, port) = (command.device, command.output, command.port)
    name = command.name ?? ReceiverConfiguration.hostName
    isOpen = AccessPolicy(rawValue: command.access) == .open
    isToBeAnnounced = command.mdns
  }

  // MARK: - Checks

  var card: Checkup.Check {
    Checkup.Check(
      "sound card",
      ifSilent: .wrong(
        "sound card", "\(device) hangs as it is opened",
        cure: "restart the sound server, or unplug the card and plug it in again")
    ) {
      guard output == "alsa" else {
        return [CardFacts(device: device, state: .unused(output)).finding]
      }
      let owners = SystemFiles().soundOwners()
      let obstacle = ALSALibrary.obstacle(toOpening: device)
      let state: CardFacts.State =
        obstacle.map { $0.code == -EBUSY ? .busy : .failed("\($0)") } ?? .opened
      return [
        CardFacts(device: device, state: state, owners: owners, receiver: process).finding
      ]
    }
  }

  var rights: Checkup.Check {
    Checkup.Check(
      "rights", ifSilent: .notice("rights", "the system does not say", cure: "see: ulimit -r -l")
    ) {
      SystemFiles().rights(ofProcess: process)?.findings ?? [
        .notice("rights", "the system does not say", cure: "see: ulimit -r -l")
      ]
    }
  }

  func receiver(_ search: NetworkSearch) -> Checkup.Check {
    Checkup.Check(
      "receiver",
      ifSilent: .wrong(
        "receiver", "does not answer", cure: "sudo systemctl restart tutti-receiver")
    ) {
      let own = search.services.first { $0.isLocal && $0.advertisement?.id == identifier }
      let port = port > 0 ? UInt16(exactly: port) : own?.port
      let trust = try? TrustFile(directory: directory).read()
      return ReceiverFacts(
        process: process, name: name, port: port.map(ReceiverFacts.Port.look) ?? .unknown,
        isAnnounced: search.works && isToBeAnnounced ? own != nil : nil,
        pairings: trust?.memory.pairings.all.count ?? 0, isOpen: isOpen
      ).findings
    }
  }

  private var identifier: Identifier? {
    let pem = (try? StateFile(path: directory + "/receiver-key.pem").read(limit: 4096)) ?? nil
    return pem.flatMap { try? TLSContext(IdentityKey(pem: $0)) }?.identifier
  }
}

extension Console {
  fileprivate static var isColoured: Bool {
    let terminal = getenv("TERM").map { String(cString: $0) } ?? ""
    let refusal = getenv("NO_COLOR").map { String(cString: $0) } ?? ""
    return isatty(STDOUT_FILENO) == 1 && refusal.isEmpty && !["", "dumb"].contains(terminal)
  }

  /// Width of the terminal in columns; nil if standard output is no terminal.
  fileprivate static var width: Int? {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
