/// An answer of HTTP that has come whole: its status and its body.
package struct HTTPAnswer: Sendable {
  /// Bytes of a head.
  private static let headLimit = 16 << 10

  package private(set) var status = 0
  package private(set) var body: [UInt8] = []

  /// Returns nil for what is no answer, or has broken off.
  package init?(_ bytes: [UInt8]) {
    let head = bytes.prefix(Self.headLimit)
    guard let end = Self.end(of: head) else { return nil }
    let lines = head[..<end].split(separator: 10)
    guard let first = lines.first, first.starts(with: "HTTP/1.".utf8),
      let status = Self.number(first.drop { $0 != 32 }.prefix(4), radix: 10)
    else { return nil }
    self.status = status
    let rest = bytes[(end + 4)...]
    var (length, isChunked) = (Int?.none, false)
    for line in lines.dropFirst() {
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
      guard parts.count == 2 else { continue }
      switch String(decoding: parts[0], as: UTF8.self).lowercased() {
      case "content-length": length = Self.number(parts[1], radix: 10)
      case "transfer-encoding":
        isChunked = String(decoding: parts[1], as: UTF8.self).lowercased().contains("chunked")
      default: break
      }
    }
    guard isChunked else {
      body = Array(rest.prefix(length ?? rest.count))
      if let length, body.count < length { return nil }
      return
    }
    guard let joined = Self.joined(rest) else { return nil }
    body = joined
  }

  private static func end(of head: ArraySlice<UInt8>) -> Int? {
    head.indices.dropLast(3).first { place in
      head[place] == 13 && head[place..<place + 4].elementsEqual([13, 10, 13, 10])
    }
  }

  /// Puts chunks together; nil if the last one is missing.
  private static func joined(_ chunks: ArraySlice<UInt8>) -> [UInt8]? {
    var (rest, joined) = (chunks, [UInt8]())
    while let end = rest.firstIndex(of: 10) {
      let digits = rest[..<end].prefix { $0 != UInt8(ascii: ";") }
      guard let count = number(digits, radix: 16) else { return nil }
      rest = rest[(end + 1)...]
      if count == 0 { return joined }
      guard rest.count > count else { return nil }
      joined += rest.prefix(count)
      rest = rest.dropFirst(count).drop { $0 == 13 }
      guard rest.popFirst() == 10 else { return nil }
    }
    return nil
  }

  /// Returns a number of at most nine digits, between spaces.
  private static func number(_ bytes: ArraySlice<UInt8>, radix: Int) -> Int? {
    let digits = bytes.filter { $0 != 32 && $0 != 13 && $0 != 9 }
    guard (1...9).contains(digits.count), digits.first != UInt8(ascii: "-"),
      digits.first != UInt8(ascii: "+")
    else { return nil }
    return Int(String(decoding: digits, as: UTF8.self), radix: radix)
  }
}
