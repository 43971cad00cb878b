import Foundation
import OpenSSLSecurity
import SecurityTestSupport
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Tests of impostors, between and against real programs.
@Suite struct ImpostorTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Returns an environment with its own directory for tokens, as each user has one.
  private func home(_ user: String) throws -> [String: String] {
    let path = folder.file("home-\(user)")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return ["XDG_RUNTIME_DIR": path]
  }

  private func receiver(_ access: String = "paired") throws -> ReceiverProgram {
    try ReceiverProgram("a", in: folder, "--access", access, environment: try home("ann"))
  }

  private func tutti(_ arguments: String..., state: String = "player") throws -> Program {
    try Program(
      "tutti", arguments + ["--state-dir", folder.file(state)], environment: try home("bob"))
  }

  /// Runs a command of the receiver's owner, and returns its output.
  private func box(_ command: String) throws -> [String] {
    let program = try Program(
      "tutti-receiver", [command, "--state-dir", folder.file("state-a")])
    _ = try program.exitCode()
    return program.lines
  }

  private func pair(at address: String, state: String = "player") throws {
    let pin = try #require(try box("pin").first)
    let program = try tutti("pair", "--at", address, "--pin", pin, state: state)
    #expect(try program.exitCode() == 0, "\(program.lines)")
  }

  private func key(_ path: String) throws -> IdentityKey {
    try IdentityKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: folder.file(path)))))
  }

  private func tone(seconds: Double) throws -> String {
    try folder.write(Tone.wave(rate: 48_000, seconds: seconds), to: "tone.wav")
  }

  /// Decodes complete control messages.
  private static func messages(_ bytes: [UInt8]) throws -> [ControlMessage] {
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    framer.append(bytes)
    var messages: [ControlMessage] = []
    while let raw = try framer.next() {
      if let message = try ControlMessage.decode(raw) { messages.append(message) }
    }
    return messages
  }

  // MARK: - Pairing

  @Test func `a man in the middle of a pairing, with keys of his own, pairs with nobody`() throws {
    let receiver = try receiver()
    let pin = try #require(try box("pin").first)
    let own = (try IdentityKey.generate(), try IdentityKey.generate())
    let passed = Mutex<[UInt8]>([])
    let port = receiver.port
    let middle = try TestPeer { sender in
      guard sender.secure(.accepted, own.0), let receiver = TestConnection.sender(to: port, own.1)
      else { return sender.end() }
      Thread {
        while case let bytes = receiver.receive(), !bytes.isEmpty { sender.send(bytes) }
        sender.end()
      }.start()
      while case let bytes = sender.receive(), !bytes.isEmpty {
        passed.withLock { $0 += bytes }
        receiver.send(bytes)
      }
      receiver.end()
    }
    let pairing = try tutti("pair", "--at", middle.address, "--pin", pin)
    #expect(try pairing.exitCode() == 69)
    #expect(pairing.lines.first?.contains("the PIN is wrong") == true, "\(pairing.lines)")
    // The sender has sent its share, but no confirmation.
    let said = passed.withLock { $0 }
    let share = 4 + 2 + PairingMessage.shareByteCount
    #expect(said.count > share && said.count < share + 4 + 2 + 32 + 80)
    #expect(try box("pairings").first?.hasPrefix("nobody is paired") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("player/paired")))
    for identity in [own.0, own.1] {
      let heard = TestConnection.sender(to: port, identity)
      heard?.send(try greeting(of: identity))
      guard case .refuse(let refusal)? = try Self.messages(heard?.receiveAll() ?? []).first else {
        Issue.record("not refused")
        return
      }
      #expect(refusal.reason == .notPaired)
    }
  }

  // MARK: - Keys

  @Test func `a stolen certificate without its key opens no receiver`() throws {
    let receiver = try receiver()
    try pair(at: receiver.address)
    let victim = try key("player/sender-key.pem")
    let thief = try ForeignPeer(.dialled, .init(key: .stolen(victim)))
    let connection = try #require(TestConnection(port: receiver.port))
    #expect(connection.converse(thief, saying: try greeting(of: victim)).isEmpty)
    // With the key the sender is accepted.
    let owner = try #require(TestConnection.sender(to: receiver.port, victim))
    owner.send(try greeting(of: victim))
    guard case .welcome? = try Self.messages(owner.receive()).first else {
      Issue.record("no welcome")
      return
    }
  }

  @Test func `a receiver with a stolen certificate hears nothing`() throws {
    let key = try IdentityKey.generate()
    let heard = Mutex<[UInt8]>([])
    let thief = try TestPeer { connection in
      guard let foreigner = try? ForeignPeer(.accepted, .init(key: .stolen(key))) else { return }
      let bytes = connection.converse(foreigner, saying: [])
      heard.withLock { $0 += bytes }
    }
    let player = try tutti("play", try tone(seconds: 1), "--at", thief.address)
    try player.line(with: "it could not prove that its identity key is its own")
    _ = try player.stop()
    #expect(heard.withLock { $0 }.isEmpty)
  }

  @Test func `a paired sender that claims another's identifier is refused`() throws {
    let receiver = try receiver()
    try pair(at: receiver.address)
    try pair(at: receiver.address, state: "other")
    let (victim, other) = (try key("player/sender-key.pem"), try key("other/sender-key.pem"))
    let connection = try #require(TestConnection.sender(to: receiver.port, other))
    connection.send(try greeting(of: victim))
    guard case .refuse(let refusal)? = try Self.messages(connection.receiveAll()).first else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.reason == .protocolViolation)
  }

  @Test func `a receiver that claims another's identifier gets no music`() throws {
    let key = try IdentityKey.generate()
    var welcome = try Specification.example("control.welcome")
    welcome.replaceSubrange(10..<26, with: try IdentityKey.generate().identifier.bytes)
    let answer = welcome
    let heard = Mutex<[ControlMessage]>([])
    let clone = try TestPeer { connection in
      guard connection.secure(.accepted, key) else { return }
      connection.send(answer)
      let messages = (try? Self.messages(connection.receiveAll())) ?? []
      heard.withLock { $0 += messages }
    }
    let player = try tutti("play", try tone(seconds: 1), "--at", clone.address)
    try player.line(with: "the receiver id is not that of its key")
    _ = try player.stop()
    let types = heard.withLock { $0 }.map { message in
      switch message {
      case .hello, .goodbye: true
      default: false
      }
    }
    #expect(!types.isEmpty && !types.contains(false))
  }

  @Test func `another paired sender cannot send its sound into a session`() throws {
    let receiver = try receiver()
    try pair(at: receiver.address)
    try pair(at: receiver.address, state: "other")
    let session = Mutex<UInt64>(0)
    // The place after magic, version, flags and identifier.
    let place = 6 + 4 + 2 + 2 + Identifier.byteCount
    let interceptor = try Interceptor(to: receiver.port, of: "a", in: folder) { type, message in
      if type == 0x0001 {
        session.withLock { $0 = message[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) } }
      }
      return message
    }
    let player = try tutti("play", try tone(seconds: 3), "--at", interceptor.address)
    try receiver.program.line(with: "playing")
    let thief = try #require(
      TestConnection.sender(to: receiver.port, try key("other/sender-key.pem")))
    thief.send(MediaMessage.attach(session: session.withLock { $0 }).encoded())
    thief.send(try Specification.example("media.packet"))
    #expect(thief.receiveAll().isEmpty)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    // The clock's packets take a detour here, which is longer on a busy machine.
    expectOneTone(
      try ToneRecording(folder.file("a.wav")), seconds: 3, flaw: 1e-3, steering: 0.2)
  }

  // MARK: - Versions

  @Test func `a peer of version 1 is told nothing, and plays nothing`() throws {
    let receiver = try receiver("open")
    var hello = try greeting(of: try IdentityKey.generate())
    hello.replaceSubrange(10..<12, with: [0, 1])
    // Unencrypted, as in version 1.
    let old = try #require(TestConnection(port: receiver.port))
    old.send(hello)
    #expect(try messagesInTheClear(old.receiveAll()) == 0)
    // With the protocol name that version 1 would have in a handshake.
    let connection = try #require(TestConnection(port: receiver.port))
    let foreigner = try ForeignPeer(.dialled, .init(applicationProtocol: "tutti/1"))
    #expect(connection.converse(foreigner, saying: hello).isEmpty)
    // Acts as a receiver that waits for an unencrypted hello.
    let heard = Mutex<[UInt8]>([])
    let silent = try TestPeer { connection in
      let bytes = connection.receive()
      heard.withLock { $0 += bytes }
      connection.send([0, 0, 0, 2, 1, 2])
      _ = connection.receiveAll()
    }
    let player = try tutti("play", try tone(seconds: 1), "--at", silent.address)
    try player.line(with: "it does not speak TLS: an older version of Tutti")
    _ = try player.stop()
    #expect(heard.withLock { $0 }.first == WireTap.Record.handshake)
  }

  /// Counts messages. A TLS alert is not one.
  private func messagesInTheClear(_ bytes: [UInt8]) throws -> Int {
    bytes.first == 21 ? 0 : try Self.messages(bytes).count
  }

  @Test func `a hello that names an older version of the protocol is refused`() throws {
    let receiver = try receiver("open")
    let key = try IdentityKey.generate()
    var hello = try greeting(of: key)
    hello.replaceSubrange(10..<12, with: [0, 1])
    let connection = try #require(TestConnection.sender(to: receiver.port, key))
    connection.send(hello)
    guard case .refuse(let refusal)? = try Self.messages(connection.receiveAll()).first else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.reason == .unsupportedVersion)
  }

  enum Downgrade: CaseIterable {
    /// The sender's list of TLS versions names 1.2 instead of 1.3.
    case offer
    /// The receiver's choice is 1.2.
    case choice
    /// The sender's list of protocols lacks ours.
    case protocolName
  }

  @Test(arguments: Downgrade.allCases)
  func `a handshake that somebody weakens on the way agrees on nothing`(how: Downgrade) throws {
    let receiver = try receiver("open")
    let tap = try WireTap(to: receiver.port) { record in
      guard record.number == 0 else { return [record.bytes] }
      switch (how, record.direction) {
      case (.offer, .toReceiver):
        return [record.bytes.replacing([0, 43, 0, 3, 2, 3, 4], with: [0, 43, 0, 3, 2, 3, 3])]
      case (.choice, .toSender):
        return [record.bytes.replacing([0, 43, 0, 2, 3, 4], with: [0, 43, 0, 2, 3, 3])]
      case (.protocolName, .toReceiver):
        return [record.bytes.replacing(Array("tutti/2".utf8), with: Array("tutti/1".utf8))]
      default: return [record.bytes]
      }
    }
    let player = try tutti("play", try tone(seconds: 1), "--at", tap.address)
    try player.line(with: "127.0.0.1")
    _ = try player.stop()
    // Nobody has sent anything after a hello except the reason for the end.
    let control = tap.records.filter { $0.connection == 0 }
    #expect(!control.isEmpty)
    for record in control where record.type == WireTap.Record.applicationData {
      // The receiver sends this before it knows whether the sender accepts its choice.
      #expect(how == .choice && record.direction == .toSender)
    }
    #expect(receiver.program.lines(with: "sender connected").isEmpty)
  }

  // MARK: - Others' programs

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func `openssl s_client is let in with TLS 1.3 alone`(version: String) throws {
    let receiver = try receiver("open")
    let key = folder.file("key.pem")
    let certificate = folder.file("certificate.pem")
    try folder.write(try IdentityKey.generate().pem(), to: "key.pem")
    let made = try Program(
      "/usr/bin/openssl",
      ["req", "-new", "-x509", "-key", key, "-subj", "/CN=x", "-days", "1", "-out", certificate])
    #expect(try made.exitCode() == 0, "\(made.lines)")
    let client = try Program(
      "/usr/bin/openssl",
      ["s_client", "-connect", receiver.address, version, "-alpn", "tutti/2"]
        + ["-cert", certificate, "-key", key])
    let code = try client.exitCode()
    let isNew = version == "-tls1_3"
    #expect((code == 0) == isNew, "\(client.lines)")
    #expect(client.lines.contains { $0.hasPrefix("New, TLSv1.3, Cipher is TLS_") } == isNew)
    #expect(client.lines.contains("ALPN protocol: tutti/2") == isNew)
  }
}
