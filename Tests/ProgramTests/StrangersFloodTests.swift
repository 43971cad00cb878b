import Clock
import Dispatch
import Foundation
import OpenSSLSecurity
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Strangers without end before a receiver that plays: a thousand connections at a time, for a minute.
@Suite struct StrangersFloodTests {
  /// Size of the receiver's deep buffer, in MiB.
  private static let buffer = 8
  /// Memory that a receiver may take, in KiB: twice its buffer, 12 MiB of pictures, and 16 MiB for all
  /// strangers.
  private static let growth = (2 * buffer + 12 + 16) << 10
  private static let connections = 1000
  private static let seconds = 60
  /// Time within which its own sender must have an answer.
  private static let longestWait = Duration.milliseconds(200)

  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The behaviour of a stranger.
  private enum Manner: Int, CaseIterable {
    /// Shakes hands and sends nothing.
    case silent
    /// Shakes hands and asks for the room.
    case asking
    /// Connects, and does nothing more.
    case halfOpen
    /// Sends half of a handshake, and then a byte at a time.
    case slow
    /// Sends noise instead of a handshake.
    case noisy
    /// Sends noise instead of messages.
    case babbling
  }

  /// A part of the strangers, on a thread of its own. Each comes from one of many hosts.
  private final class Crowd: Sendable {
    private let port: UInt16
    private let size: Int
    private let isOver = Mutex(false)
    private let begun = Mutex(0)
    private let stopped = DispatchSemaphore(value: 0)

    init(_ size: Int, before port: UInt16, seed: UInt64) {
      (self.size, self.port) = (size, port)
      Thread { [self] in
        run(SplitMix64(seed: seed))
        stopped.signal()
      }.start()
    }

    private func run(_ seed: SplitMix64) {
      var generator = seed
      var held: [(connection: TestConnection, manner: Manner)] = []
      guard let key = try? IdentityKey.generate(), let hello = try? greeting(of: key) else {
        return
      }
      let noise = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var count = 0
      while !isOver.withLock({ $0 }) {
        count += 1
        if held.count == size { held.removeFirst() }
        let manner = Manner.allCases[count % Manner.allCases.count]
        let host = UInt32.random(in: 2...200, using: &generator)
        guard let connection = TestConnection(port: port, fromHost: host) else { continue }
        begin(connection, manner, key, hello, noise)
        held.append((connection, manner))
        begun.withLock { $0 += 1 }
        for (connection, manner) in held where manner == .slow { connection.send([22]) }
      }
    }

    private func begin(
      _ connection: TestConnection, _ manner: Manner, _ key: IdentityKey, _ hello: [UInt8],
      _ noise: [UInt8]
    ) {
      switch manner {
      case .halfOpen: break
      case .noisy: connection.send(noise)
      case .slow: connection.send([22, 3, 1, 0, 200, 1])
      case .silent: _ = connection.secure(.dialled, key)
      case .asking: if connection.secure(.dialled, key) { connection.send(hello) }
      case .babbling: if connection.secure(.dialled, key) { connection.send(noise) }
      }
    }

    /// Ends the crowd. Returns the number of connections that it has begun.
    func end() -> Int {
      isOver.withLock { $0 = true }
      stopped.wait()
      return begun.withLock { $0 }
    }
  }

  /// The receiver's messages to its sender.
  private final class Ear: Sendable {
    private struct State {
      var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
      var flushedCount = 0
      var bufferedUntil = MediaTime.zero
    }

    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    func hear(_ bytes: [UInt8]) {
      state.withLock { state in
        state.framer.append(bytes)
        while let raw = try? state.framer.next() {
          switch try? ControlMessage.decode(raw) {
          case .flushed?: state.flushedCount += 1
          case .status(let status)?: state.bufferedUntil = status.bufferedUntil
          default: continue
          }
          news.signal()
        }
      }
    }

    var flushedCount: Int { state.withLock(\.flushedCount) }
    var bufferedUntil: MediaTime { state.withLock(\.bufferedUntil) }

    /// Returns false if nothing comes that ends the wait.
    func wait(until isOver: (Ear) -> Bool) -> Bool {
      while !isOver(self) {
        guard news.wait(timeout: .now() + 10) == .success else { return false }
      }
      return true
    }
  }

  /// Returns the time until the receiver reports a flush. The same flush was made before, so it cuts nothing
  /// off.
  private func answerTime(_ ear: Ear, _ interceptor: Interceptor) throws -> Duration {
    let flush = ControlMessage.flush(
      Flush(from: Self.farAway, generation: 1, isRamped: true))
    let count = ear.flushedCount
    let start = ContinuousClock.now
    try #require(interceptor.sayOnControl(flush.encoded()))
    try #require(ear.wait { $0.flushedCount > count })
    return ContinuousClock.now - start
  }

  private static let farAway = MediaTime(flicks: 3600 * 705_600_000)

  @Test
  func `before a thousand strangers a minute long no frame is lost, and the sender is answered`()
    throws
  {
    let seconds = Double(Self.seconds + 15)
    let tone = try folder.write(
      Tone.wave(rate: 48_000, seconds: seconds, channels: 1), to: "tone.wav")
    let receiver = try ReceiverProgram(
      "a", in: folder, "--access", "paired", "--buffer", "\(Self.buffer)",
      environment: ["XDG_RUNTIME_DIR": folder.file("home")])
    let box = try Program("tutti-receiver", ["pin", "--state-dir", folder.file("state-a")])
    _ = try box.exitCode()
    let pairing = try Program(
      "tutti",
      ["pair", "--at", receiver.address, "--pin", try #require(box.lines.first)]
        + ["--state-dir", folder.file("player")])
    #expect(try pairing.exitCode() == 0, "\(pairing.lines)")
    let ear = Ear()
    let interceptor = try Interceptor(to: receiver.port, of: "a", in: folder, hearing: ear.hear)
    let player = try player([tone], at: [interceptor.address], in: folder)
    try receiver.program.line(with: "playing")
    // All packets have arrived: packets after the flush's generation would not be accepted.
    let almostAll = MediaTime(flicks: Int64(seconds - 0.5) * 705_600_000)
    try #require(ear.wait { $0.bufferedUntil > almostAll })
    let before = try receiver.program.status("VmRSS")

    let port = receiver.port
    let crowds = (0..<2 as Range<UInt64>).map {
      Crowd(Self.connections / 2, before: port, seed: $0)
    }
    // Ten a second, because more than 200 messages a second are too many for a receiver.
    var answers: [Duration] = []
    let start = ContinuousClock.now
    for turn in 0..<10 * Self.seconds {
      Thread.sleep(until: Date() + (start + .milliseconds(100 * turn) - .now).seconds)
      answers.append(try answerTime(ear, interceptor))
    }
    let strangers = crowds.reduce(0) { $0 + $1.end() }
    #expect(strangers > 2 * Self.connections)
    #expect(try receiver.program.status("VmHWM") - before < Self.growth)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    answers.sort()
    let worst = try #require(answers.last)
    print(
      "   strangers \(strangers), answers \(answers.count), median \(answers[answers.count / 2]),",
      "p99 \(answers[answers.count * 99 / 100]), worst \(worst)")
    #expect(worst < Self.longestWait)
    for trouble in ["got worse", "ran dry", "nothing to play", "sender gone"] {
      let lines = receiver.program.lines(with: trouble)
      #expect(lines.allSatisfy { $0.contains("finished") }, "\(lines)")
    }
    #expect(receiver.program.lines.count < 120, "\(receiver.program.lines)")
    expectOneTone(
      try ToneRecording(folder.file("a.wav")), seconds: seconds, flaw: 1e-3, steering: 0.2)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
