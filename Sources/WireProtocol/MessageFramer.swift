/// One message of either TCP connection, not decoded yet. See docs/protocol/framing.md.
package struct RawMessage: Hashable, Sendable {
  package var type: UInt16
  package var payload: ArraySlice<UInt8>

  /// Bytes that the message takes on the connection, with length and type.
  package var byteCount: Int { MessageFramer.headerByteCount + payload.count }

  package init(type: UInt16, payload: ArraySlice<UInt8>) {
    self.type = type
    self.payload = payload
  }
}

/// Cuts a byte stream into messages. Append what arrived, then take messages until there are none.
///
/// A message within one append is a slice of it and is not copied. A message that spans several is assembled from its
/// pieces. So at most one incomplete message is held, of `limit` bytes at most.
package struct MessageFramer {
  package static let headerByteCount = 6

  /// Bytes that a message may have after its length field. May be raised once the peer is known better.
  package var limit: Int

  /// The beginning of a message whose end has not arrived.
  private var begun: [UInt8] = []
  /// Bytes that arrived and were not looked at yet.
  private var unread: ArraySlice<UInt8> = []
  /// Set for good once the stream cannot be followed any more.
  private var failure: DecodeError?

  package init(limit: Int) { self.limit = limit }

  /// Bytes that are held, and not yet part of a returned message.
  package var heldByteCount: Int { begun.count + unread.count }

  package mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

  package mutating func append(_ bytes: ArraySlice<UInt8>) {
    guard failure == nil else { return }
    if unread.isEmpty { unread = bytes } else { unread += bytes }
  }

  /// Returns the next complete message; nil until more has arrived.
  ///
  /// - Throws: `DecodeError.badLength`, and again at every later call: the connection is lost.
  package mutating func next() throws(DecodeError) -> RawMessage? {
    if let failure { throw failure }
    do {
      return try begun.isEmpty ? sliceOfUnread() : completedMessage()
    } catch {
      failure = error
      begun = []
      unread = []
      throw error
    }
  }

  private mutating func sliceOfUnread() throws(DecodeError) -> RawMessage? {
    guard let whole = try wholeByteCount(unread), whole <= unread.count else {
      begun = Array(unread)
      unread = []
      return nil
    }
    let message = RawMessage(whole: unread.prefix(whole))
    unread = unread.dropFirst(whole)
    return message
  }

  private mutating func completedMessage() throws(DecodeError) -> RawMessage? {
    take(Self.headerByteCount - begun.count)
    guard let whole = try wholeByteCount(begun[...]) else { return nil }
    take(whole - begun.count)
    guard begun.count == whole else { return nil }
    let message = RawMessage(whole: begun[...])
    begun = []
    return message
  }

  /// Moves up to `count` unread bytes to the incomplete message.
  private mutating func take(_ count: Int) {
    begun.append(contentsOf: unread.prefix(max(0, count)))
    unread = unread.dropFirst(max(0, count))
  }

  /// Returns the number of bytes of the message at the start of `bytes`; nil while its header is incomplete.
  private func wholeByteCount(_ bytes: ArraySlice<UInt8>) throws(DecodeError) -> Int? {
    var reader = ByteReader(bytes)
    guard reader.remaining >= 4 else { return nil }
    let length = Int(try reader.uint32("length"))
    guard (2...max(2, limit)).contains(length) else { throw .badLength(length, limit: limit) }
    return bytes.count >= Self.headerByteCount ? 4 + length : nil
  }
}

extension RawMessage {
  /// `whole` has at least a header.
  fileprivate init(whole: ArraySlice<UInt8>) {
    let type = whole.dropFirst(4).prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
    self.init(type: type, payload: whole.dropFirst(MessageFramer.headerByteCount))
  }
}
