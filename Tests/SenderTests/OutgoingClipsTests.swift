import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of clips on their way to the rooms of a group.
@Suite struct OutgoingClipsTests {
  private static let clip = Clip(
    format: StreamFormat(
      codec: .pcm, audio: AudioFormat(sampleRate: 8_000, channelCount: 1), sampleType: .int16),
    bytes: [UInt8](repeating: 7, count: 200_000))

  /// Two rooms, of which the second plays no clips.
  private static func group() -> TestGroup {
    var group = TestGroup(rooms: 2)
    for (room, playsClips) in [(TestGroup.room, true), (TestGroup.other, false)] {
      welcome(room, &group, playsClips: playsClips)
    }
    group.take()
    return group
  }

  private static func welcome(
    _ room: RoomID, _ group: inout TestGroup, playsClips: Bool, codecs: [Codec] = [.pcm]
  ) {
    var welcome = Welcome.test()
    (welcome.playsClips, welcome.codecs) = (playsClips, codecs)
    group.greet(room, with: welcome)
  }

  /// The messages about clips that the room was told since the last call.
  private static func taken(_ group: inout TestGroup, _ room: RoomID) -> [ControlMessage] {
    defer { group.take() }
    return group.told(room).filter { message in
      switch message {
      case .clip, .clipPiece, .clipTime: true
      default: false
      }
    }
  }

  private static func offer(_ group: inout TestGroup, _ rooms: [RoomID]) throws -> UInt32 {
    let command = PlayerCommand.offerClip(clip, volume: 400, to: rooms)
    guard case .success(.offered(let number)) = group.command(command) else {
      throw CommandRefusal.finished
    }
    return number
  }

  private static func pieces(_ group: inout TestGroup, _ room: RoomID) -> [ClipPiece] {
    taken(&group, room).compactMap {
      if case .clipPiece(let piece) = $0 { piece } else { nil }
    }
  }

  @Test func `a room gives up its oldest clip for a fifth, and others keep theirs`() {
    var clips = OutgoingClips(first: 0)
    for _ in 0..<ProtocolLimits.heldClips {
      _ = clips.add(Self.clip, volume: nil, to: [TestGroup.room])
      _ = clips.add(Self.clip, volume: nil, to: [TestGroup.other])
    }
    #expect(clips.numbers(for: TestGroup.room) == [1, 3, 5, 7])
    #expect(clips.numbers(for: TestGroup.other) == [2, 4, 6, 8])
    _ = clips.add(Self.clip, volume: nil, to: [TestGroup.room])
    #expect(clips.numbers(for: TestGroup.room) == [3, 5, 7, 9])
    #expect(clips.numbers(for: TestGroup.other) == [2, 4, 6, 8])
  }

  @Test func `no more pieces are on their way than the window, and all come in order`() throws {
    var group = Self.group()
    let number = try Self.offer(&group, [TestGroup.room, TestGroup.other])
    var bytes: [UInt8] = []
    var messages = Self.taken(&group, TestGroup.room)
    guard case .clip(let offer) = messages.removeFirst() else { throw CommandRefusal.finished }
    #expect(offer.byteCount == Self.clip.bytes.count)
    #expect(offer.volume == 400)
    var pieces = messages.compactMap { if case .clipPiece(let piece) = $0 { piece } else { nil } }
    while !pieces.isEmpty {
      #expect(pieces.allSatisfy { $0.number == number })
      #expect(pieces.first?.offset == bytes.count)
      let before = bytes.count
      for piece in pieces { bytes += piece.bytes }
      #expect(bytes.count - before <= ProtocolLimits.clipWindow)
      group.say(.clipState(ClipState(number: number, received: bytes.count, stage: .taking)))
      pieces = Self.pieces(&group, TestGroup.room)
    }
    #expect(bytes == Self.clip.bytes)
    #expect(
      group.session.progress(ofClip: number).map(\.progress) == [.taking, .cannot])
    group.say(.clipState(ClipState(number: number, received: bytes.count, stage: .ready)))
    #expect(group.session.progress(ofClip: number).map(\.progress) == [.ready, .cannot])
  }

  @Test func `only rooms that have it are told its time, and all that it is withdrawn`() throws {
    var group = Self.group()
    let number = try Self.offer(&group, [TestGroup.room, TestGroup.other])
    group.say(
      .clipState(ClipState(number: number, received: 200_000, stage: .ready)), in: TestGroup.room)
    group.take()
    group.command(.beginClip(number, at: group.now + .milliseconds(80)))
    let time = GroupTime(ofSender: group.now + .milliseconds(80))
    #expect(
      !group.told(TestGroup.other).contains { if case .clipTime = $0 { true } else { false } })
    #expect(
      Self.taken(&group, TestGroup.room) == [.clipTime(ClipTime(number: number, begins: time))])
    group.command(.withdrawClip(number))
    #expect(
      Self.taken(&group, TestGroup.room) == [.clipTime(ClipTime(number: number, begins: nil))])
  }

  @Test func `a room that comes, or comes back, gets it from its beginning`() throws {
    var group = TestGroup(rooms: 1)
    let number = try Self.offer(&group, [TestGroup.room])
    #expect(group.session.progress(ofClip: number).map(\.progress) == [.away])
    for _ in 0..<2 {
      Self.welcome(TestGroup.room, &group, playsClips: true)
      #expect(Self.pieces(&group, TestGroup.room).first?.offset == 0)
      #expect(group.session.progress(ofClip: number).map(\.progress) == [.taking])
      group.handle(.closed(TestGroup.room, .control, reason: "gone"))
      #expect(group.session.progress(ofClip: number).map(\.progress) == [.away])
      group.advance(by: .seconds(6))
      group.take()
    }
  }

  @Test func `a room that lies about what it has gets no more than there is`() throws {
    var group = Self.group()
    let number = try Self.offer(&group, [TestGroup.room])
    group.take()
    for _ in 0..<20 {
      group.say(
        .clipState(ClipState(number: number, received: ProtocolLimits.clip, stage: .taking)))
    }
    let sent = Self.pieces(&group, TestGroup.room).reduce(0) { $0 + $1.bytes.count }
    #expect(sent <= Self.clip.bytes.count)
    group.say(.clipState(ClipState(number: number &+ 9, received: 5, stage: .ready)))
    group.say(.clipState(ClipState(number: number, received: 5, stage: .refused, detail: "no")))
    #expect(group.session.progress(ofClip: number).map(\.progress) == [.refused("no")])
  }

  @Test func `a room that does not decode it cannot play it`() throws {
    var group = TestGroup(rooms: 1)
    Self.welcome(TestGroup.room, &group, playsClips: true, codecs: [.flac])
    let number = try Self.offer(&group, [TestGroup.room])
    #expect(group.session.progress(ofClip: number).map(\.progress) == [.cannot])
  }
}
