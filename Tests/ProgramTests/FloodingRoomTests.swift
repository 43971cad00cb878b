import Audio
import Clock
import Foundation
import OpenSSLSecurity
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Tests of rooms that send far too much, or read nothing: the others play on, and the player neither grows nor
/// floods its log.
@Suite struct FloodingRoomTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  fileprivate static let decodable: [Codec] = [.pcm, .flac, .opus]

  private static func welcome(_ key: IdentityKey) -> [UInt8] {
    ControlMessage.welcome(
      Welcome(
        version: ProtocolVersion.newest, receiverID: key.identifier, name: "Evil", model: "",
        capacity: Capacity(bytes: 1 << 40, duration: .seconds(1 << 20)), codecs: decodable,
        settings: RoomSettings(volume: 1000, isMuted: false, delay: .zero, channelMap: .stereo),
        held: nil)
    ).encoded()
  }

  fileprivate static func status(_ state: RoomStatus.State, detail: String) -> ControlMessage {
    let none = SyncErrorStatistics(now: .zero, median: .zero, p99: .zero, maximum: .zero)
    return .status(
      RoomStatus(
        state: state, detail: detail, playhead: .zero, bufferedUntil: .zero, heldBytes: 0,
        syncError: none, clockErrorBound: .zero, roundTrip: .zero, commitHorizon: .zero,
        clockDrift: 0, deviceDrift: 0, underruns: 0, latePackets: 0, lostPackets: 0,
        corruptPackets: 0))
  }

  enum Flood: String, CaseIterable {
    case states, losses, codecs, credits

    func message(_ number: Int) -> ControlMessage {
      switch self {
      case .states:
        FloodingRoomTests.status(number % 2 == 0 ? .playing : .noDevice, detail: "\(number)")
      case .losses: .flushedAutomatically(Flushed(generation: 0, from: .zero))
      case .codecs: .codecs(number % 2 == 0 ? FloodingRoomTests.decodable : [.pcm])
      case .credits:
        .credit(Credit(limit: UInt64(number) << 20, bufferedUntil: .zero, heldBytes: 0))
      }
    }
  }

  /// A room that sends this 20 000 times once it gets music. It reads everything that it is sent.
  private static func room(_ flood: Flood) throws -> TestPeer {
    let key = try IdentityKey.generate()
    let welcome = welcome(key)
    return try TestPeer { connection in
      guard connection.secure(.accepted, key) else { return }
      let first = connection.receive()
      if first.count > 5, first[5] == 0x01, first[4] == 0 {
        connection.send(welcome)
        Thread {
          for chunk in 0..<200 {
            let bytes = (0..<100).flatMap { flood.message(100 * chunk + $0).encoded() }
            guard connection.send(bytes) else { return }
          }
        }.start()
      }
      while !connection.receive().isEmpty {}
    }
  }

  @Test(arguments: Flood.allCases)
  func `a room that floods its sender disturbs no other`(flood: Flood) throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 3), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let evil = try Self.room(flood)
    let player = try player(
      [tone], at: [receiver.address, evil.address], in: folder, "--codec", "flac")
    try receiver.program.line(with: "playing")
    #expect(try player.status("VmHWM") < 160 << 10)
    #expect(try player.exitCode() == 0, "\(player.lines.suffix(20))")
    #expect(try receiver.program.stop() == 0)
    #expect(player.lines.count < 60, "\(player.lines.count): \(player.lines.prefix(20))")
    try expectNoGap(seconds: 3)
  }

  @Test func `a room that takes nothing disturbs no other`() throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 3), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let key = try IdentityKey.generate()
    let welcome = Self.welcome(key)
    let held = Held()
    let evil = try TestPeer { connection in
      guard connection.secure(.accepted, key) else { return }
      connection.send(welcome)
      connection.send(
        ControlMessage.credit(
          Credit(limit: 1 << 40, bufferedUntil: .zero, heldBytes: 0)
        ).encoded())
      held.connections.withLock { $0.append(connection) }
    }
    let player = try player([tone], at: [receiver.address, evil.address], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines.suffix(20))")
    #expect(try receiver.program.stop() == 0)
    try expectNoGap(seconds: 3)
  }

  /// Connections that are neither read nor closed.
  private final class Held: Sendable {
    let connections = Mutex<[TestConnection]>([])
  }

  private func expectNoGap(seconds: Double) throws {
    let recording = try RecordedSound(folder.file("a.wav"))
    #expect(recording.gaps(atLeast: recording.rate / 100).isEmpty)
    let length = Double(recording.sounding.count) / Double(recording.rate)
    #expect((seconds - 0.5...seconds + 0.01).contains(length), "\(length)")
  }
}
