import Clock
import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests of what somebody can see and do who holds the wire between real programs, but has no key.
@Suite struct WireTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let title = "Verborgenes Lied"
  private static let room = "Geheimer Salon"
  /// Includes the sender's name if it is too long to occur by chance.
  private static let names =
    [title, room] + [ProcessInfo.processInfo.hostName].filter { $0.utf8.count > 5 }

  /// Returns an environment with its own directory for tokens, as each user has one.
  private func home(_ user: String) throws -> [String: String] {
    let path = folder.file("home-\(user)")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return ["XDG_RUNTIME_DIR": path]
  }

  private func tutti(_ arguments: String...) throws -> Program {
    try Program(
      "tutti", arguments + ["--state-dir", folder.file("player")], environment: try home("bob"))
  }

  /// A unique piece of sound, with a title.
  private func song(seconds: Int) throws -> (path: String, audio: [UInt8]) {
    var generator = SplitMix64(seed: 33)
    let audio = (0..<seconds * 8000 * 2).map { _ in UInt8.random(in: 0...255, using: &generator) }
    var wave = Tone.wave(rate: 8000, seconds: Double(seconds), channels: 1)
    wave.replaceSubrange(44..., with: audio)
    return (try folder.write(wave, to: "\(Self.title).wav"), audio)
  }

  /// Pieces of sound, as samples in both byte orders.
  private func pieces(of audio: [UInt8]) -> [[UInt8]] {
    stride(from: 0, to: audio.count - 16, by: 800).flatMap { start in
      let piece = Array(audio[start..<start + 16])
      return [piece, stride(from: 0, to: 16, by: 2).flatMap { [piece[$0 + 1], piece[$0]] }]
    }
  }

  @Test func `whoever listens while programs pair and play learns no title, name, PIN or sound`()
    throws
  {
    let receiver = try ReceiverProgram(
      Self.room, in: folder, "--access", "paired", environment: try home("ann"))
    let box = try Program(
      "tutti-receiver", ["pin", "--state-dir", folder.file("state-\(Self.room)")])
    _ = try box.exitCode()
    let pin = try #require(box.lines.first)
    let tap = try WireTap(to: receiver.port)
    let (song, audio) = try song(seconds: 2)
    let pairing = try tutti("pair", "--at", tap.address, "--pin", pin)
    #expect(try pairing.exitCode() == 0, "\(pairing.lines)")
    let player = try tutti("play", song, "--at", tap.address, "--codec", "pcm")
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)

    let names = Self.names + ["TUTI"]
    let digits = [pin, pin.replacing(" ", with: ""), pin.replacing(" ", with: "-")]
    let secrets = (names + digits).map { Array($0.utf8) } + pieces(of: audio)
    let heard = tap.records.flatMap(\.bytes)
    // All of the sound has passed.
    #expect(heard.count > audio.count)
    for secret in secrets {
      #expect(
        heard.firstRange(of: secret) == nil, "\(String(decoding: secret, as: UTF8.self))")
    }
    // One connection pairs, and two play.
    #expect(tap.connectionCount == 3)
    try expectTLS13(tap.records, connections: 3)
  }

  /// With both keys, the same words and sound are visible. So the test above searches for the right things.
  @Test func `whoever has both programs' keys reads titles and sound`() throws {
    let receiver = try ReceiverProgram(Self.room, in: folder)
    let said = Mutex<[UInt8]>([])
    let interceptor = try Interceptor(to: receiver.port, of: Self.room, in: folder) {
      _, message in
      said.withLock { $0 += message }
      return message
    }
    let (song, audio) = try song(seconds: 2)
    let player = try tutti("play", song, "--at", interceptor.address, "--codec", "pcm")
    #expect(try player.exitCode() == 0, "\(player.lines)")
    let heard = said.withLock { $0 }
    #expect(heard.firstRange(of: Array(Self.title.utf8)) != nil)
    #expect(pieces(of: audio).contains { heard.firstRange(of: $0) != nil })
  }

  /// RFC 8446: two unencrypted hellos, which agree on 1.3 only, and after them only encrypted records.
  private func expectTLS13(_ records: [WireTap.Record], connections: Int) throws {
    let versions: UInt16 = 43
    for connection in 0..<connections {
      for direction in [WireTap.Direction.toReceiver, .toSender] {
        let records = records.filter {
          $0.connection == connection && $0.direction == direction
        }
        let hello = try #require(records.first?.helloExtensions)
        #expect(hello[versions] == (direction == .toReceiver ? [2, 3, 4] : [3, 4]))
        #expect(records.count > 1)
        for record in records.dropFirst() {
          #expect(record.type == WireTap.Record.applicationData)
          #expect(record.bytes[1...2] == [3, 3])
        }
      }
    }
  }

  // MARK: - Changing

  enum Meddling: CaseIterable {
    case replay, reorder, truncate, flip, leaveOut
  }

  enum Place: CaseIterable {
    case controlToReceiver, controlToSender, mediaToReceiver

    var connection: Int { self == .mediaToReceiver ? 1 : 0 }
    var direction: WireTap.Direction { self == .controlToSender ? .toSender : .toReceiver }

    /// True for a record after the handshake, which takes at most 5 records of each side. On control it is a record
    /// after a second, when the sender sends little: after an omission more records follow, and the music has begun.
    func begins(with record: WireTap.Record) -> Bool {
      guard record.connection == connection, record.direction == direction else { return false }
      return self == .controlToReceiver ? record.age > .seconds(1) : record.number == 8
    }
  }

  private final class Attack: Sendable {
    private struct State {
      var place: Int?
      var held: [UInt8] = []
    }

    private let state = Mutex(State())
    private let how: Meddling
    private let place: Place

    init(_ how: Meddling, _ place: Place) { (self.how, self.place) = (how, place) }

    var hasHappened: Bool { state.withLock { $0.place != nil } }

    /// Manipulates once, with one record and the next.
    func meddle(_ record: WireTap.Record) -> [[UInt8]]? {
      state.withLock { state in
        if state.place == nil, place.begins(with: record) { state.place = record.number }
        guard let first = state.place, record.connection == place.connection,
          record.direction == place.direction
        else { return [record.bytes] }
        switch (how, record.number - first) {
        case (.replay, 0): return [record.bytes, record.bytes]
        case (.reorder, 0):
          state.held = record.bytes
          return []
        case (.reorder, 1): return [record.bytes, state.held]
        case (.truncate, 0): return nil
        case (.flip, 0):
          var bytes = record.bytes
          bytes[bytes.count / 2] ^= 1
          return [bytes]
        case (.leaveOut, 0): return []
        default: return [record.bytes]
        }
      }
    }
  }

  /// The connection ends, nothing that came that way is accepted, and the music continues over the next connection.
  @Test(arguments: Meddling.allCases, Place.allCases)
  func `music plays on, frame by frame, after records were changed on the way`(
    how: Meddling, place: Place
  ) throws {
    let attack = Attack(how, place)
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 6), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let tap = try WireTap(to: receiver.port, meddling: attack.meddle)
    let player = try player([tone], at: [tap.address], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    #expect(attack.hasHappened)
    #expect(tap.connectionCount > 2, "\(player.lines)")
    expectOneTone(try ToneRecording(folder.file("a.wav")), seconds: 6)
  }

  @Test(arguments: ClockRelay.Meddling.allCases)
  func `the clock is right whatever becomes of its datagrams on the way`(
    how: ClockRelay.Meddling
  ) throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 4), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let interceptor = try Interceptor(
      to: receiver.port, of: "a", in: folder, clock: how)
    let player = try player([tone], at: [interceptor.address], in: folder)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    #expect(interceptor.meddledDatagrams > 100)
    #expect(receiver.program.lines(with: "clock jumped").isEmpty)
    expectOneTone(
      try ToneRecording(folder.file("a.wav")), seconds: 4, flaw: 1e-3, steering: 0.2)
  }
}
