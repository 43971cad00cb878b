import Clock
import Foundation
import OpenSSLSecurity
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Tests of peers that misbehave while music plays between others.
@Suite struct AttackTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// An attacker's connections, held open so that they use up resources.
  private final class Flood: Sendable {
    private let held = Mutex<[TestConnection]>([])

    /// Connects; unencrypted if there is no key.
    func connect(to port: UInt16, _ key: IdentityKey?, saying bytes: [UInt8]) {
      guard let connection = TestConnection(port: port) else { return }
      if let key { _ = connection.secure(.dialled, key) }
      connection.send(bytes)
      held.withLock { $0.append(connection) }
    }
  }

  /// First messages of an attacker: noise, another protocol, another version, an invalid length, half a
  /// message, nothing.
  private func openings() throws -> [[UInt8]] {
    let hello = try Specification.example("control.hello")
    var newer = hello
    newer.replaceSubrange(10..<12, with: [0xFF, 0xFF])
    var older = hello
    older.replaceSubrange(10..<12, with: [0, 0])
    var generator = SplitMix64(seed: 20)
    let noise = (0..<4000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return [
      noise, Array("GET / HTTP/1.1\r\nHost: kitchen\r\n\r\n".utf8), newer, older,
      [0xFF, 0xFF, 0xFF, 0xFF, 0, 1], Array(hello.dropLast(3)), [],
      try Specification.example("control.anchor"), try Specification.example("control.flush"),
      try Specification.example("media.packet"),
      try Specification.example("media.attach"), try Specification.example("control.welcome"),
    ]
  }

  @Test func `a receiver under attack plays on, and neither grows nor chatters`() throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 4), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player([tone], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")

    let flood = Flood()
    let openings = try openings()
    let key = try IdentityKey.generate()
    for turn in 0..<600 {
      flood.connect(
        to: receiver.port, turn / openings.count % 2 == 0 ? key : nil,
        saying: openings[turn % openings.count])
    }
    #expect(try receiver.program.descriptorCount() < 200)
    #expect(try receiver.program.status("VmHWM") < 128 << 10)

    #expect(try player.exitCode() == 0, "\(player.lines)")
    withExtendedLifetime(flood) {}
    #expect(try receiver.program.stop() == 0)
    // At most ten lines of a kind are written a minute, and half a minute has not passed.
    #expect(receiver.program.lines.count < 40, "\(receiver.program.lines)")
    expectOneTone(try ToneRecording(folder.file("a.wav")), seconds: 4)
  }

  @Test func `a receiver lets go of who comes and says nothing for ever`() throws {
    let receiver = try ReceiverProgram("a", in: folder)
    let silent = (0..<100).compactMap { _ in TestConnection(port: receiver.port) }
    #expect(silent.count == 100)
    // Connections that others displaced see the end of the stream.
    #expect(silent.first?.receiveAll() == [])
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 1), to: "tone.wav")
    let player = try player([tone], at: [receiver.address], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    withExtendedLifetime(silent) {}
  }

  @Test func `a player among strange peers plays on, and names each of them`() throws {
    let receiver = try ReceiverProgram("a", in: folder)
    let key = try IdentityKey.generate()
    var welcome = try Specification.example("control.welcome")
    // Set the identifier, which must match the key.
    welcome.replaceSubrange(10..<26, with: key.identifier.bytes)
    let greeting = welcome
    let credit = try Specification.example("control.credit")
    let noise = try TestPeer { connection in
      while connection.send(Array("garbage ".utf8)) { _ = connection.receive() }
    }
    let closing = try TestPeer { _ in }
    let silent = try TestPeer { connection in _ = connection.receiveAll() }
    let newer = try TestPeer { connection in
      guard connection.secure(.accepted, key) else { return }
      var welcome = greeting
      welcome.replaceSubrange(6..<8, with: [0, 99])
      connection.send(welcome)
      _ = connection.receiveAll()
    }
    let generous = try TestPeer { connection in
      guard connection.secure(.accepted, key) else { return }
      var credit = credit
      // Set the limit to the largest allowed value.
      credit.replaceSubrange(6..<14, with: [0x10, 0, 0, 0, 0, 0, 0, 0])
      connection.send(greeting + credit)
      _ = connection.receiveAll()
    }
    let peers = [noise, closing, silent, newer, generous]
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 4), to: "tone.wav")
    let player = try player(
      [tone], at: [receiver.address] + peers.map(\.address), in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    expectOneTone(try ToneRecording(folder.file("a.wav")), seconds: 4)
    for peer in [noise, closing, newer] {
      let lines = player.lines(with: peer.address)
      #expect((1...8).contains(lines.count), "\(player.lines)")
      #expect(peer.connectionCount < 20)
    }
    #expect(player.lines.count < 40, "\(player.lines)")
  }

  @Test func `noise on the clock's port harms nobody`() throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 3), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let player = try player([tone], at: [receiver.address], in: folder)
    try receiver.program.line(with: "playing")
    let request = try Specification.example("time.request")
    let answer = try Specification.example("time.answer")
    let noise = (0..<200).map { size in [UInt8](repeating: UInt8(size), count: size * 5) }
    for process in [receiver.program.process, player.process] {
      for port in try udpPorts(of: process) {
        sendDatagrams(noise, to: port)
        sendDatagrams(Array(repeating: request, count: 200), to: port)
        sendDatagrams(Array(repeating: answer, count: 200), to: port)
      }
    }
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    #expect(receiver.program.lines.count < 20, "\(receiver.program.lines)")
    expectOneTone(try ToneRecording(folder.file("a.wav")), seconds: 3)
  }
}
