package import WireProtocol

/// A request of the program that decodes, on the way to its answer: it reaches nothing by itself.
package enum SourceCall: Hashable, Sendable {
  case open(url: String, SourceOptions)
  case read(handle: UInt32, count: Int)
  case seek(handle: UInt32, place: Int64)
  case close(handle: UInt32)
  /// Keeps all its bytes, so that any place of it can be read.
  case keep(handle: UInt32)
  /// Lets time pass.
  case pause(milliseconds: Int32)
  /// Asks if it may go on, while it waits for a list to change.
  case goesOn
  /// Tells that it opens a list that grows: silences are long.
  case followsList
  case tell(SourceNews)

  /// The first byte of each: none begins a `MediaAnswer`.
  package static let kinds: ClosedRange<UInt8> = 32...40
}

/// News of a source for people.
package enum SourceNews: Hashable, Sendable {
  case stalled
  case resumed(afterSeconds: Int)
  case reconnecting(reason: String)
}

/// How a demuxer wants the connection that it opens by itself.
package struct SourceOptions: Hashable, Sendable {
  /// True if a demuxer opens it, and not `Driver`.
  package var isNested = false
  /// The first byte, and the one after the last; 0 for all.
  package var range: [Int64] = [0, 0]
  /// Key and initial vector of an encrypted segment, 16 bytes each; empty if it is not encrypted.
  package var key: [UInt8] = []
  package var vector: [UInt8] = []

  package init() {}
}

/// The answer to a `SourceCall`.
package enum SourceReply: Hashable, Sendable {
  case opened(SourceConnection)
  /// Bytes, and what the station says of them.
  case bytes(ArraySlice<UInt8>, titles: [SourceTitle])
  case place(Int64, size: Int64)
  case done(goesOn: Bool)
  /// FFmpeg's code, and its own words.
  case failed(code: Int32, reason: String)
}

package struct SourceConnection: Hashable, Sendable {
  package var handle: UInt32
  /// Negative or 0 where it is not known.
  package var size: Int64
  package var isSeekable: Bool
  /// After redirects.
  package var location: String
  package var contentType: String
  /// Header fields that only stations send.
  package var stationHeaders: String
  /// True for a station whose last hour is kept. A `seek` names a time of it, in flicks, at which the next connection
  /// begins.
  package var isKept = false

  package init(
    handle: UInt32, size: Int64, isSeekable: Bool, location: String, contentType: String,
    stationHeaders: String
  ) {
    self.handle = handle
    self.size = size
    self.isSeekable = isSeekable
    self.location = location
    self.contentType = contentType
    self.stationHeaders = stationHeaders
  }
}

package struct SourceTitle: Hashable, Sendable {
  /// At most so many come with a block of bytes.
  package static let limit = 32

  package var key: String
  package var value: String

  package init(key: String, value: String) { (self.key, self.value) = (key, value) }
}

extension SourceCall {
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .open(let url, let options):
      writer.uint8(32)
      writer.text(url, atMost: DecoderMessage.textLimit)
      writer.uint8(options.isNested ? 1 : 0)
      for place in options.range { writer.int64(place) }
      for secret in [options.key, options.vector] {
        writer.uint8(UInt8(clamping: secret.count))
        writer.bytes(secret)
      }
    case .read(let handle, let count):
      writer.uint8(33)
      writer.uint32(handle)
      writer.uint32(UInt32(clamping: count))
    case .seek(let handle, let place):
      writer.uint8(34)
      writer.uint32(handle)
      writer.int64(place)
    case .close(let handle):
      writer.uint8(35)
      writer.uint32(handle)
    case .keep(let handle):
      writer.uint8(40)
      writer.uint32(handle)
    case .pause(let milliseconds):
      writer.uint8(36)
      writer.uint32(UInt32(clamping: milliseconds))
    case .goesOn: writer.uint8(37)
    case .followsList: writer.uint8(38)
    case .tell(let news):
      writer.uint8(39)
      writer.news(news)
    }
    return writer.bytes
  }

  package init(_ bytes: ArraySlice<UInt8>) throws(DecodeError) {
    var reader = ByteReader(bytes)
    switch try reader.uint8("kind") {
    case 32:
      let url = try reader.text(atMost: DecoderMessage.textLimit, "address")
      self = .open(url: url, try reader.options())
    case 33:
      let handle = try reader.uint32("handle")
      let count = try reader.uint32(in: 1...UInt32(DecoderMessage.byteLimit), "count")
      self = .read(handle: handle, count: Int(count))
    case 34:
      let handle = try reader.uint32("handle")
      self = .seek(handle: handle, place: try reader.int64(in: 0...Int64.max, "place"))
    case 35: self = .close(handle: try reader.uint32("handle"))
    case 36: self = .pause(milliseconds: Int32(try reader.uint32(in: 0...60_000, "milliseconds")))
    case 37: self = .goesOn
    case 38: self = .followsList
    case 40: self = .keep(handle: try reader.uint32("handle"))
    case 39: self = .tell(try reader.news())
    case let kind: throw .outOfRange(field: "kind", value: Int64(kind))
    }
  }
}

extension SourceReply {
  package var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .opened(let connection):
      writer.uint8(1)
      writer.uint32(connection.handle)
      writer.int64(connection.size)
      writer.uint8((connection.isSeekable ? 1 : 0) | (connection.isKept ? 2 : 0))
      for text in [connection.location, connection.contentType, connection.stationHeaders] {
        writer.text(text, atMost: DecoderMessage.textLimit)
      }
    case .bytes(let bytes, let titles):
      writer.uint8(2)
      writer.uint8(UInt8(clamping: titles.prefix(SourceTitle.limit).count))
      for title in titles.prefix(SourceTitle.limit) {
        writer.text(title.key, atMost: 256)
        writer.text(title.value, atMost: DecoderMessage.textLimit)
      }
      writer.bytes(Array(bytes))
    case .place(let place, let size):
      writer.uint8(3)
      writer.int64(place)
      writer.int64(size)
    case .done(let goesOn):
      writer.uint8(4)
      writer.uint8(goesOn ? 1 : 0)
    case .failed(let code, let reason):
      writer.uint8(5)
      writer.int32(code)
      writer.text(reason, atMost: DecoderMessage.textLimit)
    }
    return writer.bytes
  }

  package init(_ bytes: ArraySlice<UInt8>) throws(DecodeError) {
    var reader = ByteReader(bytes)
    switch try reader.uint8("kind") {
    case 1: self = .opened(try reader.connection())
    case 2:
      var titles: [SourceTitle] = []
      for _ in 0..<(try reader.titleCount()) {
        let key = try reader.text(atMost: 256, "key")
        titles.append(
          SourceTitle(key: key, value: try reader.text(atMost: DecoderMessage.textLimit, "value")))
      }
      self = .bytes(try reader.bytes(reader.remaining, "bytes"), titles: titles)
    case 3: self = .place(try reader.int64("place"), size: try reader.int64("size"))
    case 4: self = .done(goesOn: try reader.uint8("goes on") != 0)
    case 5:
      let code = try reader.int32("code")
      self = .failed(
        code: code, reason: try reader.text(atMost: DecoderMessage.textLimit, "reason"))
    case let kind: throw .outOfRange(field: "kind", value: Int64(kind))
    }
  }
}

extension ByteWriter {
  fileprivate mutating func news(_ news: SourceNews) {
    switch news {
    case .stalled: uint8(1)
    case .resumed(let seconds):
      uint8(2)
      uint32(UInt32(clamping: seconds))
    case .reconnecting(let reason):
      uint8(3)
      text(reason, atMost: ItemMetadata.textLimit)
    }
  }
}

extension ByteReader {
  fileprivate mutating func options() throws(DecodeError) -> SourceOptions {
    var options = SourceOptions()
    options.isNested = try uint8("nested") != 0
    options.range = [
      try int64(in: 0...Int64.max, "first byte"), try int64(in: 0...Int64.max, "last byte"),
    ]
    for field in [\SourceOptions.key, \SourceOptions.vector] {
      let count = try uint8("bytes of a key")
      guard count == 0 || count == 16 else {
        throw .outOfRange(field: "bytes of a key", value: Int64(count))
      }
      options[keyPath: field] = Array(try bytes(Int(count), "key"))
    }
    return options
  }

  fileprivate mutating func news() throws(DecodeError) -> SourceNews {
    switch try uint8("news") {
    case 1: .stalled
    case 2: .resumed(afterSeconds: Int(try uint32(in: 0...86_400, "seconds")))
    case 3: .reconnecting(reason: try text(atMost: ItemMetadata.textLimit, "reason").shownPlainly)
    case let kind: throw .outOfRange(field: "news", value: Int64(kind))
    }
  }

  fileprivate mutating func titleCount() throws(DecodeError) -> Int {
    let count = Int(try uint8("titles"))
    guard count <= SourceTitle.limit else {
      throw .outOfRange(field: "titles", value: Int64(count))
    }
    return count
  }

  fileprivate mutating func connection() throws(DecodeError) -> SourceConnection {
    let (handle, size, flags) = (try uint32("handle"), try int64("size"), try uint8("flags"))
    var connection = SourceConnection(
      handle: handle, size: size, isSeekable: flags & 1 != 0,
      location: try text(atMost: DecoderMessage.textLimit, "location"),
      contentType: try text(atMost: DecoderMessage.textLimit, "type"),
      stationHeaders: try text(atMost: DecoderMessage.textLimit, "headers"))
    connection.isKept = flags & 2 != 0
    return connection
  }
}
