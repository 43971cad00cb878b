import Driver
import Sender
import Synchronization
import Testing

@Suite struct MeasuredLoudnessTests {
  private let book = MeasuredLoudness()

  private func track(_ loudness: Double, album: Int64?) -> MeasuredLoudness.Track {
    .init(
      ItemLevel(loudness: loudness, peak: 0.5), album: album,
      albumLevel: album.map { _ in ItemLevel(loudness: -14, peak: 1) })
  }

  private func loudness(_ location: String, beside neighbours: String...) -> Double? {
    book.level(of: location, beside: neighbours)?.loudness
  }

  @Test func `a track beside another of its album is as loud as the album makes it`() {
    book.set([
      "/a1": track(-30, album: 1), "/a2": track(-12, album: 1), "/b": track(-20, album: 2),
      "/loose": track(-18, album: nil), "/other": track(-19, album: nil),
    ])
    #expect(loudness("/a1", beside: "/b", "/a2") == -14)
    #expect(loudness("/a1", beside: "/b") == -30)
    #expect(loudness("/a1") == -30)
    // A track that repeats is no album.
    #expect(loudness("/a1", beside: "/a1", "/a1") == -30)
    #expect(loudness("/loose", beside: "/other") == -18)
  }

  @Test func `what is not known is wished for`() {
    let calls = Atomic<Int>(0)
    book.whenWanted { calls.add(1, ordering: .relaxed) }
    book.set(["/a": track(-20, album: nil)])
    #expect(loudness("/a") == -20)
    #expect(!book.isWanted && book.takeWish() == nil && calls.load(ordering: .relaxed) == 0)
    #expect(loudness("/b") == nil)
    #expect(book.isWanted && calls.load(ordering: .relaxed) == 1)
    #expect(book.takeWish() == "/b" && book.takeWish() == nil && book.isWanted)
    // Whoever measures may begin later than the music.
    let late = Atomic<Int>(0)
    book.whenWanted { late.add(1, ordering: .relaxed) }
    #expect(late.load(ordering: .relaxed) == 1)
  }

  @Test func `a level is waited for while those that are known are read`() async {
    book.beginLoading()
    async let level = loudness("/a")
    book.replace(with: ["/a": track(-20, album: nil)])
    #expect(await level == -20)
    // Nobody waits for those that cannot be read.
    book.beginLoading()
    book.endLoading()
    #expect(loudness("/b") == nil)
  }

  @Test func `others take the place of what is forgotten`() {
    book.set(["/a": track(-20, album: nil)])
    book.replace(with: ["/b": track(-21, album: nil)])
    #expect(loudness("/a") == nil && loudness("/b") == -21)
  }
}
