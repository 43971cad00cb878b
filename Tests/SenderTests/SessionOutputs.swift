import Clock
import Testing
import WireProtocol

@testable import Sender

/// Reads what a session has put out, as rooms and its producer do.
protocol SessionOutputs {
  var outputs: [GroupSession.Output] { get }
}

extension SessionOutputs {
  func told(_ room: RoomID = TestGroup.room) -> [ControlMessage] {
    messages(to: room, .control).compactMap { try? ControlMessage.decode($0) }
  }

  func streamed(_ room: RoomID = TestGroup.room) -> [MediaMessage] {
    messages(to: room, .media).compactMap { try? MediaMessage.decode($0) }
  }

  func packets(_ room: RoomID = TestGroup.room) -> [AudioPacket] {
    streamed(room).compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
  }

  func anchors(_ room: RoomID) -> [Anchor] {
    told(room).compactMap { if case .anchor(let anchor) = $0 { anchor } else { nil } }
  }

  func flushes(_ room: RoomID) -> [Flush] {
    told(room).compactMap { if case .flush(let flush) = $0 { flush } else { nil } }
  }

  func bytes(to room: RoomID, _ channel: Channel) -> [UInt8] {
    outputs.flatMap { output -> [UInt8] in
      if case .send(room, channel, let bytes) = output { bytes } else { [] }
    }
  }

  private func messages(to room: RoomID, _ channel: Channel) -> [RawMessage] {
    var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
    framer.append(bytes(to: room, channel))
    var found: [RawMessage] = []
    while let message = try? framer.next() { found.append(message) }
    return found
  }

  var anchors: [Anchor] { anchors(TestGroup.room) }
  var flushes: [Flush] { flushes(TestGroup.room) }

  /// The items that were to be opened.
  var beginnings: [ProductionOrder.Beginning] {
    outputs.compactMap {
      if case .produce(.begin(let beginning)) = $0 { beginning } else { nil }
    }
  }
}

/// Gives inputs to a session at times of its own.
protocol SessionBed: SessionOutputs {
  var session: GroupSession { get }
  var now: LocalTime { get set }
  mutating func handle(_ input: GroupSession.Input)
}

extension SessionBed {
  /// Sleeps until `nextDeadline`, again and again, for this long.
  mutating func advance(by span: Nanoseconds) {
    let end = now + span
    var wakes = 0
    while let deadline = session.nextDeadline, deadline <= end {
      wakes = deadline > now ? 0 : wakes + 1
      guard wakes < 100 else {
        Issue.record("woken in vain at \(now.nanoseconds)")
        break
      }
      now = max(now, deadline)
      handle(.timeout)
    }
    now = end
    handle(.timeout)
  }
}
