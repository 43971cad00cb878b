import Clock
import Testing
import WireProtocol

@testable import Receiver

@Suite struct NowPlayingBoardTests {
  private static func time(_ seconds: Int64) -> MediaTime { .zero + .seconds(seconds) }

  private static func announcement(
    _ title: String?, from seconds: Int64, generation: UInt32 = 0, artwork: UInt32 = 0
  ) -> NowPlaying {
    NowPlaying(
      generation: generation, from: time(seconds),
      item: title.map { ItemDescription(title: $0, artwork: artwork) })
  }

  private static func board(_ announcements: NowPlaying...) -> NowPlayingBoard {
    var board = NowPlayingBoard()
    for announcement in announcements { board.announce(announcement) }
    return board
  }

  /// Returns the title that is shown from now on, or else what happens instead.
  private static func shown(
    _ board: inout NowPlayingBoard, _ position: NowPlayingBoard.Position
  ) -> String {
    guard let change = board.advance(to: position) else { return "as before" }
    return change.item?.description.title ?? "nothing"
  }

  @Test func `an item is shown when it sounds, once, and not before`() {
    var board = Self.board(Self.announcement("A", from: 10), Self.announcement("B", from: 20))
    let told = [
      Self.shown(&board, .unknown), Self.shown(&board, .sounding(Self.time(9))),
      Self.shown(&board, .starved(Self.time(10))), Self.shown(&board, .sounding(Self.time(10))),
      Self.shown(&board, .sounding(Self.time(19))), Self.shown(&board, .starved(Self.time(20))),
      Self.shown(&board, .sounding(Self.time(20))), Self.shown(&board, .sounding(Self.time(99))),
    ]
    #expect(
      told == [
        "as before", "as before", "as before", "A", "as before", "as before", "B", "as before",
      ])
    #expect(board.announcements.count == 1)
  }

  @Test func `a room that joins a pause shows what is paused, and what is skipped to`() {
    var board = Self.board(Self.announcement("A", from: 10), Self.announcement("B", from: 20))
    let told = [15, 15, 20].map { Self.shown(&board, .paused(Self.time($0))) }
    #expect(told == ["A", "as before", "B"])
  }

  @Test func `nothing is shown behind the end, in silence, and after the stream`() {
    for ending in 0..<4 {
      var board = Self.board(Self.announcement("A", from: 0), Self.announcement(nil, from: 20))
      let begun = Self.shown(&board, .sounding(Self.time(1)))
      #expect(begun == "A")
      if ending == 3 { board.removeAll() }
      let positions: [NowPlayingBoard.Position] = [
        .sounding(Self.time(20)), .starved(Self.time(20)), .nothing, .unknown,
      ]
      let told = [Self.shown(&board, positions[ending]), Self.shown(&board, .unknown)]
      #expect(told == ["nothing", "as before"])
    }
  }

  @Test func `a flush forgets what older generations say of what lies behind it`() {
    var board = Self.board(
      Self.announcement("A", from: 0), Self.announcement("B", from: 20),
      Self.announcement("C", from: 30, generation: 1))
    let begun = Self.shown(&board, .sounding(Self.time(5)))
    #expect(begun == "A")
    board.flush(from: Self.time(20), generation: 1)
    #expect(board.announcements.map(\.item?.title) == ["A", "C"])
    board.flush(from: .zero, generation: 2)
    #expect(board.announcements.isEmpty)
    // An item is shown until the next one sounds.
    let after = Self.shown(&board, .sounding(Self.time(40)))
    #expect(after == "as before")
  }

  @Test func `an announcement takes the place of all that begin at or after it`() {
    let board = Self.board(
      Self.announcement("A", from: 0), Self.announcement("B", from: 20),
      Self.announcement("C", from: 30), Self.announcement("D", from: 20))
    #expect(board.announcements.map(\.item?.title) == ["A", "D"])
  }

  @Test func `no more is held than allowed, and the next are`() {
    var board = NowPlayingBoard()
    for second in 0..<1000 { board.announce(Self.announcement("\(second)", from: Int64(second))) }
    #expect(board.announcements.count == ProtocolLimits.heldAnnouncements)
    #expect(board.announcements.first?.item?.title == "0")
  }

  @Test func `a picture is shown as soon as it is there, and again by the next item`() {
    var board = Self.board(
      Self.announcement("A", from: 0, artwork: 7), Self.announcement("B", from: 20, artwork: 7),
      Self.announcement("C", from: 30, artwork: 8))
    let bare = board.advance(to: .sounding(Self.time(1)))
    #expect(bare?.item?.artwork == nil)
    board.add(ArtworkPiece(number: 7, size: 2, offset: 0, mimeType: "image/png", bytes: [1]))
    let half = board.advance(to: .sounding(Self.time(2)))
    #expect(half == nil)
    board.add(ArtworkPiece(number: 7, size: 2, offset: 1, mimeType: "image/png", bytes: [2]))
    let artwork = SoundingArtwork(mimeType: "image/png", bytes: [1, 2])
    let whole = board.advance(to: .starved(Self.time(2)))
    #expect(whole?.item?.description.title == "A")
    #expect(whole?.item?.artwork == artwork)
    let next = board.advance(to: .sounding(Self.time(20)))
    #expect(next?.item?.artwork == artwork)
    let last = board.advance(to: .sounding(Self.time(30)))
    #expect(last?.item?.description.title == "C")
    #expect(last?.item?.artwork == nil)
  }
}
