import Audio
import Clock
import Testing
import WireProtocol

@testable import Sender

/// Tests of what rooms are told of the current item, when, and what is taken back.
@Suite struct GroupSessionNowPlayingTests {
  /// Opens an item of the given length, with a title and a picture of as many kilobytes as its name
  /// says.
  private static func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    let parts = item.location.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 2 else { throw .notFound(path: item.location) }
    let source = TestSource(rate: 8000, channels: 1, length: Int64(parts[0]) * 8000)
    source.metadata = ItemMetadata(title: item.location, artist: "Ann", album: "Sums")
    source.metadata.track = item.id + 1
    source.metadata.artwork = Artwork(
      bytes: [UInt8](repeating: UInt8(parts[1] % 256), count: parts[1] * 1000),
      mimeType: "image/png")
    return source
  }

  private static func group(_ items: [String], rooms: Int = 1, ends: Bool = true) -> TestGroup {
    TestGroup(items, rooms: rooms, endsWithPlaylist: ends, openSource: open)
  }

  private static func seconds(_ count: Int64) -> MediaTime { .zero + .seconds(count) }

  private static func titles(_ announcements: [NowPlaying]) -> [String?] {
    announcements.map { $0.item?.title }
  }

  /// The room reports its status each second.
  private static func listen(_ group: inout TestGroup, for seconds: Int, rooms: Int = 1) {
    for _ in 0..<seconds {
      for room in 1...rooms { group.say(.status(.test(.playing)), in: RoomID(room)) }
      group.advance(by: .seconds(1))
    }
  }

  // MARK: - Announcing

  @Test func `what is enqueued is announced at once, with its place and all that is known of it`() {
    var group = Self.group(["10-20", "20-20"])
    group.joinReady()
    let picture = group.announcements().first?.item?.artwork ?? 0
    #expect(picture > 0)
    #expect(
      group.announcements() == [
        NowPlaying(
          generation: 0, from: .zero,
          item: ItemDescription(
            title: "10-20", artist: "Ann", album: "Sums", track: 1, duration: .seconds(10),
            artwork: picture)),
        NowPlaying(
          generation: 0, from: Self.seconds(10),
          item: ItemDescription(
            title: "20-20", artist: "Ann", album: "Sums", track: 2, duration: .seconds(20),
            artwork: picture)),
        NowPlaying(generation: 0, from: Self.seconds(30), item: nil),
      ])
    group.take()
    Self.listen(&group, for: 20)
    #expect(group.announcements().isEmpty)
  }

  @Test func `an item without a title is called by its file's name, and an address by nothing`() {
    let names = ["/music/8000x1:80000", "http://me:secret@host/8000x1:80000", "-"]
    for (name, title) in zip(names, ["8000x1:80000", "", ""]) {
      var group = TestGroup([name]) { (_) throws(MediaError) in
        let source = TestSource(rate: 8000, channels: 1, length: 8000)
        source.metadata = ItemMetadata()
        return source
      }
      group.joinReady()
      #expect(group.announcements().first?.item?.title == title)
    }
  }

  @Test func `sixteen are announced, and later ones as time passes`() {
    var group = Self.group((1...40).map { "1-\($0)" })
    group.joinReady()
    let first = group.announcements()
    #expect(first.map(\.from) == (0..<16).map { Self.seconds($0) })
    group.take()
    group.advance(by: .milliseconds(3500))
    #expect(
      group.announcements().map(\.from) == [
        Self.seconds(16), Self.seconds(17), Self.seconds(18),
      ])
  }

  @Test func `what could not be played is announced by what takes its place`() {
    var group = Self.group(["10-20", "gone", "10-30"])
    group.joinReady()
    #expect(Self.titles(group.announcements()) == ["10-20", "10-30", nil])
  }

  @Test func `a radio station's titles are announced where they belong`() {
    let titles = ["One", "One", "Two", "Three"]
    var group = TestGroup(["radio"], producesAtOnce: true) { (_) throws(MediaError) in
      TestStation(titles: titles)
    }
    group.joinReady()
    let announced = group.announcements()
    #expect(Self.titles(announced).suffix(4) == ["One", "Two", "Three", nil])
    let named = announced.filter { !($0.item?.title ?? "").isEmpty }
    #expect(named.map(\.from) == named.map(\.from).sorted())
    #expect(Set(named.map(\.from)).count == 3)
  }

  // MARK: - Taking back

  @Test func `an edit takes back what follows, and announces what comes instead`() {
    var group = Self.group(["60-20", "10-20", "10-30"])
    group.joinReady(with: .test(bytes: 4 << 20))
    group.advance(by: .seconds(1))
    group.take()
    group.command(.edit(.remove([1])))
    group.advance(by: .milliseconds(10))
    #expect(group.flushes.map(\.from) == [Self.seconds(60)])
    #expect(Self.titles(group.announcements()) == ["10-30"])
    #expect(group.announcements().map(\.from) == [Self.seconds(60)])
    #expect(group.announcements().allSatisfy { $0.generation == 1 })
    let kinds = group.told().compactMap { message -> String? in
      switch message {
      case .flush: "flush"
      case .nowPlaying: "announcement"
      default: nil
      }
    }
    #expect(kinds == ["flush", "announcement"])
  }

  @Test func `a skip and a seek announce what is heard from the cut on`() {
    var group = Self.group(["60-20", "10-20"])
    group.joinReady(with: .test(bytes: 4 << 20))
    group.advance(by: .seconds(1))
    group.take()
    group.command(.seek(to: .seconds(30)))
    group.advance(by: .milliseconds(10))
    let cut = group.flushes.last?.from
    #expect(group.announcements().first?.from == cut)
    #expect(Self.titles(group.announcements()) == ["60-20", "10-20"])
    group.take()
    group.advance(by: .seconds(1))
    group.command(.next)
    group.advance(by: .milliseconds(10))
    #expect(group.announcements().first?.from == group.flushes.last?.from)
    #expect(Self.titles(group.announcements()) == ["10-20", nil])
  }

  @Test func `what is taken back without a flush is taken back by an announcement`() {
    var told = AnnouncedItems()
    func one(_ title: String?, _ second: Int64) -> NowPlaying {
      NowPlaying(
        generation: 0, from: Self.seconds(second),
        item: title.map { ItemDescription(title: $0) })
    }
    let (a, b, c) = (one("A", 0), one("B", 10), one("C", 10))
    var said = [told.replace(with: [a, b]), told.replace(with: [a]), told.replace(with: [a])]
    #expect(said == [[a, b], [one(nil, 10)], []])
    said = [told.replace(with: [a, c]), told.replace(with: [a, c])]
    #expect(said == [[c], []])
    told.flush(from: Self.seconds(10))
    said = [told.replace(with: [a]), told.replace(with: [a, c]), told.replace(with: [c])]
    #expect(said == [[], [c], []])
    said = [told.replace(with: []), told.replace(with: [])]
    #expect(said == [[one(nil, 10)], []])
  }

  @Test func `nothing plays where the list was emptied`() {
    var group = Self.group(["60-20", "10-20"], ends: false)
    group.joinReady()
    group.advance(by: .seconds(1))
    group.take()
    group.command(.edit(.clear))
    group.advance(by: .seconds(1))
    let end = group.announcements().last
    #expect(end != nil)
    #expect(end?.item == nil)
    #expect(end?.from == group.flushes.last?.from)
  }

  // MARK: - Rooms that come late

  @Test func `a room that joins, or comes back, is told what sounds and what follows`() {
    var group = Self.group(["10-20", "10-30", "10-40"], rooms: 2)
    group.joinReady()
    Self.listen(&group, for: 14)
    group.take()
    group.joinReady(TestGroup.other)
    #expect(Self.titles(group.announcements(TestGroup.other)) == ["10-30", "10-40", nil])
    #expect(group.announcements(TestGroup.other).first?.from == Self.seconds(10))
    #expect(group.announcements().isEmpty)
    #expect(!group.pieces(TestGroup.other).isEmpty)

    group.handle(.closed(TestGroup.other, .control, reason: "gone"))
    group.take()
    group.joinReady(TestGroup.other)
    #expect(Self.titles(group.announcements(TestGroup.other)) == ["10-30", "10-40", nil])
    #expect(!group.pieces(TestGroup.other).isEmpty)
  }

  // MARK: - Pictures

  @Test func `a picture is sent whole, in order, in small pieces, and once for all items`() {
    var group = Self.group(["10-50", "10-50", "10-70", "10-50"])
    group.joinReady()
    group.advance(by: .seconds(9))
    let pieces = group.pieces()
    let numbers = group.announcements().compactMap { $0.item?.artwork }
    #expect(Set(numbers).count == 2)
    #expect(numbers[0] == numbers[1] && numbers[0] == numbers[3])
    for (number, kilobytes) in [(numbers[0], 50), (numbers[2], 70)] {
      let own = pieces.filter { $0.number == number }
      #expect(own.flatMap(\.bytes) == [UInt8](repeating: UInt8(kilobytes), count: kilobytes * 1000))
      #expect(own.allSatisfy { $0.bytes.count <= ProtocolLimits.artworkPiece })
      #expect(own.allSatisfy { $0.size == kilobytes * 1000 && $0.mimeType == "image/png" })
    }
  }

  @Test func `music comes first, until there are five seconds of it`() {
    var group = Self.group(["60-200"])
    group.joinReady()
    let streamed = group.streamed()
    let firstPiece = streamed.firstIndex { if case .artwork = $0 { true } else { false } }
    let before = streamed[..<(firstPiece ?? 0)].compactMap {
      if case .packet(let packet) = $0 { packet.mediaTime } else { nil }
    }
    #expect(before.last ?? .zero >= Self.seconds(4))
    #expect(before.last ?? .zero <= Self.seconds(6))
    let last = group.packets().last?.mediaTime ?? .zero
    #expect(last > Self.seconds(10))
  }

  @Test func `after a cut music comes first again`() {
    var group = Self.group(["60-20", "60-2000"])
    group.joinReady()
    group.advance(by: .seconds(1))
    group.take()
    group.command(.next)
    group.advance(by: .milliseconds(10))
    let cut = group.flushes.last?.from ?? .zero
    var musicEnd = cut
    for message in group.streamed() {
      switch message {
      case .packet(let packet) where packet.generation == 1: musicEnd = packet.mediaTime
      case .artwork: #expect(musicEnd >= cut + .seconds(4))
      default: break
      }
    }
    #expect(!group.pieces().isEmpty)
  }

  @Test func `a picture never exceeds the credit, and waits for it without stopping the music`() {
    var group = Self.group(["10-200"])
    group.greet()
    group.handle(.connected(TestGroup.room, .media))
    group.say(.credit(.test(limit: 250_000)))
    let sent = group.bytes(to: TestGroup.room, .media).count
    #expect((248_000...250_000).contains(sent))
    #expect((1..<13).contains(group.pieces().count))
    group.say(.credit(.test(limit: 1_000_000)))
    #expect(group.pieces().reduce(0) { $0 + $1.bytes.count } == 200_000)
  }

  @Test func `pictures beyond what a room can hold wait for their turn`() {
    var group = Self.group(["10-4100", "10-4101", "10-4102"])
    group.joinReady()
    let numbers = group.announcements().compactMap { $0.item?.artwork }
    #expect(Set(group.pieces().map(\.number)) == Set(numbers.prefix(2)))
    group.take()
    Self.listen(&group, for: 11)
    #expect(Set(group.pieces().map(\.number)) == [numbers[2]])
  }

  @Test func `items with the same picture share its bytes`() {
    var group = Self.group((1...10).map { _ in "10-50" })
    group.joinReady(with: .test(bytes: 8 << 20))
    let shared = group.session.timeline.segments.map { segment in
      segment.opened.metadata.artwork?.bytes.withUnsafeBufferPointer { $0.baseAddress }
    }
    #expect(shared.count == 10)
    #expect(Set(shared).count == 1)
  }
}
