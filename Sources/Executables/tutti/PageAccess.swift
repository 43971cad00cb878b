import Driver
import Glibc
import LinuxIO
import OpenSSLSecurity
import Pairing
import QRCode
import Service
import Synchronization
import WebServer

/// Decides who may use the page: stored in the state directory, shown on the terminal, and changed over the
/// control socket.
final class PageAccess: Sendable {
  let house: HouseAccess
  private let port: PagePort

  init(_ configuration: HouseConfiguration, state: StateDirectory) throws {
    if let token = configuration.token, !WebToken.isUsable(token) {
      throw Failure(
        .usage,
        "token has 8 to 256 letters, figures and signs without spaces, quotes, commas, semicolons and backslashes"
      )
    }
    let port = PagePort(configuration)
    self.port = port
    let file = state.accessFile
    do {
      let kept = try file.read(limit: Self.sizeLimit).map { String(decoding: $0, as: UTF8.self) }
      house = try HouseAccess(
        kept, isOpen: configuration.open, token: configuration.token,
        means: .init(
          now: { HostClock.now }, today: { time(nil) / 86_400 },
          random: { try SystemRandom.bytes($0) }, sha256: { Digest.sha256($0) },
          keep: { try file.write(Array($0.utf8)) }, address: { port.address }))
    } catch {
      throw Failure(.unavailable, "the list of paired browsers cannot be read or written: \(error)")
    }
  }

  /// Size limit of the file in bytes; 64 browsers take a tenth of it.
  private static let sizeLimit = 64 << 10

  // MARK: - At the start

  /// Lines that a terminal shows at the start; shorter ones for the log if there is no terminal.
  func lines(port number: Int, isTerminal: Bool) -> [String] {
    port.set(number)
    let invitation = try? house.invite(lasts: true)
    guard isTerminal, let invitation, let code = QRCode(invitation.address) else {
      let start = "the page is \(port.address)"
      guard house.browsers.isEmpty, let pin = house.pin else { return [start] }
      return [start, "no browser is paired yet; the page asks for the PIN \(pin.written)"]
    }
    return code.lines + [
      "scan this with a phone; or open \(invitation.page) and type the PIN \(invitation.pin)",
      "more phones: tutti add-phone",
    ]
  }
}

/// The address under which phones reach the page.
private final class PagePort: Sendable {
  private let port: Mutex<Int>
  private let name: String?
  private let listen: [String]

  init(_ configuration: HouseConfiguration) {
    port = Mutex(Int(configuration.port))
    name = configuration.hosts.first { $0.contains(".") }
    listen = configuration.listen
  }

  func set(_ number: Int) { port.withLock { $0 = number } }

  /// The first host name in the configuration that has a dot, else a numeric address, because phones cannot
  /// resolve every machine's name.
  var address: String {
    let isHere = { (address: String) in address.hasPrefix("127.") || address == "::1" }
    let own = listen.first { !isHere($0) && $0 != "::" && $0 != "0.0.0.0" }
    let isNowhereElse = !listen.isEmpty && listen.allSatisfy(isHere)
    let host = name ?? own ?? (isNowhereElse ? nil : OwnAddress.towardsNetwork) ?? "localhost"
    return "http://\(host.contains(":") ? "[\(host)]" : host):\(port.withLock { $0 })"
  }
}
