import Clock
import Testing
import WireProtocol

@Suite struct NowPlayingCodingTests {
  private static let announcement = NowPlaying(
    generation: 1, from: .zero, item: ItemDescription(title: "a", artist: "b", album: "c"))

  @Test func `an announcement about another stream is skipped`() throws {
    var bytes = ControlMessage.nowPlaying(Self.announcement).bytes
    bytes[9] = 1
    let raw = try #require(try onlyMessage(in: bytes))
    #expect(try ControlMessage.decode(raw) == nil)
  }

  @Test func `texts are cut to their limit, between characters, without what confuses a terminal`()
    throws
  {
    var sent = Self.announcement
    sent.item?.title = "\u{1B}[2J" + String(repeating: "é", count: 300)
    let raw = try #require(try onlyMessage(in: ControlMessage.nowPlaying(sent).bytes))
    guard case .nowPlaying(let received) = try ControlMessage.decode(raw) else {
      Issue.record("not an announcement")
      return
    }
    #expect(received.item?.title == " [2J" + String(repeating: "é", count: 254))
    #expect(received.item?.artist == "b")
  }

  @Test func `announcements out of range are refused`() {
    let message = ControlMessage.nowPlaying(Self.announcement).bytes
    expectRefused(message, at: 10, [0x80], "generation")
    expectRefused(message, at: 14, [0xff], "media time before the beginning")
    expectRefused(message, at: 22, [0xff], "negative duration")
    expectRefused(message, at: 38, [0x02, 0x01], "title of 513 bytes")
    expectRefused(message, at: 40, [0x07], "a bell in the title")
  }

  @Test func `what nothing plays says of the item is ignored`() throws {
    var bytes = ControlMessage.nowPlaying(Self.announcement).bytes
    bytes[36] = 1
    let raw = try #require(try onlyMessage(in: bytes))
    #expect(
      try ControlMessage.decode(raw)
        == .nowPlaying(NowPlaying(generation: 1, from: .zero, item: nil)))
  }

  @Test func `pieces out of range are refused`() {
    let piece = ArtworkPiece(number: 1, size: 10, offset: 8, mimeType: "a/b", bytes: [1, 2])
    let message = MediaMessage.artwork(piece).bytes
    expectRefused(message, at: 6, [0, 0, 0, 0], "number 0")
    expectRefused(message, at: 10, [0, 0, 0, 0], "no bytes")
    expectRefused(message, at: 10, [0, 0x40, 0, 1], "a byte too many")
    expectRefused(message, at: 14, [0, 0, 0, 9], "beyond the end")
    expectRefused(message, at: 14, [0xff, 0xff, 0xff, 0xff], "far beyond the end")
    expectRefused(message, at: 23, [0, 0], "an empty piece")
    expectRefused(message, at: 23, [0x40, 0x01], "a piece too large")
  }

  @Test func `the largest piece comes back`() throws {
    let piece = ArtworkPiece(
      number: .max, size: ProtocolLimits.artwork,
      offset: ProtocolLimits.artwork - ProtocolLimits.artworkPiece, mimeType: "image/png",
      bytes: [UInt8](repeating: 9, count: ProtocolLimits.artworkPiece))
    let raw = try #require(try onlyMessage(in: MediaMessage.artwork(piece).bytes))
    #expect(try MediaMessage.decode(raw) == .artwork(piece))
  }

  private func expectRefused(
    _ message: [UInt8], at offset: Int, _ replacement: [UInt8], _ what: Comment
  ) {
    var bytes = message
    bytes.replaceSubrange(offset..<offset + replacement.count, with: replacement)
    #expect(throws: DecodeError.self, what) {
      let raw = try onlyMessage(in: bytes)
      _ = try raw.flatMap { try ControlMessage.decode($0) }
      _ = try raw.flatMap { try MediaMessage.decode($0) }
    }
  }
}
