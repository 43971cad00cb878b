import ExpatFeeds
import House
import SQLiteStore
import Sender
import Service

extension Podcast {
  static let columns = """
    SELECT id, title, uri, (SELECT count(*) FROM episode WHERE podcast = podcast.id),
      (SELECT count(*) FROM episode WHERE podcast = podcast.id AND fresh AND NOT played), problem,
      artwork
    FROM podcast

    """

  init(_ row: borrowing Row) {
    self.init(
      id: "f\(row.int64(0) ?? 0)", title: row.text(1) ?? "", uri: row.text(2) ?? "",
      episodeCount: row.int(3) ?? 0, newCount: row.int(4) ?? 0)
    (problem, artwork) = (row.text(5), row.text(6))
  }
}

/// The tables of podcasts and their episodes. Times in seconds since 1970.
enum Podcasts {
  /// Podcasts that a household subscribes to.
  static let limit = 100
  /// Between two readings of a feed.
  static let period: Int64 = 3_600
  /// The longest pause after a feed that could not be read.
  static let longestPause: Int64 = 86_400

  /// A feed that is to be read.
  struct Due: Sendable {
    var id: Int64
    var uri: String
    var reach: SourceReach
    /// Readings without success since the last one.
    var failures = 0
  }

  /// A feed as it was read.
  struct Reading: Sendable {
    var feed: PodcastFeed
    /// Where its episodes may lead.
    var reach: SourceReach
  }

  // MARK: - Questions

  static func all(_ database: Database) throws -> [Podcast] {
    try database.prepare(Podcast.columns + "ORDER BY id").all { Podcast($0) }
      .sorted { (SortKey.of($0.title), $0.id) < (SortKey.of($1.title), $1.id) }
  }

  private static func podcast(_ id: String, _ database: Database) throws -> Podcast {
    let number = SQLiteValue(LibraryNumber.parse(id, LibraryNumber.podcast))
    guard
      let found = try database.prepare(Podcast.columns + "WHERE id = ?")
        .first([number], { Podcast($0) })
    else { throw missing }
    return found
  }

  private static let missing = Refusal.noSuch(
    "There is no such podcast; the household may have unsubscribed.")

  static func contents(_ id: String, _ database: Database) throws -> PodcastContents {
    let podcast = try podcast(id, database)
    let episodes = try database.prepare(
      """
      SELECT e.id, title, published, e.duration, fresh AND NOT played, played, p.seconds
      FROM episode e LEFT JOIN place p ON p.kind = 'episode' AND p.key = 'e' || e.id
      WHERE podcast = ? ORDER BY published DESC, e.id DESC
      """
    ).all([SQLiteValue(LibraryNumber.parse(id, LibraryNumber.podcast))]) { row in
      var episode = Episode(
        id: "e\(row.int64(0) ?? 0)", title: row.text(1) ?? "", isNew: row.bool(4),
        isPlayed: row.bool(5))
      (episode.publishedAtS, episode.durationS) = (row.double(2), row.double(3))
      episode.positionS = row.double(6)
      return episode
    }
    return PodcastContents(podcast: podcast, episodes: episodes)
  }

  /// The id of the episode with this address.
  static func episode(at uri: String, _ database: Database) throws -> String? {
    try database.prepare("SELECT id FROM episode WHERE uri = ? ORDER BY id DESC LIMIT 1")
      .first([.text(uri)]) { LibraryNumber.text($0.int64(0), LibraryNumber.episode) } ?? nil
  }

  /// The newest episode that nobody has heard; where all were heard, the newest.
  static func entries(podcast id: String, _ database: Database) throws -> [Order.NewEntry] {
    _ = try podcast(id, database)
    return try entries(
      "podcast = ? ORDER BY played, published DESC, e.id DESC LIMIT 1",
      LibraryNumber.parse(id, LibraryNumber.podcast), database)
  }

  static func entries(episode id: String, _ database: Database) throws -> [Order.NewEntry] {
    try entries("e.id = ?", LibraryNumber.parse(id, LibraryNumber.episode), database)
  }

  private static func entries(
    _ condition: String, _ number: Int64?, _ database: Database
  ) throws -> [Order.NewEntry] {
    let columns = """
      SELECT e.uri, e.title, c.title, e.duration, e.reach, p.seconds, c.artwork
      FROM episode e JOIN podcast c ON c.id = e.podcast
      LEFT JOIN place p ON p.kind = 'episode' AND p.key = 'e' || e.id WHERE
      """
    return try database.prepare(columns + " " + condition).all([SQLiteValue(number)]) { row in
      var entry = Order.NewEntry(location: row.text(0) ?? "")
      (entry.title, entry.artist, entry.album) = (row.text(1), row.text(2), row.text(2))
      (entry.durationS, entry.startS) = (row.double(3), row.double(5))
      entry.reach = SourceReach(kept: row.text(4))
      entry.artwork = row.text(6)
      return entry
    }
  }

  // MARK: - Subscribing

  /// Throws where one more would be too many.
  static func check(_ uri: String, _ database: Database) throws {
    let others = try database.prepare("SELECT count(*) FROM podcast WHERE uri != ?")
      .first([.text(uri)]) { $0.int(0) ?? 0 }
    guard others ?? 0 < limit else {
      throw Refusal.invalid("There are \(limit) podcasts already; unsubscribe from one first.")
    }
  }

  static func add(
    _ uri: String, reach: SourceReach, _ reading: Reading, at now: Int64, _ database: Database
  ) throws -> Podcast {
    try check(uri, database)
    try database.transaction { () throws(SQLiteError) in
      let known =
        try database.prepare("SELECT id FROM podcast WHERE uri = ?")
        .first([.text(uri)]) { $0.int64(0) } ?? nil
      try database.run(
        """
        INSERT INTO podcast (uri, title, reach) VALUES (?, '', ?)
        ON CONFLICT (uri) DO UPDATE SET reach = excluded.reach
        """, .text(uri), .text(reach.rawValue))
      let id = known ?? database.lastInsertedID
      _ = try write(
        reading, of: Due(id: id, uri: uri, reach: reach), isFirst: known == nil, at: now, database)
    }
    guard
      let podcast = try database.prepare(Podcast.columns + "WHERE uri = ?")
        .first([.text(uri)], { Podcast($0) })
    else { throw Refusal.unavailable("The podcast was not kept; try again.") }
    return podcast
  }

  static func remove(_ id: String, _ database: Database) throws {
    let number = LibraryNumber.parse(id, LibraryNumber.podcast)
    try database.run("DELETE FROM podcast WHERE id = ?", SQLiteValue(number))
    guard database.changedRows == 1 else { throw missing }
  }

  static func mark(_ id: String, isPlayed: Bool, _ database: Database) throws {
    let number = LibraryNumber.parse(id, LibraryNumber.episode)
    try database.run(
      "UPDATE episode SET played = ? WHERE id = ?", SQLiteValue(isPlayed), SQLiteValue(number))
    guard database.changedRows == 1 else {
      throw Refusal.noSuch("There is no such episode any more; look at its podcast again.")
    }
    try database.run("DELETE FROM place WHERE kind = 'episode' AND key = ?", .text(id))
  }

  // MARK: - Readings

  /// Makes all feeds due.
  static func hurry(_ database: Database) throws { try database.run("UPDATE podcast SET due = 0") }

  /// The feed that has waited longest. Nobody else gets it until it is due again. One that is due later than any pause
  /// was read while the clock on the wall was ahead.
  static func takeDue(at now: Int64, _ database: Database) throws -> Due? {
    let due = try database.prepare(
      """
      SELECT id, uri, reach, failures FROM podcast WHERE due <= ?1 OR due > ?2
      ORDER BY due, id LIMIT 1
      """
    ).first([SQLiteValue(now), SQLiteValue(now + longestPause)]) { row in
      Due(
        id: row.int64(0) ?? 0, uri: row.text(1) ?? "", reach: SourceReach(kept: row.text(2)),
        failures: row.int(3) ?? 0)
    }
    if let due {
      try database.run(
        "UPDATE podcast SET due = ? WHERE id = ?", SQLiteValue(now + period), SQLiteValue(due.id))
    }
    return due
  }

  /// A feed that nobody has tried to read is due again.
  static func giveBack(
    _ due: Due, at now: Int64, _ database: Database
  ) throws(SQLiteError) {
    try database.run(
      "UPDATE podcast SET due = ? WHERE id = ?", SQLiteValue(now), SQLiteValue(due.id))
  }

  /// Returns true if pages show something else now.
  static func failed(
    _ due: Due, because problem: String, at now: Int64, _ database: Database
  ) throws(SQLiteError) -> Bool {
    let pause = min(longestPause, period << Int64(min(due.failures, 10)))
    let before =
      try database.prepare("SELECT problem FROM podcast WHERE id = ?")
      .first([SQLiteValue(due.id)]) { $0.text(0) } ?? nil
    try database.run(
      "UPDATE podcast SET problem = ?, failures = ?, due = ? WHERE id = ?", .text(problem),
      SQLiteValue(min(due.failures, 100) + 1), SQLiteValue(now + pause), SQLiteValue(due.id))
    return before != problem
  }

  /// Takes in what a feed says. Of those that were there before the household has subscribed, the newest alone is new.
  ///
  /// - Returns: true if pages show something else now.
  static func write(
    _ reading: Reading, of due: Due, isFirst: Bool, at now: Int64, _ database: Database
  ) throws(SQLiteError) -> Bool {
    let title = shown(reading.feed.title) ?? host(due.uri)
    let picture = reading.feed.picture.flatMap(PictureName.checked)
    return try database.transaction { () throws(SQLiteError) in
      let before =
        try database.prepare("SELECT picture FROM podcast WHERE id = ?")
        .first([SQLiteValue(due.id)]) { $0.text(0) } ?? nil
      try database.run(
        """
        UPDATE podcast SET title = ?, problem = NULL, failures = 0, due = ?, picture = ?,
          picture_reach = ?, artwork = ?
        WHERE id = ?
        """, .text(title), SQLiteValue(now + period), SQLiteValue(picture),
        .text(reading.reach.rawValue), SQLiteValue(picture.map(PictureName.of)),
        SQLiteValue(due.id))
      guard database.changedRows == 1 else { return false }
      let newest = try database.prepare("SELECT max(id) FROM episode WHERE podcast = ?")
      let newestBefore = try newest.first([SQLiteValue(due.id)]) { $0.int64(0) }
      // The oldest gets the lowest number.
      let insert = try database.prepare(
        """
        INSERT INTO episode (podcast, guid, title, uri, published, duration, reach, fresh)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (podcast, guid) DO UPDATE SET
          title = excluded.title, uri = excluded.uri, published = excluded.published,
          duration = coalesce(excluded.duration, duration), reach = excluded.reach
        """)
      for (place, episode) in reading.feed.episodes.enumerated().reversed()
      where isUsable(episode) {
        try insert.run(
          SQLiteValue(due.id), .text(episode.guid), .text(shown(episode.title) ?? "Untitled"),
          .text(episode.address), SQLiteValue(episode.publishedS.flatMap(plausible)),
          SQLiteValue(episode.durationS), .text(reading.reach.rawValue),
          SQLiteValue(!isFirst || place == 0))
      }
      try database.run(
        """
        DELETE FROM episode WHERE podcast = ?1 AND id NOT IN (
          SELECT id FROM episode WHERE podcast = ?1 ORDER BY published DESC, id DESC LIMIT ?2)
        """, SQLiteValue(due.id), SQLiteValue(PodcastFeed.episodeLimit))
      let newestAfter = try newest.first([SQLiteValue(due.id)]) { $0.int64(0) }
      return due.failures > 0 || newestAfter != newestBefore || picture != before
    }
  }

  /// A feed may have taken over the program that reads it: nothing that it says is believed.
  private static func isUsable(_ episode: PodcastFeed.Episode) -> Bool {
    let length = episode.durationS ?? 1
    return (1...PodcastFeed.textLimit).contains(episode.guid.utf8.count)
      && episode.address.utf8.count <= PodcastFeed.addressLimit
      && Podcast.isAddress(episode.address) && length.isFinite && length > 0
  }

  /// From 1970 to 2100.
  private static func plausible(_ time: Int64) -> Int64? {
    (0...4_102_444_800).contains(time) ? time : nil
  }

  private static func shown(_ text: String) -> String? {
    let words = ItemMetadata.shown(text).split(separator: " ")
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  private static func host(_ uri: String) -> String {
    String(
      uri.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/?#".contains($0) }.prefix(100))
  }
}
