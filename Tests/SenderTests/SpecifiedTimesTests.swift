import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

@Suite struct SpecifiedTimesTests {
  @Test func `the sender's times are those of the document`() throws {
    let times = [
      "silence on control after which `keepAlive` is due": ProtocolLimits.keepAliveInterval,
      "time without `status` after which a room is shown as old": ConnectedRoom.statusLife,
      "wait for a TCP connection, and then for `welcome`": ProtocolLimits.silence,
      "first wait before connecting again": RoomDialling.firstRetry,
      "longest wait before connecting again": RoomDialling.lastRetry,
      "wait after a `refuse` before asking again, and after `goodbye(lent)`":
        RoomDialling.refusedRetry,
      "wait before asking again a receiver that is not paired": RoomDialling.notPairedRetry,
      "wait at a start for rooms that are not *ready*": LatencyProfile.deep.startGrace,
      "largest commit horizon that is reckoned with": RoomSet.longestHorizon,
      "least time on top of the largest commit horizon": RoomSet.commitMargin,
      "most time on top of the largest commit horizon": RoomSet.longestCommitMargin,
      "session with media after which the first wait is the first again": RoomDialling.soundSession,
      "wait before a codec is used again that a room has withdrawn": RoomLink.withdrawalTime,
      "audio kept behind the playhead for rooms that come back":
        Nanoseconds(LatencyProfile.deep.keepAfter),
    ]
    #expect(
      try Specification.times(of: "sender")
        == times.mapValues { Specification.span(nanoseconds: $0.count) })
  }
}
