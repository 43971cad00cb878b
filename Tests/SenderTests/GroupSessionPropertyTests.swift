import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// With any behaviour of rooms and listeners in any order, the session neither traps nor grows nor wakes its
/// driver in vain, and rooms get only what the protocol allows.
@Suite struct GroupSessionPropertyTests {
  @Test(arguments: 0..<16) func `any inputs at any time keep all bounds`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var group = TestGroup(["8000x1:40000", "gone", "11025x1:30000", "8000x2:40000"], rooms: 3)
    for _ in 0..<300 {
      group.take()
      act(on: &group, &random)
      #expect(group.outputs.count < 3000)
      for number in 1...3 {
        for packet in group.packets(RoomID(number)) {
          #expect(packet.formatID <= 255)
          #expect(packet.generation <= group.session.timeline.generation)
        }
      }
      #expect(group.session.timeline.anchors.count <= 5)
      #expect(group.session.timeline.cuts.count <= 32)
    }
    group.command(.stop)
    group.advance(by: .seconds(20))
    #expect(group.session.isFinished)
  }

  private func act(on group: inout TestGroup, _ random: inout SplitMix64) {
    let room = RoomID(Int(random.pick(1...4)))
    switch random.next() % 16 {
    case 0: group.joinReady(room)
    case 1: group.handle(.connected(room, random.element([.control, .media])))
    case 2: group.handle(.closed(room, random.element([.control, .media]), reason: "cut"))
    case 3: group.handle(.received(room, .control, random.bytes(Int(random.next() % 30))))
    case 4, 5: group.say(message(&random), in: room)
    case 6: group.handle(.roomSeen(room))
    case 7:
      group.producesAtOnce.toggle()
      if group.producesAtOnce { group.produce() }
    case 8, 9, 10: group.advance(by: .milliseconds(Int64(random.next() % 2000)))
    default: group.command(command(&random))
    }
  }

  private func message(_ random: inout SplitMix64) -> ControlMessage {
    let time = MediaTime(flicks: random.pick(ProtocolLimits.mediaTime))
    return random.element([
      .status(
        .test(
          random.element(RoomStatus.State.allCases),
          roundTrip: Nanoseconds(random.pick(ProtocolLimits.span)),
          horizon: Nanoseconds(random.pick(ProtocolLimits.commitHorizon)))),
      .credit(.test(limit: random.pick(ProtocolLimits.count))),
      .flushed(Flushed(generation: random.pick(0...5), from: time)),
      .flushedAutomatically(Flushed(generation: random.pick(0...5), from: time)),
      .welcome(
        .test(
          held: HeldStream(
            generation: random.pick(ProtocolLimits.generation),
            nextSequence: random.pick(ProtocolLimits.count), from: time),
          bytes: random.pick(ProtocolLimits.count),
          span: MediaDuration(flicks: random.pick(ProtocolLimits.mediaTime)))),
      .codecs(random.next() % 2 == 0 ? [.pcm] : Codec.allCases),
      .refuse(Refusal(reason: .busy, detail: "")),
      .goodbye(Goodbye(reason: .shutdown, detail: "")),
    ])
  }

  private func command(_ random: inout SplitMix64) -> PlayerCommand {
    random.element([
      .pause, .resume, .next, .previous,
      .seek(to: .milliseconds(Int64(random.next() % 6000))),
      .seekBy(.milliseconds(Int64(random.next() % 6000) - 3000)),
      .volume(.all, UInt16(random.next() % 2000)), .volumeBy(.room(RoomID(1)), 10),
      .delay(.all, Nanoseconds(random.pick(ProtocolLimits.clockTime))),
    ])
  }
}
