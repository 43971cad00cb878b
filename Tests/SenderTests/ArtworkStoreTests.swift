import Clock
import Testing
import WireProtocol

@testable import Sender

@Suite struct ArtworkStoreTests {
  private static func opened(_ id: Int, picture: UInt8) throws -> OpenedItem {
    var metadata = ItemMetadata(title: "song \(id)")
    metadata.artwork = Artwork(
      bytes: [UInt8](repeating: picture, count: Artwork.sizeLimit), mimeType: "image/png")
    try #require(metadata.artwork != nil)
    return OpenedItem(
      item: PlayItem(id: id, location: "\(id)"), duration: nil, position: .zero, isSeekable: true,
      metadata: metadata)
  }

  private static func segment(
    _ store: ArtworkStore, _ opened: OpenedItem
  ) -> PlaybackTimeline.Segment {
    var segment = PlaybackTimeline.Segment(start: .zero, opened: opened)
    segment.description = store.description(of: opened)
    return segment
  }

  @Test func `pictures for which there is no room are not kept, and those that go make room`()
    throws
  {
    var store = ArtworkStore()
    var segments: [PlaybackTimeline.Segment] = []
    let limit = ArtworkStore.byteLimit / Artwork.sizeLimit
    for number in 0...limit {
      let opened = store.sharing(
        try Self.opened(number, picture: UInt8(number)), with: segments)
      #expect((opened.metadata.artwork != nil) == (number < limit))
      segments.append(Self.segment(store, opened))
    }
    #expect(store.byteCount == ArtworkStore.byteLimit)
    #expect(segments.last?.description.artwork == 0)
    // A picture that the store has already needs no space.
    let again = store.sharing(try Self.opened(99, picture: 3), with: segments)
    #expect(again.metadata.artwork != nil)
    segments.removeFirst()
    let next = store.sharing(try Self.opened(100, picture: 200), with: segments)
    #expect(next.metadata.artwork != nil)
    #expect(store.byteCount == ArtworkStore.byteLimit)
  }
}
