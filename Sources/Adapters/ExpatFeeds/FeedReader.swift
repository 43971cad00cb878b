internal import CExpat

/// Takes what Expat finds in a feed. It keeps no tree: of each element no more than a few texts. An entity that the feed
/// declares ends the reading, so that nothing is ever expanded.
final class FeedReader {
  /// The part of a feed whose text is kept.
  private enum Text {
    case feedTitle, feedPicture, guid, title, published, updated, duration
  }

  /// In bytes; the rest of a text is dropped.
  private static let keptBytes = 4 * PodcastFeed.textLimit

  private let parser: XML_Parser
  private var feed = PodcastFeed()
  /// Names of the elements around, from the outermost.
  private var path: [String] = []
  private var text: (kind: Text, depth: Int, bytes: [UInt8])?
  private var episode: [Text: String] = [:]
  private var address: String?
  private var isFeed = false
  private var fault: String?

  private init(_ parser: XML_Parser) { self.parser = parser }

  static func read(_ bytes: [UInt8]) throws(PodcastFeed.Fault) -> PodcastFeed {
    guard let parser = XML_ParserCreate(nil) else {
      throw PodcastFeed.Fault(description: "there is no memory to read it")
    }
    defer { XML_ParserFree(parser) }
    let reader = FeedReader(parser)
    reader.listen()
    let status = bytes.withUnsafeBytes { buffer in
      XML_Parse(
        parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(clamping: buffer.count),
        1)
    }
    if let fault = reader.fault { throw PodcastFeed.Fault(description: fault) }
    guard status == XML_STATUS_OK else {
      let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "broken"
      throw PodcastFeed.Fault(
        description: "it is no feed: line \(cexpat_line(parser)): \(reason)")
    }
    guard reader.isFeed else {
      throw PodcastFeed.Fault(description: "it is no feed: it is neither RSS nor Atom")
    }
    reader.feed.sort()
    return reader.feed
  }

  private func listen() {
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { data, name, attributes in
        guard let name else { return }
        FeedReader.of(data)?.open(String(cString: name), attributes)
      }, { data, _ in FeedReader.of(data)?.close() })
    XML_SetCharacterDataHandler(parser) { data, characters, count in
      FeedReader.of(data)?.take(characters, Int(count))
    }
    XML_SetEntityDeclHandler(parser) { data, _, _, _, _, _, _, _, _ in
      FeedReader.of(data)?.stop("it declares entities, which no feed needs")
    }
  }

  private static func of(_ data: UnsafeMutableRawPointer?) -> FeedReader? {
    data.map { Unmanaged<FeedReader>.fromOpaque($0).takeUnretainedValue() }
  }

  private func stop(_ reason: String) {
    fault = fault ?? reason
    _ = XML_StopParser(parser, 0)
  }

  // MARK: - Elements

  private func open(
    _ name: String, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) {
    path.append(name)
    guard path.count <= PodcastFeed.depthLimit else { return stop("its elements nest too deeply") }
    switch path.count {
    case 1: isFeed = name == "rss" || name == "feed"
    case 2, 3:
      if isEpisode(path.count) { (episode, address) = ([:], nil) }
    default: break
    }
    if address == nil { address = audio(name, attributes) }
    if name == "itunes:image", isChannel(path.count - 1), let href = value("href", attributes) {
      // That of RSS itself is a small one.
      feed.picture = Self.picture(href) ?? feed.picture
    }
    // Markup in a text belongs to it.
    if text == nil, let kind = kind { text = (kind, path.count, []) }
  }

  /// True if the element at this depth is the feed's own.
  private func isChannel(_ depth: Int) -> Bool {
    depth == 2 && path[0] == "rss" && path[1] == "channel"
  }

  /// True if the element at this depth is an episode.
  private func isEpisode(_ depth: Int) -> Bool {
    path.count >= depth
      && (depth == 3 && path[1] == "channel" && path[2] == "item"
        || depth == 2 && path[0] == "feed" && path[1] == "entry")
  }

  /// The depth of the episode that is open.
  private var episodeDepth: Int? { [2, 3].first(where: isEpisode) }

  private var kind: Text? {
    guard let name = path.last else { return nil }
    guard let depth = episodeDepth else {
      let isAtom = path.count == 2 && path[0] == "feed"
      switch name {
      case "title": return isChannel(path.count - 1) || isAtom ? .feedTitle : nil
      case "url": return isChannel(path.count - 2) && path[2] == "image" ? .feedPicture : nil
      case "logo": return isAtom ? .feedPicture : nil
      default: return nil
      }
    }
    guard path.count == depth + 1 else { return nil }
    return switch name {
    case "title": .title
    case "guid", "id": .guid
    case "pubDate", "published": .published
    case "updated": .updated
    case "itunes:duration": .duration
    default: nil
    }
  }

  /// The address of an episode's audio, where this element has one.
  private func audio(
    _ name: String, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) -> String? {
    guard let depth = episodeDepth, path.count == depth + 1 else { return nil }
    switch name {
    case "enclosure": break
    case "link" where value("rel", attributes) == "enclosure": break
    default: return nil
    }
    guard let address = value(name == "link" ? "href" : "url", attributes),
      (1...PodcastFeed.addressLimit).contains(address.utf8.count),
      Self.isAudio(value("type", attributes), address)
    else { return nil }
    return address
  }

  private func value(
    _ name: String, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) -> String? {
    guard let attributes else { return nil }
    var place = 0
    while let key = attributes[place], let value = attributes[place + 1] {
      if String(cString: key) == name { return Self.trimmed(Array(String(cString: value).utf8)) }
      place += 2
    }
    return nil
  }

  /// Goes by the ending of the address where the type says too little.
  static func isAudio(_ type: String?, _ address: String) -> Bool {
    let type = (type ?? "").lowercased()
    if type.hasPrefix("audio/") || type == "application/ogg" { return true }
    guard ["", "application/octet-stream", "binary/octet-stream"].contains(type) else {
      return false
    }
    let path = address.prefix { $0 != "?" && $0 != "#" }.lowercased()
    return [".mp3", ".m4a", ".m4b", ".aac", ".ogg", ".oga", ".opus", ".flac", ".wav"]
      .contains { path.hasSuffix($0) }
  }

  private func take(_ characters: UnsafePointer<XML_Char>?, _ count: Int) {
    guard let text, let characters, text.bytes.count < Self.keptBytes else { return }
    let bytes = UnsafeRawBufferPointer(start: characters, count: count)
    self.text?.bytes += bytes.prefix(Self.keptBytes - text.bytes.count)
  }

  private func close() {
    if let text, text.depth == path.count {
      keep(text.kind, Self.trimmed(text.bytes))
      self.text = nil
    }
    if isEpisode(path.count) { endEpisode() }
    path.removeLast()
  }

  private func keep(_ kind: Text, _ text: String) {
    guard !text.isEmpty else { return }
    switch kind {
    case .feedTitle: if feed.title.isEmpty { feed.title = Self.cut(text) }
    case .feedPicture: feed.picture = feed.picture ?? Self.picture(text)
    default:
      if episode[kind] == nil { episode[kind] = kind == .guid ? Self.name(text) : Self.cut(text) }
    }
  }

  private func endEpisode() {
    guard let address else { return }
    self.address = nil
    var found = PodcastFeed.Episode(
      guid: episode[.guid] ?? Self.name(address), title: episode[.title] ?? "", address: address)
    found.publishedS = (episode[.published] ?? episode[.updated]).flatMap(FeedTime.seconds)
    found.durationS = episode[.duration].flatMap(FeedTime.duration)
    feed.episodes.append(found)
    if feed.episodes.count > 2 * PodcastFeed.episodeLimit { feed.sort() }
  }

  // MARK: - Texts

  /// Spaces and line breaks become one space each.
  private static func trimmed(_ bytes: [UInt8]) -> String {
    String(decoding: Array(bytes.split { $0 <= 0x20 }.joined(separator: [0x20])), as: UTF8.self)
  }

  /// A guid, or an address in its place. One that is too long is cut, and ends with a hash of the whole (FNV-1a): addresses of
  /// one maker often begin with the same hundreds of characters.
  private static func name(_ text: String) -> String {
    guard text.utf8.count > PodcastFeed.textLimit else { return text }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let beginning = text.unicodeScalars.prefix(PodcastFeed.textLimit / 5)
    return String(String.UnicodeScalarView(beginning)) + "#" + String(hash, radix: 16)
  }

  /// The address of a picture; nil where it is too long to be one, or was cut.
  private static func picture(_ text: String) -> String? {
    (1..<min(PodcastFeed.addressLimit, keptBytes)).contains(text.utf8.count) ? text : nil
  }

  private static func cut(_ text: String) -> String {
    text.utf8.count <= PodcastFeed.textLimit
      ? text
      : String(String.UnicodeScalarView(text.unicodeScalars.prefix(PodcastFeed.textLimit / 4)))
  }
}
