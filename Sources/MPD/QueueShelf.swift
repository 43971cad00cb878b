import House
import MPDProtocol
import Service

/// A queue with all that clients are told of its songs.
struct QueueView: Sendable {
  var revision: UInt64 = 0
  /// Identities of the entries, in the order of the queue.
  var ids: [Int] = []
  var songs: [Song] = []
  var artwork: [String?] = []
  var history = QueueHistory()

  /// A number for each song, which its title and the like belong to: they may become known later.
  fileprivate var marks: [Int] {
    zip(ids, songs).map { id, song in
      var hasher = Hasher()
      hasher.combine(id)
      hasher.combine(song)
      return hasher.finalize()
    }
  }

  /// As the protocol counts versions.
  var version: UInt32 { UInt32(truncatingIfNeeded: revision) }

  func place(ofSong id: Int) throws(Ack) -> Int {
    guard let place = ids.firstIndex(of: id - 1) else { throw .noSong }
    return place
  }

  /// - Parameter position: as a client has given it.
  func entry(at position: Int) throws(Ack) -> Int {
    guard ids.indices.contains(position) else { throw .badIndex }
    return ids[position]
  }

  /// The part of a range that exists.
  func part(_ range: Range<Int>) throws(Ack) -> Range<Int> {
    guard range.lowerBound <= ids.count, range.count != 1 || range.lowerBound < ids.count else {
      throw .badIndex
    }
    return range.lowerBound..<min(range.upperBound, ids.count)
  }

  func write(_ position: Int, to reply: inout Reply, tags: Set<TagType>) {
    songs[position].write(to: &reply, tags: tags)
    reply.pair("Pos", position)
    reply.pair("Id", Self.number(ids[position]))
  }

  /// Numbers of songs begin with 1: some clients take 0 for none.
  static func number(_ entry: Int) -> Int { entry + 1 }
}

/// Keeps the queues that were asked for last, so that clients that ask again and again cost little.
actor QueueShelf {
  /// Queues that are kept; others are fetched anew.
  static let limit = 16
  private static let pageSize = 1_000
  private static let attempts = 4

  private let house: any HouseControl
  private let library: any LibraryControl
  /// The one that was asked for last is the last.
  private var kept: [(group: String, view: QueueView)] = []

  init(_ house: any HouseControl, _ library: any LibraryControl) {
    (self.house, self.library) = (house, library)
  }

  var count: Int { kept.count }

  func queue(of group: HouseState.Group, _ paths: LibraryPaths) async throws -> QueueView {
    let known = kept.first { $0.group == group.id }?.view
    if let known, known.revision == group.queue.revision { return known }
    var view = try await load(group.id, paths)
    view.history = kept.first { $0.group == group.id }?.view.history ?? QueueHistory()
    view.history.note(view.marks, version: view.version)
    keep(view, of: group.id)
    return view
  }

  func keep(_ view: QueueView, of group: String) {
    kept.removeAll { $0.group == group }
    kept.append((group, view))
    if kept.count > Self.limit { kept.removeFirst() }
  }

  private func load(_ group: String, _ paths: LibraryPaths) async throws -> QueueView {
    for _ in 0..<Self.attempts {
      var entries: [QueuePage.Entry] = []
      var page = try await house.queue(group: group, offset: 0, limit: Self.pageSize)
      let revision = page.revision
      entries += page.entries
      while !page.entries.isEmpty, entries.count < page.count {
        page = try await house.queue(group: group, offset: entries.count, limit: Self.pageSize)
        entries += page.entries
      }
      if page.revision == revision { return try await view(entries, revision, paths) }
    }
    throw Refusal.notYet("The queue changes all the time; try again.")
  }

  private func view(
    _ entries: [QueuePage.Entry], _ revision: UInt64, _ paths: LibraryPaths
  ) async throws -> QueueView {
    var view = QueueView()
    view.revision = revision
    view.ids = entries.map(\.id)
    view.artwork = entries.map(\.artwork)
    view.songs = try await library.songs(of: entries, paths)
    return view
  }
}

extension LibraryControl {
  /// Returns the songs of a queue or a playlist, with all that is known of them.
  func songs(of entries: [QueuePage.Entry], _ paths: LibraryPaths) async throws -> [Song] {
    let ids = Array(Set(entries.compactMap(\.trackId)))
    var known: [String: Song] = [:]
    if !ids.isEmpty {
      known = try await songs(.tracks(ids), into: [:]) { songs, song in
        songs[song.track.id] = Song(song, paths)
      }
    }
    return entries.map { entry in entry.trackId.flatMap { known[$0] } ?? Song(entry) }
  }
}
