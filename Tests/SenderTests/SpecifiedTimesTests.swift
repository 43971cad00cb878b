import Audio
import Clock
import Foundation
import TestSupport
import Testing
import WireProtocol

@testable import Sender

@Suite struct SpecifiedTimesTests {
  @Test func `the sender's times are those of the document`() throws {
    let times = [
      "silence on control after which `keepAlive` is due": ProtocolLimits.keepAliveInterval,
      "the same for a daemon with a term": ProtocolLimits.leaderKeepAliveInterval,
      "time without a word after which the other daemon is not heard": Leadership.silence,
      "interval of a daemon's words": Leadership.wordInterval,
      "wait for rooms' answers about terms": Leadership.roundTime,
      "time without `status` after which a room is shown as old": ConnectedRoom.statusLife,
      "wait for a TCP connection, and then for `welcome`": ProtocolLimits.silence,
      "first wait before connecting again": RoomDialling.firstRetry,
      "longest wait before connecting again; each is a fifth of the time since it broke":
        RoomDialling.lastRetry,
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

  @Test func `requests for the time are answered as often as the document says`() throws {
    typealias Responder = TimeResponder<Int>
    let text = try Specification.text(of: "time-exchange.md")
    #expect(
      text.contains(
        "at most \(Responder.requestsPerSecond) requests a second of one host, and "
          + "\(Responder.requestBurst) at once"))
    #expect(text.components(separatedBy: "requests a second").count == 2)
  }

  @Test func `what the smallest sender keeps to is what this one keeps to`() throws {
    let text = try Specification.text(of: "smallest-sender.md").split { $0.isWhitespace }
      .joined(separator: " ")
    func span(_ time: Nanoseconds) -> String { Specification.span(nanoseconds: time.count) }
    for sentence in [
      "`refuse` ends the attempt: ask again after \(span(RoomDialling.refusedRetry)).",
      "whenever you have said nothing there for \(span(ProtocolLimits.keepAliveInterval)).",
      "If you hear nothing for \(span(ProtocolLimits.silence)), say `goodbye(4)`",
      "never sooner than after 0.25 s, at most \(span(RoomDialling.lastRetry)).",
      "lasted for \(span(RoomDialling.soundSession)) with media",
      "at most \(span(LatencyProfile.deep.startGrace)) after the first of them does",
      "plus \(span(RoomSet.commitMargin));",
    ] {
      #expect(text.contains(sentence), "\(sentence)")
    }
    #expect(RoomDialling.retryShare == 5)
    #expect(RoomDialling.firstRetry == .milliseconds(250) && text.contains("after 0.25 s,"))
    let kept = Nanoseconds(LatencyProfile.deep.keepAfter)
    #expect(kept == .milliseconds(500) && text.contains("until 0.5 s after it has sounded"))
  }
}
