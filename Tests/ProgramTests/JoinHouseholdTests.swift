import Clock
import Driver
import Foundation
import LinuxIO
import OpenSSLSecurity
import Pairing
import Sender
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// The first daemon of a household, as far as a machine that joins sees it.
private final class OfferingDaemon: Sendable {
  /// The facts that outlive a connection.
  private final class Book: Sendable {
    private let counts = Mutex((wrong: 0, joined: [String]()))

    func guess() -> HouseholdOffer.Input {
      counts.withLock { counts in
        guard counts.wrong < GuessLimit.free else {
          return .guessRefused(PairingRefusal(reason: .wait, wait: 30_000))
        }
        counts.wrong += 1
        return .guessKept
      }
    }

    func joined(_ name: String) {
      counts.withLock { counts in
        counts.wrong = 0
        counts.joined.append(name)
      }
    }

    var joined: [String] { counts.withLock { $0.joined } }
  }

  let identity: IdentityKey
  private let book: Book
  private let peer: TestPeer

  /// - Parameter key: the key that it gives; nil is its own.
  init(_ pin: PIN, gives key: IdentityKey? = nil) throws {
    let (identity, book) = (try IdentityKey.generate(), Book())
    let pem = try (key ?? identity).pem()
    let record = try SPAKE2().verifierRecord(
      pin: pin.digits, salt: Array(repeating: 7, count: PairingMessage.saltByteCount))
    peer = try TestPeer { connection in
      guard connection.secure(.accepted, identity), let peer = connection.peer else { return }
      var offer = HouseholdOffer(
        id: identity.identifier, name: "Ann's home", key: pem, record: record,
        arithmetic: SPAKE2(), at: HostClock.now)
      offer.handle(.connected(peer), at: HostClock.now)
      while case let bytes = connection.receive(), !bytes.isEmpty {
        offer.handle(.received(bytes), at: HostClock.now)
        while let output = offer.nextOutput() {
          switch output {
          case .send(let bytes): connection.send(bytes)
          case .keepGuess: offer.handle(book.guess(), at: HostClock.now)
          case .joined(let name): book.joined(name)
          case .close: connection.end()
          }
        }
      }
    }
    (self.identity, self.book) = (identity, book)
  }

  var joined: [String] { book.joined }
  var port: UInt16 { peer.port }
  var address: String { peer.address }
}

/// Tests of a machine that joins a household, over real connections.
@Suite struct JoinHouseholdTests {
  private static let pin = PIN(random: 1)
  private static let other = PIN(random: 2)
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func join(_ pin: PIN, at port: UInt16) throws -> PairingReport {
    try HouseholdJoining.run(pin, as: "attic", at: [.loopback(port: port)])
  }

  @Test func `a machine gets the key that the daemon has proved, by the PIN alone`() throws {
    let daemon = try OfferingDaemon(Self.pin)
    let key = try daemon.identity.pem()
    #expect(
      try Self.join(Self.pin, at: daemon.port)
        == .joined(daemon.identity.identifier, name: "Ann's home", key: key))
    #expect(daemon.joined == ["attic"])
    for _ in 1...3 { #expect(try Self.join(Self.other, at: daemon.port) == .wrongPIN) }
    let wait = PairingRefusal(reason: .wait, wait: 30_000)
    #expect(try Self.join(Self.pin, at: daemon.port) == .refused(wait))
    #expect(daemon.joined == ["attic"])
  }

  @Test func `a key that is not that of the daemon is not taken`() throws {
    let daemon = try OfferingDaemon(Self.pin, gives: try .generate())
    #expect(
      try Self.join(Self.pin, at: daemon.port) == .broken("the key that it gave is not its own"))
  }

  @Test func `a man in the middle of joining, with keys of his own, gets no key`() throws {
    let daemon = try OfferingDaemon(Self.pin)
    let thief = try IdentityKey.generate()
    let port = daemon.port
    let heard = Mutex<[UInt8]>([])
    let middle = try TestPeer { machine in
      guard machine.secure(.accepted, thief),
        let connection = TestConnection.sender(to: port, thief)
      else { return }
      Thread {
        while case let bytes = connection.receive(), !bytes.isEmpty {
          heard.withLock { $0 += bytes }
          machine.send(bytes)
        }
        machine.end()
      }.start()
      while case let bytes = machine.receive(), !bytes.isEmpty { connection.send(bytes) }
      connection.end()
    }
    #expect(try Self.join(Self.pin, at: middle.port) == .wrongPIN)
    #expect(daemon.joined.isEmpty)
    // The salt and the answer, each behind its length and type.
    let count: Int = 6 + 16 + 6 + 65 + 32
    #expect(heard.withLock { $0.count } == count)
  }

  @Test func `where no daemon listens, joining says so`() throws {
    let port = try TestPeer { _ in }.port
    guard case .unreachable? = try? Self.join(Self.pin, at: port) else {
      Issue.record("reached")
      return
    }
  }

  // MARK: - The command

  private func command(_ arguments: String...) throws -> (code: Int32, said: [String]) {
    let program = try Program(
      "tutti", ["join-household"] + arguments + ["--state-dir", folder.file("state")])
    return (try program.exitCode(), program.lines)
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try folder.bytes(of: "state/" + name), as: UTF8.self)
  }

  @Test func `the command keeps the household's key, where it is, and the key before`() throws {
    let daemon = try OfferingDaemon(Self.pin)
    let own = try IdentityKey.generate().pem()
    try folder.write(own, to: "state/sender-key.pem")
    for _ in 1...2 {
      let (code, said) = try command(daemon.address, "--pin", Self.pin.written)
      #expect(code == 0)
      #expect(
        said == [
          "joined the household Ann's home of \(daemon.address); start its second daemon: tutti serve --with '\(daemon.address)'"
        ])
      #expect(try folder.bytes(of: "state/sender-key.pem") == daemon.identity.pem())
      #expect(try folder.bytes(of: "state/sender-key.pem.before") == own)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("state"))
    #expect(names.filter { $0.contains("before") } == ["sender-key.pem.before"])
    #expect(
      try text("second") == """
        first no
        term 0
        leads no
        address \(daemon.address)
        name Ann's home

        """)
    for name in ["second", "sender-key.pem", "sender-key.pem.before"] {
      let facts = try FileManager.default.attributesOfItem(atPath: folder.file("state/" + name))
      #expect(facts[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func `a PIN that is none or wrong joins nothing, and says where it is shown`() throws {
    let daemon = try OfferingDaemon(Self.pin)
    let typo = try command(daemon.address, "--pin", "1234 5673")
    #expect(typo.code == 64 && typo.said.first?.contains("checks the others") == true)
    let wrong = try command(daemon.address, "--pin", Self.other.written)
    #expect(wrong.code == 69)
    #expect(
      wrong.said == [
        "tutti: \(daemon.address): the PIN is wrong; it is shown there by: tutti pin"
      ])
    #expect(try command(daemon.address).code == 64)
    for name in ["second", "sender-key.pem"] {
      #expect(!FileManager.default.fileExists(atPath: folder.file("state/" + name)))
    }
  }

  @Test func `a machine joins once its own daemon has ended`() throws {
    let other = try OfferingDaemon(Self.pin)
    let own = try Daemon(in: folder)
    #expect(throws: Daemon.Refused.self) {
      try own.run("join-household", other.address, "--pin", Self.pin.written)
    }
    #expect(other.joined.isEmpty)
    _ = try own.run("stop", "--daemon")
    #expect(try own.program.exitCode() == 0)
    #expect(
      try own.run("join-household", other.address, "--pin", Self.pin.written).first?
        .hasPrefix("joined the household") == true)
  }
}
