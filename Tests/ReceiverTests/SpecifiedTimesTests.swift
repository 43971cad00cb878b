import Audio
import Clock
import Pairing
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

@Suite struct SpecifiedTimesTests {
  @Test func `the receiver's times are those of the document`() throws {
    let cursor = PlayoutCursor(sampleRate: 48_000, device: .exact, storedDrift: nil)
    let times = [
      "a pairing that is not complete is over after": ProtocolLimits.silence,
      "first delay after three wrong PINs": GuessLimit.firstDelay,
      "longest delay after wrong PINs": GuessLimit.longestDelay,
      "the PIN is said at most three times in": SpeechLimit.hour,
      "a daemon with a term is heard after its last message for": ProtocolLimits.leaderSilence,
      "interval of `status`": ProtocolLimits.statusInterval,
      "a room is kept for a sender that left, at least": ProtocolLimits.reservation,
      "a room is kept for the sender that has lent it, once it is lent no more": Tenancy.lentTime,
      "after `goodbye`, media is left to the sender to close for": PartingMedia.grace,
      "decoded audio that makes a room *ready*": Nanoseconds(LatencyProfile.deep.startThreshold),
      "ramp of a start, a stop, a jump and a cut":
        Nanoseconds(cursor.fadeFrames * 1_000_000_000 / 48_000),
      "ramp of volume, mute and channel map": OutputMix.rampLength,
    ]
    #expect(
      try Specification.times(of: "receiver")
        == times.mapValues { Specification.span(nanoseconds: $0.count) })
  }

  @Test func `what the smallest receiver keeps is what this one keeps`() throws {
    let rows = try Specification.table(under: "The numbers", of: "smallest-receiver.md")
    let numbers = Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
    let fade = try Specification.times(of: "receiver")["ramp of a start, a stop, a jump and a cut"]
    #expect(numbers["ramp at every start, stop, jump and ramped cut"] == fade)
    #expect(numbers["anchors to keep"]?.hasPrefix("\(Anchors.limit):") == true)
    #expect(numbers["flushes to remember"] == "\(CutHistory.limit)")
    let kept = Specification.span(nanoseconds: Nanoseconds(LatencyProfile.deep.keepAfter).count)
    #expect(numbers["audio to keep behind what sounds"] == kept)
  }

  @Test func `the gain of a volume is that of the document`() throws {
    #expect(
      try Specification.text(of: "control-messages.md").contains("gain is (*s* + 7*s*³) / 8"))
    for volume: UInt16 in [0, 1, 500, 999, 1000] {
      let share = Float(volume) / 1000
      let gain = perceivedGain(volume: volume, isMuted: false)
      #expect(abs(gain - (share + 7 * share * share * share) / 8) < 1e-7)
    }
  }
}
