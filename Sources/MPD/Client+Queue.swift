import House
import MPDProtocol
import Service

extension Client {
  /// Songs that one command moves: each is an order of its own.
  static let moveLimit = 1_000

  // MARK: - Adding

  func add(_ uri: String, at place: String?) async throws {
    try await insert(try await entries(of: uri, isOne: false), at: place)
  }

  mutating func addID(_ uri: String, at place: String?) async throws {
    let added = try await insert(try await entries(of: uri, isOne: true), at: place)
    guard let first = added.first else { throw Ack.noSong }
    reply.pair("Id", QueueView.number(first))
  }

  @discardableResult
  func insert(_ entries: [Order.NewEntry], at text: String?) async throws -> [Int] {
    let group = try await group().group
    guard !entries.isEmpty else { return [] }
    var place = Order.Place.waiting
    if let text {
      let wanted = try Argument.place(
        text, current: group.queue.index, count: group.queue.count)
      if wanted < group.queue.count { place = .number(wanted + 1) }
    }
    return try await edit(.add(entries, at: place), group).queue?.added ?? []
  }

  /// The entries that a URI stands for: a song, a folder with all below it, or an address.
  func entries(of uri: String, isOne: Bool) async throws -> [Order.NewEntry] {
    guard !uri.hasPrefix("/") || uri == "/", !uri.lowercased().hasPrefix("file:") else {
      throw Ack(.permission, "Access denied")
    }
    if uri.contains("://") {
      guard let address = WebAddress(uri) else { throw Ack.argument("Unsupported URI scheme") }
      return try await household.house.entries(
        of: [.address(address)], for: asker, in: household.library)
    }
    let path = try await libraryPath(uri)
    let song = try await household.library.songs(.at(path), into: [Order.NewEntry]()) {
      found, song in
      if let entry = song.entry { found.append(entry) }
    }
    if !song.isEmpty { return song }
    guard !isOne else { throw Ack.noSong }
    do {
      return try await folder(path)
    } catch {
      if Self.isMissing(error) { throw Ack.noExist("No such directory") }
      throw error
    }
  }

  /// The whole library is all of its folders.
  private func folder(_ path: String) async throws -> [Order.NewEntry] {
    let paths = path.isEmpty ? try await state().library.folders : [path]
    return try await household.house.entries(
      of: paths.map { .library(.folder($0)) }, for: asker, in: household.library)
  }

  // MARK: - Removing and moving

  func clear() async throws {
    guard let group = try await view().group else { return }
    try await edit(.clear, group)
  }

  func delete(_ text: String) async throws {
    let range = try Argument.range(text)
    let (group, queue) = try await queue()
    let part = try queue.part(range)
    guard !part.isEmpty else { return }
    try await remove(Array(queue.ids[part]), group)
  }

  func delete(id: String) async throws {
    let number = try Argument.number(id)
    let (group, queue) = try await queue()
    try await remove([queue.ids[try queue.place(ofSong: number)]], group)
  }

  /// Where the song that plays is gone, clients are shown the next one: `mpc crop` removes all others than this.
  private func remove(_ entries: [Int], _ group: HouseState.Group) async throws {
    try await edit(.remove(entries), group)
    if let playing = group.item?.entryId, entries.contains(playing) {
      try await settle(after: group)
    }
  }

  func move(_ text: String, to place: String) async throws {
    let range = try Argument.range(text)
    let (group, queue) = try await queue()
    try await move(try queue.part(range), to: place, group, queue)
  }

  func move(id: String, to place: String) async throws {
    let number = try Argument.number(id)
    let (group, queue) = try await queue()
    let start = try queue.place(ofSong: number)
    try await move(start..<start + 1, to: place, group, queue)
  }

  private func move(
    _ part: Range<Int>, to text: String, _ group: HouseState.Group, _ queue: QueueView
  ) async throws {
    guard part.count <= Self.moveLimit else {
      throw Ack.argument("At most \(Self.moveLimit) songs can be moved at once.")
    }
    guard !part.isEmpty else { return }
    // Places are those in the queue without the songs that move.
    var current = group.queue.index
    if let index = current, text.hasPrefix("+") || text.hasPrefix("-") {
      guard !part.contains(index) else { throw Ack.argument("Cannot move current song") }
      current = index >= part.upperBound ? index - part.count : index
    }
    let place = try Argument.place(
      text, current: current, count: queue.ids.count - part.count)
    let steps = Array(part).enumerated().map { (offset: $0.offset, entry: queue.ids[$0.element]) }
    for step in place <= part.lowerBound ? steps : steps.reversed() {
      try await edit(.move(step.entry, to: .number(place + step.offset + 1)), group)
    }
  }

  func swap(_ one: String, _ other: String) async throws {
    let (one, other) = (try Argument.number(one), try Argument.number(other))
    let (group, queue) = try await queue()
    _ = (try queue.entry(at: one), try queue.entry(at: other))
    try await swap(one, other, group, queue)
  }

  func swap(id one: String, id other: String) async throws {
    let (one, other) = (try Argument.number(one), try Argument.number(other))
    let (group, queue) = try await queue()
    try await swap(
      try queue.place(ofSong: one), try queue.place(ofSong: other), group, queue)
  }

  private func swap(
    _ one: Int, _ other: Int, _ group: HouseState.Group, _ queue: QueueView
  ) async throws {
    guard one != other else { return }
    let (low, high) = (min(one, other), max(one, other))
    try await edit(.move(queue.ids[high], to: .number(low + 1)), group)
    try await edit(.move(queue.ids[low], to: .number(high + 1)), group)
  }

  func shuffle(_ text: String?) async throws {
    let (group, queue) = try await queue()
    if let range = try text.map(Argument.range), try queue.part(range) != queue.ids.indices {
      throw Ack(.unknown, "Only the whole queue can be shuffled.")
    }
    try await edit(.shuffle, group)
  }

  // MARK: - Showing

  /// The queue of a household without groups is empty.
  private func shownQueue() async throws -> QueueView {
    let (state, group) = try await view()
    guard let group else { return QueueView() }
    return try await queue(of: group, state)
  }

  mutating func playlist() async throws {
    for (place, song) in try await shownQueue().songs.enumerated() {
      reply.pair("\(place):file", song.uri)
    }
  }

  mutating func playlistInfo(_ text: String?) async throws {
    let queue = try await shownQueue()
    let range = try text.map { $0 == "-1" ? 0..<queue.ids.count : try Argument.range($0) }
    if range?.lowerBound == queue.ids.count { return }
    for place in try range.map({ range in try queue.part(range) }) ?? 0..<queue.ids.count {
      queue.write(place, to: &reply, tags: tags)
    }
  }

  mutating func playlistID(_ text: String?) async throws {
    guard let text else { return try await playlistInfo(nil) }
    let number = try Argument.number(text)
    let queue = try await shownQueue()
    queue.write(try queue.place(ofSong: number), to: &reply, tags: tags)
  }

  mutating func playlistFind(_ arguments: [String], isSearch: Bool) async throws {
    var arguments = arguments
    let order = try SongOrder(takenFrom: &arguments)
    let filter = try SongFilter(arguments, isSearch: isSearch)
    let queue = try await shownQueue()
    let places = queue.ids.indices.filter { filter.matches(queue.songs[$0]) }
    let window = order.window ?? 0..<places.count
    for place in places[min(window.lowerBound, places.count)..<min(window.upperBound, places.count)]
    {
      queue.write(place, to: &reply, tags: tags)
    }
  }

  mutating func changes(since text: String, in range: String?, isShort: Bool = false) async throws {
    let version = UInt32(truncatingIfNeeded: try Argument.number(text))
    let range = try range.map(Argument.range)
    let queue = try await shownQueue()
    for place in queue.history.changes(since: version) where range?.contains(place) ?? true {
      if isShort {
        reply.pair("cpos", place)
        reply.pair("Id", QueueView.number(queue.ids[place]))
      } else {
        queue.write(place, to: &reply, tags: tags)
      }
    }
  }
}
