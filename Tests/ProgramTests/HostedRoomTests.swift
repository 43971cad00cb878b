import Audio
import AvahiDiscovery
import Clock
import Driver
import Foundation
import LinuxIO
import OpenSSLSecurity
import Output
import Receiver
import ReceiverDriver
import Sender
import Synchronization
import TestSupport
import Testing
import WireProtocol

/// Two rooms in the sender's own process, beside one of the receiver program.
@Suite(.timeLimit(.minutes(5))) struct HostedRoomTests {
  @Test func `rooms of this process play in step with one of the network`() throws {
    let folder = try TemporaryFolder()
    let real = try ReceiverProgram("real", in: folder)
    let bed = try HostedBed(["one", "two"], beside: real)
    try bed.run(until: "all rooms are there") { bed.statuses.count == 3 }
    bed.driver.carryOut(.resume)
    try bed.play(for: .seconds(1))
    bed.driver.carryOut(.pause)
    try bed.run(until: "all rooms are paused") { bed.statuses.allSatisfy { $0.state == .paused } }
    bed.driver.carryOut(.resume)
    try bed.play(for: .seconds(1))
    bed.driver.carryOut(.seek(to: .seconds(8)))
    try bed.play(for: .milliseconds(1200))
    bed.driver.carryOut(.seek(to: .seconds(3)))
    try bed.play(for: .milliseconds(1200))
    bed.driver.carryOut(.stop)
    try bed.run(until: "the group has ended") { bed.driver.session.isFinished }
    try bed.end()
    #expect(try real.program.stop() == 0)

    let sections =
      try [TurningTone.sections(of: Self.recorded(by: real, in: folder))]
      + bed.recordings.map { TurningTone.sections(of: $0.frames) }
    for found in sections { try #require(found.count == 4, "\(sections)") }
    for section in 0..<4 {
      let offsets = sections.map { $0[section] }
      let spread = (offsets.max() ?? 0) - (offsets.min() ?? 0)
      #expect(spread < 1, "section \(section): \(offsets)")
    }
    // Pauses lose no music, and a seek leads to its target: media time runs on through both.
    let one = sections[0]
    #expect(one[0] > one[1] && one[2] > one[1] && one[2] - one[3] > 5 * Double(TurningTone.rate))
  }

  /// Returns the frames that the program has recorded, with the times in its log.
  private static func recorded(
    by real: ReceiverProgram, in folder: TemporaryFolder
  ) throws -> [HeardFrame] {
    let line = try real.program.line(with: "recording: frame 0 at ")
    let match = try #require(line.firstMatch(of: /frame 0 at (\d+) ns/))
    let start = try #require(Double(match.1))
    return try FrameRecording(folder.file("real.wav")).frames.enumerated().map { index, frame in
      HeardFrame(
        left: frame.x, right: frame.y,
        nanoseconds: start + Double(index) * 1e9 / Double(TurningTone.rate))
    }
  }
}

/// A frame, and the group time at which it is heard.
private struct HeardFrame {
  var left: Float
  var right: Float
  var nanoseconds: Double
}

/// Two channels, a quarter of a turn apart. Each frame shows its place in the music, at any volume, to a small part of
/// a frame.
private enum TurningTone {
  /// A frame lasts 125 µs: more than the clocks deviate on a busy machine.
  static let rate = 8_000
  /// Frames in one turn: longer than the music, so that a place is unique.
  static let period = 131_072.0
  static let frameCount = 15 * rate

  static func append(_ place: Int64, to frames: inout [Float]) {
    let angle = 2 * Double.pi * Double(place) / period
    frames += [Float(cos(angle) / 2), Float(sin(angle) / 2)]
  }

  /// Returns for each uninterrupted stretch of music how far its places are ahead of the time, in frames. It is the
  /// same for rooms in sync. Leaves out stretches of less than a quarter of a second, and gaps within a stretch.
  static func sections(of frames: [HeardFrame]) -> [Double] {
    var found: [[Double]] = []
    for frame in frames where frame.left.magnitude + frame.right.magnitude > 0.1 {
      let turn = atan2(Double(frame.right), Double(frame.left)) / (2 * .pi)
      let place = (turn < 0 ? turn + 1 : turn) * period
      let offset = place - frame.nanoseconds * Double(rate) / 1e9
      if let last = found.last?.last, abs(last - offset) < 2 {
        found[found.count - 1].append(offset)
      } else {
        found.append([offset])
      }
    }
    return found.filter { $0.count > rate / 4 }.map { $0.sorted()[$0.count / 2] }
  }
}

private final class TurningSource: MediaSource {
  let format = AudioFormat(sampleRate: TurningTone.rate, channelCount: 2)
  let sampleType = SampleType.float32
  let isLossless = true
  let frameCount: Int64? = Int64(TurningTone.frameCount)
  let metadata = ItemMetadata()
  private var next: Int64 = 0

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(next + Int64(count), Int64(TurningTone.frameCount))
    while next < end {
      TurningTone.append(next, to: &frames)
      next += 1
    }
  }

  func seek(toFrame frame: Int64) { next = frame }
}

/// Records the sound of a hosted room.
private final class MemoryRecording: Sendable {
  private let kept = Mutex<[HeardFrame]>([])

  var frames: [HeardFrame] { kept.withLock { $0 } }

  func add(_ frames: [HeardFrame]) { kept.withLock { $0 += frames } }
}

private final class MemorySink: FrameSink {
  private let recording: MemoryRecording

  init(_ recording: MemoryRecording) { self.recording = recording }

  func take(_ sound: SoundingFrames) {
    // There is only silence until the sender's clock is known.
    guard let time = sound.groupTime else { return }
    recording.add(
      (0..<(sound.samples.count / 2)).map { index in
        HeardFrame(
          left: sound.samples[2 * index], right: sound.samples[2 * index + 1],
          nanoseconds: Double(time.nanoseconds) + Double(index) * 1e9 / Double(TurningTone.rate))
      })
  }

  func finish() {}
}

private struct SilentJournal: ReceiverJournal {
  func notice(_ what: StaticString, _ detail: String) {}
  func warning(_ what: StaticString, _ detail: String) {}
  func write(_ event: ReceiverEvent) {}
  func write(_ event: ServicePublisher.Event) {}
  func twin(_ service: DiscoveredService) {}
}

/// A sender and rooms in one event loop, and a room of the receiver program.
private final class HostedBed {
  let driver: GroupDriver
  let recordings: [MemoryRecording]
  private let rooms: [ReceiverDriver]
  private let loop: EventLoop

  init(_ names: [String], beside real: ReceiverProgram) throws {
    let reactor = try Reactor()
    let host = try GroupHost(reactor: reactor, security: try TLSContext(IdentityKey.generate()))
    driver = try GroupDriver(
      host: host, settings: .init(senderName: "test", startsHeld: true),
      playlist: Playlist(["tone"]), reads: ReadControl(abandon: {}, resume: {}, end: {})
    ) { _ in
      Serializer(
        openSource: { _ in TurningSource() },
        makeEncoder: { PCMEncoder(audio: $0.format, sampleType: $0.sampleType) })
    }
    let recordings = names.map { _ in MemoryRecording() }
    var rooms: [ReceiverDriver] = []
    for (index, name) in names.enumerated() {
      let id = try #require(Identifier(hex: String(repeating: "\(index + 1)", count: 32)))
      let room = HostedRoom(id: id, room: reactor.waker, sender: reactor.waker)
      let sink = SinkChoice(name: name) { _ in MemorySink(recordings[index]) }
      rooms.append(
        try ReceiverDriver(
          .init(hosted: name, into: sink), .init(id: id), lines: HostedLines(room),
          waker: reactor.waker, SilentJournal()))
      driver.addRoom(room, name: name)
    }
    driver.addRoom(host: "127.0.0.1", port: real.port)
    (self.rooms, self.recordings) = (rooms, recordings)
    loop = EventLoop(reactor, [host] + rooms)
  }

  /// The statuses of the rooms that are connected.
  var statuses: [RoomStatus] {
    driver.status().rooms.compactMap { room in
      if case .connected(let status) = room.connection { status } else { nil }
    }
  }

  func run(until what: String, _ isDone: () -> Bool) throws {
    let deadline = HostClock.now + .seconds(120)
    while !isDone() {
      try #require(HostClock.now < deadline, "never: \(what)")
      try loop.turn(until: deadline)
    }
  }

  /// Plays until every room has played this much more than the playhead at the time of the call.
  func play(for span: MediaDuration) throws {
    let end = statuses.map(\.playhead).max().map { $0 + span } ?? .zero
    try run(until: "all rooms play for a while") {
      statuses.count == 3 && statuses.allSatisfy { $0.state == .playing && $0.playhead >= end }
    }
  }

  func end() throws {
    for room in rooms { room.end() }
    try driver.end()
  }
}
