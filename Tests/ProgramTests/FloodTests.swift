import Audio
import Clock
import Foundation
import OpenSSLSecurity
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Tests of peers that ask far too much while music plays: the room loses no frame, answers others and does not grow.
@Suite struct FloodTests {
  /// KiB. This allows for lobby, framers, queues and the memory that an allocator keeps.
  private static let slack = 16 << 10
  /// Time within which a newcomer must have an answer.
  private static let longestWait = Duration.milliseconds(200)

  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  enum Flood: String, CaseIterable {
    case connections, garbage, hellos, datagrams
    /// Messages on the connection of the sender that plays.
    case controlMessages
  }

  @Test(arguments: Flood.allCases)
  func `while a flood goes on, newcomers are answered and the music plays`(flood: Flood) throws {
    let tone = try folder.write(Tone.wave(rate: 48_000, seconds: 4), to: "tone.wav")
    let receiver = try ReceiverProgram("a", in: folder)
    let interceptor = try Interceptor(to: receiver.port, of: "a", in: folder)
    let longestWait = try Self.longestWait * Self.otherWork()
    let player = try player([tone], at: [interceptor.address], in: folder)
    try receiver.program.line(with: "playing")
    let before = try receiver.program.status("VmRSS")
    let water = try water(flood, receiver, interceptor)
    let flooding = Flooding(water)
    var answers: [Duration] = []
    while player.process.isRunning {
      answers.append(try answerTime(receiver.port))
    }
    flooding.end()
    answers.sort()
    let (median, worst) = (answers[answers.count / 2], try #require(answers.last))
    #expect(
      worst < longestWait,
      "of \(answers.count) answers: median \(median), worst \(worst)")
    #expect(try receiver.program.status("VmHWM") - before < Self.slack)
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    #expect(receiver.program.lines.count < 60, "\(receiver.program.lines)")
    // Time requests that wait for a processor make the clock less certain; frames are neither lost nor late.
    expectOneTone(
      try ToneRecording(folder.file("a.wav")), seconds: 4, flaw: 1e-3, steering: 0.2)
  }

  /// Returns the number of programs that share each processor, besides those of this test.
  private static func otherWork() throws -> Int {
    let load = try String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
    let programs = try #require(load.split(separator: " ").first.flatMap { Double($0) })
    return max(
      1, Int((programs / Double(ProcessInfo.processInfo.activeProcessorCount)).rounded(.up)))
  }

  /// Returns the time that a newcomer from another host waits for the handshake and the answer to its greeting, be it a
  /// welcome or a refusal. The time until its connection opens does not count: it is up to the kernel, which makes a
  /// newcomer wait for a second if too many come at once.
  private func answerTime(_ port: UInt16) throws -> Duration {
    let newcomer = try #require(TestConnection(port: port, fromHost: 2))
    let key = try IdentityKey.generate()
    let hello = try hello(99, key)
    let start = ContinuousClock.now
    #expect(newcomer.secure(.dialled, key))
    newcomer.send(hello)
    #expect(!newcomer.receive().isEmpty)
    return ContinuousClock.now - start
  }

  private func hello(_ sender: UInt8, _ key: IdentityKey) throws -> [UInt8] {
    ControlMessage.hello(
      Hello(
        version: ProtocolVersion.newest, senderID: key.identifier, senderName: "flood \(sender)",
        session: UInt64(sender), clockID: UInt64(sender), clockPort: 9)
    ).encoded()
  }

  /// Returns the action that a flood repeats.
  private func water(_ flood: Flood, _ receiver: ReceiverProgram, _ interceptor: Interceptor)
    throws -> @Sendable () -> Void
  {
    let port = receiver.port
    var generator = SplitMix64(seed: 21)
    let noise = (0..<60_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    switch flood {
    case .connections:
      let held = Held()
      return { held.keep(TestConnection(port: port)) }
    case .garbage: return { _ = TestConnection(port: port)?.send(noise) }
    case .hellos:
      let key = try IdentityKey.generate()
      let hello = try hello(7, key)
      return { _ = TestConnection.sender(to: port, key)?.send(hello) }
    case .datagrams:
      let ports = try udpPorts(of: receiver.program.process)
      let answers = Array(repeating: try Specification.example("time.answer"), count: 50)
      let datagrams = answers + (0..<50).map { Array(noise.prefix(30 * $0)) }
      return { for port in ports { sendDatagrams(datagrams, to: port) } }
    case .controlMessages:
      let settings = ControlMessage.settings(
        RoomSettings(volume: 1000, isMuted: false, delay: .zero, channelMap: .stereo)
      ).encoded()
      let many = Array(repeatElement(settings, count: 1000).joined())
      return { if !interceptor.sayOnControl(many) { sched_yield() } }
    }
  }

  /// The latest connections.
  private final class Held: Sendable {
    private let connections = Mutex<[TestConnection]>([])

    func keep(_ connection: TestConnection?) {
      connections.withLock { held in
        if let connection { held.append(connection) }
        if held.count > 200 { held.removeFirst() }
      }
    }
  }

  /// Repeats an action on a thread of its own.
  private final class Flooding: Sendable {
    private let isOver = Mutex(false)
    private let stopped = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () -> Void) {
      Thread { [self] in
        while !isOver.withLock({ $0 }) { work() }
        stopped.signal()
      }.start()
    }

    func end() {
      isOver.withLock { $0 = true }
      stopped.wait()
    }
  }

  @Test func `a run in each packet is decoded in time`() throws {
    // The first file makes the card play 192 kHz.
    let files = [
      try folder.write(Tone.wave(rate: 192_000, seconds: 0.5), to: "1.wav"),
      try folder.write(Tone.wave(rate: 11_025, seconds: 5), to: "2.wav"),
    ]
    let receiver = try ReceiverProgram("a", in: folder)
    let flags = try Self.flagsOffset()
    let interceptor = try Interceptor(to: receiver.port, of: "a", in: folder) { type, message in
      guard type == Interceptor.packet else { return message }
      var message = message
      message[flags] |= 1
      return message
    }
    let player = try player(files, at: [interceptor.address], in: folder, "--codec", "pcm")
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(try receiver.program.stop() == 0)
    let recording = try RecordedSound(folder.file("a.wav"))
    #expect(recording.gaps(atLeast: recording.rate / 100).isEmpty)
    let length = Double(recording.sounding.count) / Double(recording.rate)
    #expect((4.5...5.51).contains(length), "\(length)")
  }

  /// Returns the offset within a packet's message of the byte whose lowest bit marks the beginning of a run. Finds it
  /// by encoding a packet.
  private static func flagsOffset() throws -> Int {
    func packet(_ startsRun: Bool) -> [UInt8] {
      MediaMessage.packet(
        AudioPacket(
          generation: 0, sequence: 0, mediaTime: .zero, formatID: 0, startsRun: startsRun,
          endsStream: false,
          encoded: .init(payload: [0, 0], skippedFrames: 0, frameCount: 1))
      ).encoded()
    }
    let (with, without) = (packet(true), packet(false))
    let offset = try #require(with.indices.first { with[$0] != without[$0] })
    try #require(with[offset] == without[offset] | 1)
    return offset
  }
}
