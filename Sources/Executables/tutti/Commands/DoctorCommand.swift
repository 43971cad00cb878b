import ArgumentParser
import AvahiDiscovery
import Clock
import Diagnosis
import Doctor
import Driver
import FFmpegSource
import Glibc
import HostFacts
import House
import LinuxIO
import OpenSSLSecurity
import Pairing
import Service
import WireProtocol

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks this machine, the network and every room, and says what to do.",
    discussion: """
      It connects for a second to each room in which nothing plays.
      Rooms that play are left alone, unless you give their address with --at.
      To check a room's sound card, run this on its machine: tutti-receiver doctor

      Examples:
        tutti doctor
        tutti doctor --at 192.168.1.20:7770
        tutti doctor --json

      Exit codes: 0 nothing is wrong, 1 something is.
      """)
  @Option(
    help: .init(
      "Also check the receiver at this address; can be given several times.", valueName: "host:port"
    )
  )
  var at: [String] = []
  @Option(
    help: .init("The daemon's configuration file, if it is another one.", valueName: "file"),
    completion: .file())
  var config: String?
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      let addresses = try at.map { (text: $0, place: try RoomWish.address($0)) }
      let state = try StateDirectory(common.stateDir)
      let trust = state.trust
      let paired = try trust.paired()
      var checkup = Checkup(
        isJSON: common.json, isColoured: Style.isWanted(on: STDOUT_FILENO),
        width: TerminalText.columns(of: STDOUT_FILENO)
      ) { try output(Array(($0 + "\n").utf8)) }
      let (search, player) = (NetworkSearch(), PlayerLook())
      let names = Dictionary(paired.all.map { ($0.id.hex, $0.name) }, uniquingKeysWith: { $1 })
      let client = ControlClient(state.commands, isQuiet: true)
      try checkup.run([
        search.check(paired: names), Checkup.state(state.path), identity(state, trust),
        player.check(
          client,
          hasService: common.stateDir == nil && SystemService.isEnabled("tutti")),
        decoder, Checkup.clock(), Checkup.interfaces(),
      ])
      try checkup.run(SourceLooks(config).checks + SourceLooks.added(client))
      var rooms = RoomDirectory(remembered: state.rememberedRooms(), paired: paired)
      for service in search.services { _ = rooms.found(service) }
      let looks = RoomLooks(
        state: state, search: search, player: player, paired: paired, trust: trust,
        left: state.leftRooms)
      try checkup.run(
        rooms.records.prefix(RoomLooks.limit).map(looks.check)
          + addresses.map { looks.check(address: $0.text, $0.place) })
      throw ExitCode(try checkup.end())
    }
  }

  private func identity(_ state: StateDirectory, _ trust: RoomTrust) -> Checkup.Check {
    Checkup.Check(
      "identity",
      ifSilent: .wrong("identity", "the disk does not answer", cure: "see: dmesg, df \(state.path)")
    ) {
      if case .daemon = trust {
        return [.well("identity", "rooms know this machine as the daemon's")]
      }
      do {
        return [
          .well("identity", "this machine is \(try state.security().identifier.hex.prefix(8))")
        ]
      } catch {
        let line = (error as? Failure)?.description ?? "\(error)"
        return [
          .wrong(
            "identity", "no room can know this machine: \(line)", cure: "see: ls -l \(state.path)")
        ]
      }
    }
  }

  private var decoder: Checkup.Check {
    Checkup.Check(
      "FFmpeg",
      ifSilent: .wrong("FFmpeg", "does not load", cure: "is its disk there? see: dmesg")
    ) {
      guard let (reason, installation) = FFmpegInstallation.obstacle else {
        return [.well("FFmpeg", "is there to read files and addresses")]
      }
      return [.wrong("FFmpeg", "is missing, so nothing can be read: \(reason)", cure: installation)]
    }
  }
}
