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

/// Checks the programs of inputs and the servers of libraries that the daemon's configuration names, and the servers that people
/// have added.
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
    return Self.check(
      server.name, host, cure: "see [library \(server.name)] in the configuration of the daemon"
    ) {
      ServerLook.problem(of: server, command: HouseSurfaces.worker)
        .map { "\(host) cannot be listed: \($0)" }
    }
  }

  /// Has the daemon ask the servers that people have added: it alone knows their passwords.
  static func added(_ client: ControlClient) -> [Checkup.Check] {
    // The look at the player tells of a daemon that does not answer.
    let servers = (try? client.askLibrary(.servers))?.servers ?? []
    return servers.filter { !$0.isFixed }.map { server in
      let host = ListenAddress(server.address)?.authority ?? server.address
      return check(
        server.name, host, cure: "see: tutti servers; remove it, and add it with what is right now"
      ) {
        do {
          _ = try client.askLibrary(.check(server: server.name))
          return nil
        } catch {
          return "\(error)"
        }
      }
    }
  }

  /// - Parameter look: returns a problem; nil if all is well.
  private static func check(
    _ name: String, _ host: String, cure: String, _ look: @escaping @Sendable () -> String?
  ) -> Checkup.Check {
    Checkup.Check(
      name, timeout: serverTimeout,
      ifSilent: .wrong(name, "\(host) does not answer in time", cure: cure)
    ) {
      guard let problem = look() else { return [.well(name, "\(host) gives its songs")] }
      return [.wrong(name, problem, cure: cure)]
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
