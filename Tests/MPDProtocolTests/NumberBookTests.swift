import MPDProtocol
import Testing

@Suite struct NumberBookTests {
  @Test func `numbers last when rooms and groups go, and over restarts`() {
    var book = NumberBook()
    book.note(rooms: ["a", "b"])
    book.note(groups: [("g1", "Living Room", .rooms), ("g2", "Küche", .rooms)], base: 6600)
    book.note(rooms: ["c"])
    book.note(groups: [("g2", "Küche + Bad", .rooms), ("g3", "Küche", .rooms)], base: 6600)
    let again = NumberBook(text: book.text)
    #expect(again == book)
    #expect(again.number(ofRoom: "b") == 1 && again.room(2) == "c" && again.room(3) == nil)
    #expect(again.group("g1")?.port == 6600 && again.group("g1")?.slug == "living-room")
    #expect(again.group("g2")?.port == 6601 && again.group("g2")?.slug == "kuche")
    #expect(again.group("g3")?.port == 6602 && again.group("g3")?.slug == "kuche-2")
  }

  @Test func `groups without ports keep their slugs, and get ports once somebody answers there`() {
    var book = NumberBook()
    book.note(groups: [("g1", "a", .rooms), ("g2", "Bath", .rooms)], base: nil)
    var again = NumberBook(text: book.text)
    #expect(again == book && again.groups.map(\.port) == [0, 0])
    again.note(groups: [("g1", "a + b", .rooms), ("g3", "Attic", .rooms)], base: 6600)
    #expect(again.groups.map(\.slug) == ["a", "bath", "attic"])
    #expect(again.groups.map(\.port) == [6600, 0, 6601])
  }

  @Test func `a group that gets a name gets its slug`() {
    var book = NumberBook()
    book.note(groups: [("g1", "a + b", .rooms)], base: 1)
    #expect(book.group("g1")?.slug == "a-b")
    book.note(groups: [("g2", "192.168.1.7:8770", .address)], base: 1)
    #expect(book.group("g2")?.slug == "192-168-1-7-8770")
    book.note(groups: [("g2", "Bath", .rooms)], base: 1)
    book.note(groups: [("g2", "Bath + Attic", .rooms)], base: 1)
    #expect(book.group("g2")?.slug == "bath")
    book.note(groups: [("g1", "Dance Floor!", .user)], base: 1)
    #expect(book.group("g1")?.slug == "dance-floor")
    book.note(groups: [("g1", "a", .rooms)], base: 1)
    #expect(book.group("g1")?.slug == "dance-floor")
    for (name, slug) in [("default", "group"), ("…", "group"), ("音楽", "group"), ("R2 D2", "r2-d2")]
    {
      #expect(NumberBook.slug(name) == slug)
    }
  }

  @Test func `no more rooms and groups are remembered than the limits`() {
    var book = NumberBook()
    book.note(rooms: (0...NumberBook.roomLimit).map { "r\($0)" })
    #expect(book.room(NumberBook.roomLimit - 1) != nil && book.room(NumberBook.roomLimit) == nil)
    for number in 0...NumberBook.groupLimit {
      book.note(groups: [("g\(number)", "x", .rooms)], base: 6600)
    }
    #expect(book.groups.count == NumberBook.groupLimit)
    #expect(book.group("g0") == nil && book.group("g\(NumberBook.groupLimit)") != nil)
  }

  @Test func `a text that nobody has written is left out`() {
    let text = "room a b\nroom \ngroup g1 99999 x 0\ngroup g1 1 X Y 0\ngroup g1 6600 ok 0\n"
    let book = NumberBook(text: text + "group g1 6601 twice 0\ngroup g2 6602 ok 0\nnonsense")
    #expect(book.text == "group g1 6600 ok 0\n")
  }

  @Test func `only positions with other songs have changed`() {
    var history = QueueHistory()
    history.note([1, 2, 3], version: 1)
    history.note([1, 3], version: 2)
    history.note([1, 3, 4], version: 3)
    #expect(history.changes(since: 3) == [])
    #expect(history.changes(since: 2) == [2])
    #expect(history.changes(since: 1) == [1, 2])
    // Before the first, and from the future.
    #expect(history.changes(since: 0) == [0, 1, 2])
    #expect(history.changes(since: 4_294_967_295) == [0, 1, 2])
    for version in 4...UInt32(QueueHistory.limit + 3) { history.note([1, 3], version: version) }
    #expect(history.changes(since: 3) == [0, 1])
    #expect(history.changes(since: 4) == [])
  }
}
