import Driver
import Glibc
import LinuxIO
import OpenSSLSecurity
import Pairing
import QRCode
import Service
import Synchronization
import WebServer

/// Who may use the page: kept in the state directory, shown on the terminal, asked about over the control socket.
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
      throw Failure(.unavailable, "who may use the page cannot be read or kept: \(error)")
    }
  }

  /// Bytes of the file; 64 browsers take a tenth of it.
  private static let sizeLimit = 64 << 10

  // MARK: - At the start

  /// What a terminal shows, or the log where there is none.
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

/// Under which address phones reach the page.
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

  /// A name of the configuration, else an address in figures: phones do not find every machine by its name.
  var address: String {
    let own = listen.first { !$0.hasPrefix("127.") && $0 != "::1" && $0 != "::" && $0 != "0.0.0.0" }
    let host = name ?? own ?? OwnAddress.towardsNetwork ?? "localhost"
    return "http://\(host.contains(":") ? "[\(host)]" : host):\(port.withLock { $0 })"
  }
}
