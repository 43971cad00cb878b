import Audio
import Clock
import Receiver
import TestSupport
import Testing
import WireProtocol

/// With any input in any order, the session neither traps nor grows nor wakes its driver in vain.
@Suite struct ReceiverSessionPropertyTests {
  @Test(arguments: 0..<24) func `any messages at any time keep all bounds`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var receiver = TestReceiver(capacity: Capacity(bytes: 100_000, duration: .seconds(60)))
    var connections = [receiver.hello(), receiver.attach()]
    for _ in 0..<400 {
      receiver.take()
      act(on: &receiver, connections: &connections, &random)
      #expect(receiver.outputs.count < 400)
      for id in receiver.closed { connections.removeAll { $0 == id } }
    }
    for id in connections { receiver.handle(.closed(id)) }
    receiver.opensDevice = false
    receiver.advance(by: .seconds(30))
  }

  private func act(
    on receiver: inout TestReceiver, connections: inout [ConnectionID],
    _ random: inout SplitMix64
  ) {
    let id = connections.randomElement(using: &random) ?? ConnectionID(999)
    switch random.next() % 16 {
    case 0:
      connections.append(
        receiver.hello(sender: UInt8(random.next() % 2), clock: random.next() % 3))
    case 1: connections.append(receiver.attach())
    case 2: connections.append(receiver.accept())
    case 3: receiver.handle(.closed(id))
    case 4: receiver.handle(.received(id, random.bytes(Int(random.next() % 40))))
    case 5: receiver.advance(by: .milliseconds(Int64(random.next() % 3000)))
    case 6: receiver.handle(.deviceLost(reason: "gone"))
    case 7: receiver.handle(.resumedFromSuspend)
    case 8:
      receiver.report(random.next() % 2 == 0 ? .playing : .paused)
    case 9: receiver.open(rate: random.next() % 2 == 0 ? 44_100 : 48_000)
    case 10, 11:
      receiver.say(random.controlMessage(near: receiver.groupTime()), on: id)
    case 12: receiver.stream(.artwork(random.artworkPiece()), on: id)
    default: receiver.stream(.packet(random.packet()), on: id)
    }
  }
}

extension SplitMix64 {
  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(next() % 256) } }

  /// Returns a number of the range, often one of its ends.
  mutating func pick(_ range: ClosedRange<Int64>) -> Int64 {
    switch next() % 4 {
    case 0: range.lowerBound
    case 1: range.upperBound
    default: Int64.random(in: range, using: &self)
    }
  }

  mutating func mediaTime() -> MediaTime {
    next() % 3 == 0
      ? MediaTime(flicks: pick(ProtocolLimits.mediaTime) / 14_700 * 14_700)
      : TestReceiver.time(Int(next() % 200))
  }

  mutating func controlMessage(near now: GroupTime) -> ControlMessage {
    switch next() % 7 {
    case 6:
      let item = ItemDescription(title: "\(next() % 9)", artwork: UInt32(next() % 4))
      return .nowPlaying(
        NowPlaying(
          generation: generation(), from: mediaTime(), item: next() % 4 == 0 ? nil : item))
    case 0, 1:
      let time =
        next() % 3 == 0
        ? GroupTime(nanoseconds: pick(ProtocolLimits.clockTime))
        : now + .milliseconds(Int64(next() % 1000) - 500)
      return .anchor(
        Anchor(
          mediaTime: mediaTime(), groupTime: time, rate: next() % 3 == 0 ? .paused : .playing))
    case 2, 3:
      return .flush(
        Flush(from: mediaTime(), generation: generation(), isRamped: next() % 2 == 0))
    case 4:
      return .settings(
        RoomSettings(
          volume: UInt16(next() % 1001), isMuted: false,
          delay: Nanoseconds(pick(ProtocolLimits.roomDelay)), channelMap: .mono))
    default: return next() % 8 == 0 ? .goodbye(Goodbye(reason: .finished, detail: "")) : .keepAlive
    }
  }

  mutating func packet() -> AudioPacket {
    var packet = TestReceiver.packet(
      Int(next() % 300), generation: generation(), at: next() % 2 == 0 ? mediaTime() : nil,
      startsRun: next() % 4 == 0, endsStream: next() % 16 == 0)
    if next() % 16 == 0 { packet.sequence = UInt64(pick(0...(1 << 60))) }
    if next() % 16 == 0 { packet.formatID = 3 }
    if next() % 8 == 0 { packet.encoded.skippedFrames = Int(next() % 65_537) }
    if next() % 8 == 0 { packet.encoded.frameCount = 1 + Int(next() % 65_536) }
    if next() % 16 == 0 { packet.encoded.payload = bytes(3) }
    return packet
  }

  mutating func artworkPiece() -> ArtworkPiece {
    let size = next() % 4 == 0 ? ProtocolLimits.artwork : 40
    return ArtworkPiece(
      number: UInt32(1 + next() % 4), size: size, offset: Int(next() % 2) * 20,
      mimeType: "image/png", bytes: bytes(20))
  }

  private mutating func generation() -> UInt32 {
    next() % 16 == 0 ? UInt32(pick(0...(1 << 31 - 1))) : UInt32(next() % 6)
  }
}
