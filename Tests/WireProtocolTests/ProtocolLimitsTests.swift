import Audio
import Clock
import Testing
import WireProtocol

@Suite struct ProtocolLimitsTests {
  /// The test would trap if a sum did not fit.
  @Test func `the extremes of the wire pass through all mappings without overflow`() {
    let mediaTimes = [ProtocolLimits.mediaTime.lowerBound, ProtocolLimits.mediaTime.upperBound]
    let clockTimes = [ProtocolLimits.clockTime.lowerBound, ProtocolLimits.clockTime.upperBound]
    for drift in [-0.001, 0.001] {
      for (media, at) in pairs(mediaTimes, clockTimes) {
        for (group, local) in pairs(clockTimes, clockTimes) {
          let anchor = Anchor(
            mediaTime: MediaTime(flicks: media), groupTime: GroupTime(nanoseconds: at),
            rate: .playing)
          let estimate = ClockEstimate(
            local: LocalTime(nanoseconds: local), group: GroupTime(nanoseconds: group),
            drift: drift, errorBound: .zero)
          for other in mediaTimes {
            guard let sounds = anchor.groupTime(of: MediaTime(flicks: other)) else { continue }
            let delayed = sounds + Nanoseconds(ProtocolLimits.roomDelay.upperBound)
            _ = estimate.localTime(of: delayed)
          }
          for now in clockTimes {
            _ = anchor.mediaTime(at: estimate.groupTime(of: LocalTime(nanoseconds: now)))
          }
        }
      }
    }
  }

  @Test func `the largest PCM packet of twenty milliseconds fits`() {
    #expect(192_000 / 50 * 8 * SampleType.int32.byteCount <= ProtocolLimits.audioPayload)
  }

  @Test func `the largest messages fit into their limits`() throws {
    let packet = AudioPacket(
      generation: 0, sequence: 0, mediaTime: .zero, formatID: 0, startsRun: true, endsStream: false,
      encoded: EncodedPacket(
        payload: [UInt8](repeating: 0, count: ProtocolLimits.audioPayload), frameCount: 1))
    let raw = try #require(try onlyMessage(in: MediaMessage.packet(packet).bytes))
    #expect(try MediaMessage.decode(raw) == .packet(packet))

    let hello = Hello(
      version: 2, senderID: .counting(from: 0), senderName: String(repeating: "é", count: 32),
      session: 0, clockID: 0, clockPort: 1)
    #expect(ControlMessage.hello(hello).bytes.count <= ProtocolLimits.openingMessage)

    let text = String(repeating: "é", count: ProtocolLimits.itemText / 2)
    let announcement = NowPlaying(
      generation: 0, from: .zero, item: ItemDescription(title: text, artist: text, album: text))
    #expect(
      try onlyMessage(in: ControlMessage.nowPlaying(announcement).bytes)
        .flatMap { try ControlMessage.decode($0) } == .nowPlaying(announcement))
    #expect(ControlMessage.nowPlaying(announcement).bytes.count <= ProtocolLimits.controlMessage)
  }

  @Test func `what a sender announces fits into what a receiver holds, with a picture to spare`() {
    #expect(ProtocolLimits.announcements * 2 <= ProtocolLimits.heldAnnouncements)
    #expect(
      ProtocolLimits.announcedArtwork + ProtocolLimits.artwork <= ProtocolLimits.heldArtwork)
  }

  private func pairs(_ a: [Int64], _ b: [Int64]) -> [(Int64, Int64)] {
    a.flatMap { first in b.map { (first, $0) } }
  }
}
