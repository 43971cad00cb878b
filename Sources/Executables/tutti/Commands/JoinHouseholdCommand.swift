import ArgumentParser
import Driver
import Glibc
import House
import LinuxIO
import Pairing
import Sender
import Service
import WireProtocol

struct JoinHouseholdCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join-household",
    abstract: "Makes this machine the second one of a household, once, by the household's PIN.",
    discussion: """
      On the household's machine, the daemon waits for a second one with:
      tutti serve --second yes
      To see the PIN, run this there: tutti pin
      This machine gets the household's key, so that its rooms know it.
      A key that was there before is kept: sender-key.pem.before

      Examples:
        tutti join-household 192.168.1.20         asks for the PIN
        tutti join-household attic --pin '1234 5671'
        sudo tutti join-household attic           for the service, which is stopped
      """)
  @Argument(help: .init("The household's machine.", valueName: "host[:port]"))
  var host: String
  @Option(help: .init("The PIN, for scripts.", valueName: "PIN"))
  var pin: String?
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      let state = try StateDirectory(common.stateDir)
      guard let place = try? DaemonPlace(host) else {
        throw Failure(.usage, "write a host and perhaps a port: music.local or 192.168.1.20:8771")
      }
      let client = ControlClient(.init(path: state.controlSocket), isQuiet: true)
      guard case .own = state.trust, try !client.isAnswered else {
        throw Failure(
          .unavailable, "a daemon or a player runs here; end it first: tutti stop --daemon")
      }
      do {
        try join(place, state)
      } catch let error as IOError {
        throw Failure(.unavailable, "\(error)")
      } catch let error as HostResolver.Failure {
        throw Failure(.unavailable, "\(error)")
      }
    }
  }

  private func join(_ place: DaemonPlace, _ state: StateDirectory) throws {
    ProcessMemory.hide()
    // A host that is not there is told before a PIN is asked for.
    let addresses = try HostResolver.resolve(host: place.host, port: place.port)
    let isInteractive = pin == nil && isatty(STDIN_FILENO) == 1 && !common.json
    let dialogue = PairingDialogue(
      room: place.text.shownPlainly, isInteractive: isInteractive, shownBy: "tutti pin")
    let household = try PINPrompt.run(dialogue, with: pin) { pin in
      let report = try HouseholdJoining.run(pin, as: HostName.current, at: addresses)
      guard case .joined(_, let household, let key) = report else { return report }
      try SenderKeyFile(stateDirectory: state.path).replace(with: key)
      let memory = Leadership.Memory(term: 0, leads: false, isFirst: false)
      try SecondFile(directory: state.path).write(
        SecondRecord(memory: memory, address: place, name: household))
      return report
    }
    if common.json {
      return try printJSON(["id": household.id.hex, "household": household.name])
    }
    try printLine(
      "joined the household \(household.name.shownPlainly) of \(place.text.shownPlainly); start its second daemon: "
        + "tutti serve --with \(place.text.asShellWord)")
  }
}
