import Clock
import Diagnosis
import Doctor
import Driver
import Glibc
import House
import Library
import LinuxIO
import Service
import WireProtocol

/// Services that the system starts by itself.
enum SystemService {
  private static let folder = "/etc/systemd/system/multi-user.target.wants"

  /// True if the package's own service of this name starts at boot.
  static func isEnabled(_ name: String) -> Bool { access("\(folder)/\(name).service", F_OK) == 0 }
}

/// Checks the programs of inputs and the servers of libraries that the daemon's configuration names.
struct SourceLooks {
  private let given: String?

  init(_ config: String?) { given = config }

  var checks: [Checkup.Check] {
    guard let configuration = try? ConfigurationFile.read(given) else {
      return [
        check("inputs") {
          ConfigurationFile.isClosed(given)
            ? .notice(
              "inputs", "this user may not read the daemon's configuration",
              cure: "sudo tutti doctor")
            : .wrong("inputs", "the configuration cannot be read", cure: "see: tutti serve")
        }
      ]
    }
    return configuration.inputs.compactMap { input in
      guard case .program(let settings) = input.source else { return nil }
      return check(input.name) { Self.finding(of: input.name, settings) }
    } + configuration.servers.map(check)
  }

  /// A server may take as long as the program that asks it.
  private static let serverTimeout = Nanoseconds.seconds(16)

  private func check(_ server: MediaServer) -> Checkup.Check {
    let host = server.address.authority
    let cure = "see [library \(server.name)] in the configuration of the daemon"
    return Checkup.Check(
      server.name, timeout: Self.serverTimeout,
      ifSilent: .wrong(server.name, "\(host) does not answer in time", cure: cure)
    ) {
      guard let reason = ServerLook.problem(of: server, command: HouseSurfaces.worker) else {
        return [.well(server.name, "\(host) gives its songs")]
      }
      return [.wrong(server.name, "\(host) cannot be listed: \(reason)", cure: cure)]
    }
  }

  private func check(_ name: String, _ look: @escaping @Sendable () -> Finding) -> Checkup.Check {
    Checkup.Check(
      name, ifSilent: .wrong(name, "the disk does not answer", cure: "see: dmesg")
    ) { [look()] }
  }

  private static func finding(of name: String, _ settings: InputProgram.Settings) -> Finding {
    let program = settings.command.first ?? ""
    let recipe = SourceRecipe(program: program)
    if let (missing, cure) = recipe?.missing.first {
      return .wrong(name, "\(missing) is missing", cure: cure)
    }
    guard ProgramSearch.path(of: program) != nil else {
      return .wrong(
        name, "there is no program \(program.shownPlainly)",
        cure: "see command in the configuration of the daemon")
    }
    if let recipe, SystemService.isEnabled(recipe.program) {
      return .wrong(
        name, "the system runs \(recipe.program), too, on the same port",
        cure: "sudo systemctl disable --now \(recipe.program)")
    }
    return .well(name, "gets its sound from \(program.shownPlainly)")
  }
}
