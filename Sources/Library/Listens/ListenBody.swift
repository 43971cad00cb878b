import House
import ProgramJSON

/// Listens in the forms that the services take.
enum ListenBody {
  // MARK: - ListenBrainz

  private struct Submission: Encodable {
    var type: String
    var payload: [Payload]

    private enum CodingKeys: String, CodingKey {
      case payload
      case type = "listen_type"
    }
  }

  private struct Payload: Encodable {
    var at: Int64?
    var track: Metadata

    private enum CodingKeys: String, CodingKey {
      case at = "listened_at"
      case track = "track_metadata"
    }
  }

  private struct Metadata: Encodable {
    var artist: String
    var title: String
    var album: String?
    var more: Additions

    private enum CodingKeys: String, CodingKey {
      case artist = "artist_name"
      case title = "track_name"
      case album = "release_name"
      case more = "additional_info"
    }
  }

  private struct Additions: Encodable {
    var milliseconds: Int?
    var number: Int?
    var releaseId: String?
    var player = "Tutti"
    var client = "tutti"

    private enum CodingKeys: String, CodingKey {
      case milliseconds = "duration_ms"
      case number = "tracknumber"
      case releaseId = "release_mbid"
      case player = "media_player"
      case client = "submission_client"
    }
  }

  /// - Parameter isNow: true for what plays at present.
  static func json(_ listens: [Listen], isNow: Bool) throws -> [UInt8] {
    let type = isNow ? "playing_now" : listens.count == 1 ? "single" : "import"
    let payload = listens.map { listen in
      let more = Additions(
        milliseconds: listen.milliseconds, number: listen.number, releaseId: listen.releaseId)
      return Payload(
        at: isNow ? nil : listen.atS,
        track: Metadata(
          artist: listen.artist, title: listen.title, album: listen.album, more: more))
    }
    return try JSON.encode(Submission(type: type, payload: payload))
  }

  // MARK: - Last.fm

  /// - Parameter hash: gives the MD5 sum in hexadecimal digits.
  static func form(
    _ listens: [Listen], isNow: Bool, _ key: ListenKey, hash: ([UInt8]) throws -> String
  ) rethrows -> [UInt8] {
    var values = [
      "method": isNow ? "track.updateNowPlaying" : "track.scrobble", "api_key": key.apiKey,
      "sk": key.token,
    ]
    for (place, listen) in listens.enumerated() {
      let index = isNow ? "" : "[\(place)]"
      values["artist" + index] = listen.artist
      values["track" + index] = listen.title
      values["album" + index] = listen.album
      values["duration" + index] = listen.milliseconds.map { "\($0 / 1_000)" }
      values["trackNumber" + index] = listen.number.map { "\($0)" }
      if !isNow { values["timestamp" + index] = "\(listen.atS)" }
    }
    values["api_sig"] = try signature(values, key.secret, hash: hash)
    // The form of the answer is not signed.
    values["format"] = "json"
    let fields = values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    return Array(QueryText.query(fields).utf8)
  }

  /// The hash of all names and values in the order of the names, with the secret at the end.
  static func signature(
    _ values: [String: String], _ secret: String, hash: ([UInt8]) throws -> String
  ) rethrows -> String {
    let sorted = values.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
    return try hash(Array((sorted.map { $0.key + $0.value }.joined() + secret).utf8))
  }
}

extension Listen {
  /// Nil for more than a week, which no track lasts.
  fileprivate var milliseconds: Int? {
    durationS.flatMap { (0.001...604_800).contains($0) ? Int($0 * 1_000) : nil }
  }
}
