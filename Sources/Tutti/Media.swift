internal import Driver
internal import FFmpegSource
internal import Sender
internal import Synchronization

/// The source of a playlist item.
///
/// Each value that is made has an identity of its own, which its items keep: ``Player/Item/media``. Files, addresses, cards
/// and pipes can be stored with `Codable`, identity and all, and found again in a later run of the program. Two values
/// are equal if they have the same identity.
public struct Media: Sendable, Identifiable {
  /// Stays with the value, also when it is stored.
  public struct ID: Hashable, Sendable, Codable {
    /// 32 hexadecimal digits, drawn at random.
    let digits: String

    init() {
      digits = (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    public init(from decoder: any Decoder) throws {
      let digits = try decoder.singleValueContainer().decode(String.self)
      guard digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit) else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "it is no identity"))
      }
      self.digits = digits
    }

    public func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      try value.encode(digits)
    }
  }

  enum Kind: Sendable {
    case entry(PlaylistEntry)
    case custom(name: String, @Sendable () throws -> any SampleSource)
    case feed(MediaFeed)
    case live(LiveOrigin)
    case input(LiveInput)
  }

  public let id: ID
  let kind: Kind

  init(kind: Kind, id: ID = ID()) { (self.kind, self.id) = (kind, id) }

  /// The path, the address, or the name that the program gave.
  public var name: String {
    switch kind {
    case .entry(let entry): entry.location
    case .custom(let name, _): name
    case .feed(let feed): feed.bytes.name
    case .live(let origin): "\(origin.location)"
    case .input(let input): input.name
    }
  }

  /// A file of any format that FFmpeg reads. It is opened when its turn comes, and skipped then if it is missing.
  ///
  /// - Parameter path: preferably absolute; otherwise relative to the program's working directory.
  public static func file(_ path: String) -> Media { Media(kind: .entry(PlaylistEntry(path))) }

  /// A file, radio station or HLS stream.
  ///
  /// - Parameter url: `http://` or `https://`.
  public static func url(_ url: String) -> Media { Media(kind: .entry(PlaylistEntry(url))) }

  /// Returns the files in a folder and its subfolders, in natural order; the items of a list (M3U, PLS, XSPF, JSON);
  /// or the file itself. Reads the folder, or the network, at once, and blocks the thread meanwhile.
  ///
  /// - Throws: `TuttiError.unavailable`, with a line that names the path.
  public static func files(at path: String) throws(TuttiError) -> [Media] {
    do {
      return try MediaFolder.files(at: path).map { Media(kind: .entry($0)) }
    } catch {
      throw .unavailable(error.description)
    }
  }

  /// Bytes that the program feeds as they come.
  public static func feed(_ feed: MediaFeed) -> Media { Media(kind: .feed(feed)) }

  /// Audio that the program makes itself.
  ///
  /// - Parameters:
  ///   - name: for messages and displays.
  ///   - make: called on the producer's thread each time that the item starts or is sought in.
  public static func custom(
    _ name: String, make: @escaping @Sendable () throws -> any SampleSource
  ) -> Media {
    Media(kind: .custom(name: name, make))
  }
}

/// Opens the sources of items, for players and readers alike.
struct MediaOpener: Sendable {
  private let opener: SourceOpener

  /// - Parameter wish: learns which live source plays.
  init(
    interruption: ReadInterruption, workers: MediaWorkers = .shared, wish: LatencyWish? = nil,
    report: @escaping @Sendable (SourceNotice) -> Void = { _ in }
  ) {
    var opener = SourceOpener(interruption: interruption, report: report)
    opener.workers = workers
    opener.wish = wish
    self.opener = opener
  }

  func open(_ media: Media) throws(MediaError) -> any MediaSource {
    switch media.kind {
    case .entry(let entry):
      return try open(
        PlayItem(id: 0, location: entry.location, title: entry.title, reach: entry.reach))
    case .feed(let feed): return try opener.open(feed.bytes)
    case .live(let origin):
      return try opener.open(origin.location, raw: origin.raw, latency: origin.latency)
    case .input(let input):
      return try input.open(
        wish: opener.wish, interruption: opener.interruption, report: opener.report)
    case .custom(let name, let make):
      do {
        return CustomSource(try make(), name: name)
      } catch {
        throw .broken(path: name, reason: "\(error)")
      }
    }
  }

  func open(_ item: PlayItem) throws(MediaError) -> any MediaSource { try opener.open(item) }
}

/// The media of a playlist's items. The session knows those that have no address by locations that this class assigns.
final class CustomMedia: Sendable {
  private static let scheme = "custom:"
  private let state = Mutex<(count: Int, items: [String: Media])>((0, [:]))
  /// Keys are the numbers of the items.
  private let listed = Mutex<[Int: Media]>([:])

  /// Notes the items that were made of these media.
  func list(_ media: [Media], as ids: Range<Int>) {
    listed.withLock { listed in
      for (id, media) in zip(ids, media) { listed[id] = media }
    }
  }

  /// Returns the item of a playlist as programs see it.
  func item(_ item: PlayItem) -> Player.Item {
    let media = listed.withLock { $0[item.id] }
    return Player.Item(
      item,
      media: media ?? Media(kind: .entry(PlaylistEntry(item.location, title: item.title))))
  }

  func entry(for media: Media) -> PlaylistEntry {
    if case .entry(let entry) = media.kind { return entry }
    return state.withLock { state in
      state.count += 1
      let location = "\(Self.scheme)\(state.count):\(media.name)"
      state.items[location] = media
      return PlaylistEntry(location)
    }
  }

  /// Returns such an item; nil for other locations.
  func media(at location: String) throws(MediaError) -> Media? {
    guard location.hasPrefix(Self.scheme) else { return nil }
    guard let media = state.withLock({ $0.items[location] }) else {
      throw .notFound(path: location)
    }
    return media
  }

  /// Drops the items that are none of these.
  func keep(_ items: [PlayItem]) {
    let ids = Set(items.map(\.id))
    let locations = Set(items.map(\.location))
    listed.withLock { listed in listed = listed.filter { ids.contains($0.key) } }
    state.withLock { state in
      state.items = state.items.filter { locations.contains($0.key) }
    }
  }

  /// Returns an item's name for people.
  static func name(of location: String) -> String {
    guard location.hasPrefix(scheme) else { return location }
    let rest = location.dropFirst(scheme.count)
    return rest.firstIndex(of: ":").map { String(rest[rest.index(after: $0)...]) } ?? location
  }
}
