import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Receiver

@Suite struct ArtworkShelfTests {
  private static func pieces(_ number: UInt32, size: Int, step: Int = 16_384) -> [ArtworkPiece] {
    stride(from: 0, to: size, by: step).map { offset in
      ArtworkPiece(
        number: number, size: size, offset: offset, mimeType: "image/jpeg",
        bytes: [UInt8](
          repeating: UInt8(truncatingIfNeeded: offset / 7), count: min(step, size - offset)))
    }
  }

  private static func add(
    _ pieces: [ArtworkPiece], to shelf: inout ArtworkShelf, named: Set<UInt32> = []
  ) {
    for piece in pieces { shelf.add(piece) { named.contains($0) } }
  }

  @Test(arguments: [1, 16_384, 16_385, 100_000])
  func `a picture is there when its last piece has come`(size: Int) {
    var shelf = ArtworkShelf()
    let pieces = Self.pieces(3, size: size)
    Self.add(pieces.dropLast(), to: &shelf)
    #expect(shelf[3] == nil)
    Self.add(pieces.suffix(1), to: &shelf)
    #expect(shelf[3]?.bytes == pieces.flatMap(\.bytes))
    #expect(shelf[3]?.bytes.count == size)
    #expect(shelf[3]?.mimeType == "image/jpeg")
    #expect(shelf[4] == nil)
  }

  @Test func `pieces that continue nothing are ignored`() {
    var shelf = ArtworkShelf()
    let pieces = Self.pieces(3, size: 40_000)
    Self.add([pieces[1], pieces[0], pieces[2], pieces[0], pieces[1]], to: &shelf)
    var other = pieces[2]
    other.size = 39_999
    other.bytes.removeLast()
    Self.add([other], to: &shelf)
    #expect(shelf[3] == nil)
    Self.add([pieces[2], pieces[2]], to: &shelf)
    #expect(shelf[3]?.bytes.count == 40_000)
  }

  @Test func `a picture begun anew takes the place of what has come of it`() {
    var shelf = ArtworkShelf()
    Self.add(Self.pieces(3, size: 40_000).dropLast(), to: &shelf)
    Self.add(Self.pieces(4, size: 20_000), to: &shelf)
    #expect(shelf.count == 1)
    Self.add(Self.pieces(3, size: 40_000), to: &shelf)
    #expect(shelf.count == 2)
    #expect(shelf[3] != nil && shelf[4] != nil)
  }

  @Test func `what nothing names makes room, oldest first`() {
    var shelf = ArtworkShelf()
    let size = ProtocolLimits.artwork
    for number in UInt32(1)...3 { Self.add(Self.pieces(number, size: size), to: &shelf) }
    #expect(shelf.byteCount == ProtocolLimits.heldArtwork)
    Self.add(Self.pieces(4, size: size), to: &shelf, named: [1])
    #expect([1, 2, 3, 4].map { shelf.holds($0) } == [true, false, true, true])
    Self.add(Self.pieces(5, size: 1), to: &shelf, named: [1, 3, 4])
    #expect(!shelf.holds(5))
    #expect(shelf.holds(1) && shelf.holds(3) && shelf.holds(4))
  }

  @Test(arguments: 0..<20) func `whatever comes, no more is held than allowed`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var shelf = ArtworkShelf()
    for _ in 0..<300 {
      let isSmall = random.next() % 3 == 0
      let size = isSmall ? 1 : 1 + Int(random.next() % UInt64(ProtocolLimits.artwork))
      let pieces = Self.pieces(UInt32(1 + random.next() % 60), size: size, step: 400_000)
      let named = Set((0..<4).map { _ in UInt32(random.next() % 60) })
      Self.add(pieces.dropLast(random.next() % 4 == 0 ? 1 : 0), to: &shelf, named: named)
      #expect(shelf.byteCount <= ProtocolLimits.heldArtwork)
      #expect(shelf.count <= ProtocolLimits.heldAnnouncements)
    }
  }
}
