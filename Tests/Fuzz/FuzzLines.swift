import MPDProtocol

/// Feeds arbitrary lines to all that reads text of MPD clients, and checks what must hold of each. Started by run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLines(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  var session = ClientSession()
  for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: false) {
    switch session.receive(Array(line)) {
    case .run(let lines, _): for line in lines { fuzzCommand(line) }
    case .idle(let parts):
      precondition(session.awaited == parts && !parts.isEmpty)
      precondition((try? Subsystems(names: words(parts))) == parts)
    case .refuse(let text): precondition(text.hasSuffix("\n") && text.hasPrefix("ACK ["))
    case .none, .endIdle: break
    case .close: session = ClientSession()
    }
  }
  fuzzBook(String(decoding: bytes, as: UTF8.self))
  return 0
}

private func words(_ parts: Subsystems) -> [String] {
  parts.lines.split(separator: "\n").map { String($0.dropFirst("changed: ".count)) }
}

private let song: Song = {
  var song = Song(uri: "Nina Simone/Sinnerman.flac")
  (song.title, song.artist, song.year) = ("Sinnerman", "Nina Simone", 1965)
  (song.durationS, song.modifiedS, song.genres) = (622.1, 1_700_000_000, ["Jazz", "Soul"])
  return song
}()

private func fuzzCommand(_ line: [UInt8]) {
  guard let command = try? CommandWords(line: line) else { return }
  precondition(command.arguments.count <= CommandWords.argumentLimit)
  var arguments = command.arguments
  for text in arguments {
    _ = try? Argument.number(text)
    _ = try? Argument.signed(text)
    if let range = try? Argument.range(text) { precondition(range.lowerBound >= 0) }
    if let seconds = try? Argument.seconds(text) { precondition(seconds.isFinite) }
    if let place = try? Argument.place(text, current: 3, count: 9) {
      precondition((0...9).contains(place))
    }
  }
  let order = (try? SongOrder(takenFrom: &arguments)) ?? SongOrder()
  for isSearch in [false, true] {
    guard let filter = try? SongFilter(arguments, isSearch: isSearch) else { continue }
    let isFound = filter.matches(song)
    precondition(SongFilter.not(filter).matches(song) != isFound)
    // A library that is asked for less must still have each song that matches.
    if isFound, !filter.folder.isEmpty { precondition(song.uri.hasPrefix(filter.folder)) }
    if isFound, let exact = filter.exact {
      precondition(song.values(orFallback: exact.tag).contains(exact.value))
    }
  }
  precondition(order.applied(to: [song, song]).count <= 2)
  var reply = Reply()
  reply.pair("Title", arguments.first ?? "")
  precondition(reply.bytes.count { $0 == 0x0a } == 1)
}

/// A text that is written and read again has the same numbers.
private func fuzzBook(_ text: String) {
  var book = NumberBook(text: text)
  precondition(NumberBook(text: book.text) == book)
  book.note(rooms: [text])
  book.note(groups: [(id: "g1", name: text, by: .user)], base: 6600)
  precondition(NumberBook(text: book.text) == book)
  if let slug = book.group("g1")?.slug {
    precondition(!slug.isEmpty && slug != "default" && book.group(slug: slug)?.id == "g1")
  }
}
