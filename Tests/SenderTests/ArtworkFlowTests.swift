import Testing
import WireProtocol

@testable import Sender

@Suite struct ArtworkFlowTests {
  private static func picture(_ number: UInt32, size: Int) throws -> NumberedArtwork {
    let artwork = Artwork(bytes: [UInt8](repeating: 1, count: size), mimeType: "image/png")
    return NumberedArtwork(number: number, artwork: try #require(artwork))
  }

  /// Returns number and offset of each piece, until there are no more.
  private static func send(_ pictures: [NumberedArtwork], _ flow: inout ArtworkFlow) -> [[Int]] {
    var sent: [[Int]] = []
    flow.keep(pictures)
    while let bytes = flow.next(of: pictures), sent.count < 100 {
      var framer = MessageFramer(limit: ProtocolLimits.mediaMessage)
      framer.append(bytes)
      if let raw = try? framer.next(), case .artwork(let piece)? = try? MediaMessage.decode(raw) {
        sent.append([Int(piece.number), piece.offset])
      }
      flow.sent(pictures)
    }
    return sent
  }

  @Test func `pictures are sent one after the other, and once`() throws {
    var flow = ArtworkFlow()
    let pictures = [try Self.picture(1, size: 16_385), try Self.picture(2, size: 16_384)]
    let sent = [Self.send(pictures, &flow), Self.send(pictures, &flow)]
    #expect(sent == [[[1, 0], [1, 16_384], [2, 0]], []])
  }

  @Test func `what was not wanted for a while is sent again, as the room may have forgotten it`()
    throws
  {
    var flow = ArtworkFlow()
    let (one, two) = (try Self.picture(1, size: 10), try Self.picture(2, size: 10))
    let sent = [[one], [two], [two, one]].map { Self.send($0, &flow) }
    #expect(sent == [[[1, 0]], [[2, 0]], [[1, 0]]])
  }

  @Test func `a picture that another has come before begins anew`() throws {
    var flow = ArtworkFlow()
    let (one, two) = (try Self.picture(1, size: 20_000), try Self.picture(2, size: 10))
    flow.sent([one])
    let sent = [Self.send([two], &flow), Self.send([one], &flow)]
    #expect(sent == [[[2, 0]], [[1, 0], [1, 16_384]]])
  }
}
