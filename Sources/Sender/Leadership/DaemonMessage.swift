package import Clock
package import WireProtocol

/// The messages between a household's two daemons, over a connection of their own of which both ends have the household's
/// key. See docs/protocol/second-sender.md.
package enum DaemonMessage: Hashable, Sendable {
  case word(DaemonWord)
  /// Bytes of a file of the leader's, which the follower keeps.
  case piece(file: UInt8, offset: Int, [UInt8])
  /// The file has so many bytes, and all that have changed were sent.
  case end(file: UInt8, size: Int)

  /// The most bytes of a message: a word never waits long behind one.
  package static let limit = 16 << 10
  /// Bytes of a file; one that is larger is not sent.
  package static let fileLimit = 32 << 20
  /// Both daemons understand the same one.
  static let version: UInt8 = 1

  private static let wordType: UInt16 = 0x0601
  private static let pieceType: UInt16 = 0x0602
  private static let endType: UInt16 = 0x0603
  private static let sizes = UInt32(0)...UInt32(fileLimit)

  /// - Throws: also for a word of another version.
  package init(decoding message: RawMessage) throws(DecodeError) {
    var reader = ByteReader(message.payload)
    switch message.type {
    case Self.wordType: self = .word(try DaemonWord(decoding: &reader))
    case Self.pieceType:
      let file = try reader.uint8("file")
      let offset = Int(try reader.uint32(in: Self.sizes, "offset"))
      self = .piece(file: file, offset: offset, Array(try reader.bytes(reader.remaining, "bytes")))
    case Self.endType:
      let file = try reader.uint8("file")
      self = .end(file: file, size: Int(try reader.uint32(in: Self.sizes, "size")))
    default: throw .notThisProtocol
    }
  }

  package func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    ByteWriter.message(type, appendingTo: &bytes) { writer in
      switch self {
      case .word(let word): word.encode(to: &writer)
      case .piece(let file, let offset, let piece):
        writer.uint8(file)
        writer.uint32(UInt32(clamping: offset))
        writer.bytes(piece)
      case .end(let file, let size):
        writer.uint8(file)
        writer.uint32(UInt32(clamping: size))
      }
    }
    return bytes
  }

  private var type: UInt16 {
    switch self {
    case .word: Self.wordType
    case .piece: Self.pieceType
    case .end: Self.endType
    }
  }
}

/// A word of `Leadership`, with the times by which the follower measures the leader's clock.
package struct DaemonWord: Hashable, Sendable {
  package var word: Leadership.Word
  /// Port of the daemon's page; 0 if it has none.
  package var port: UInt16
  /// The household's name; at most `ProtocolLimits.name` bytes of UTF-8.
  package var name: String
  /// When it was sent, by the clock of its machine.
  package var sentAt: LocalTime
  /// The newest word of the other daemon; nil before the first.
  package var heard: Heard?
  /// True if it follows, and cannot keep the files that it is sent.
  package var isBehind = false

  package struct Heard: Hashable, Sendable {
    /// The time at which it was sent, by the other machine's clock.
    package var sentAt: LocalTime
    /// The time at which it was heard, by this machine's.
    package var at: LocalTime

    package init(sentAt: LocalTime, at: LocalTime) { (self.sentAt, self.at) = (sentAt, at) }
  }

  package init(
    word: Leadership.Word, port: UInt16, name: String, sentAt: LocalTime, heard: Heard?
  ) {
    (self.word, self.port, self.name) = (word, port, name)
    (self.sentAt, self.heard) = (sentAt, heard)
  }

  fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
    guard try reader.uint8("version") == DaemonMessage.version else { throw .notThisProtocol }
    let flags = try reader.uint8("flags")
    word = .init(
      term: try reader.uint32("term"), leads: flags & 1 != 0, reachesRooms: flags & 2 != 0,
      returns: flags & 8 != 0)
    port = try reader.uint16("port")
    sentAt = try reader.localTime("sent at")
    let heard = Heard(
      sentAt: try reader.localTime("other sent at"), at: try reader.localTime("heard at"))
    (self.heard, isBehind) = (flags & 4 != 0 ? heard : nil, flags & 16 != 0)
    name = try reader.text(atMost: ProtocolLimits.name, "name")
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint8(DaemonMessage.version)
    let flags = [word.leads, word.reachesRooms, heard != nil, word.returns, isBehind]
    writer.uint8(flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
    writer.uint32(word.term)
    writer.uint16(port)
    for time in [sentAt, heard?.sentAt, heard?.at] {
      writer.int64(time?.nanoseconds ?? 0, clampedTo: ProtocolLimits.clockTime)
    }
    writer.text(name, atMost: ProtocolLimits.name)
  }
}

extension ByteReader {
  fileprivate mutating func localTime(_ field: String) throws(DecodeError) -> LocalTime {
    LocalTime(nanoseconds: try int64(in: ProtocolLimits.clockTime, field))
  }
}
