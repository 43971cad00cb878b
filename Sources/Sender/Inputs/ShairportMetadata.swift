/// Reads what shairport-sync writes into its pipe of metadata: items with a type and a code of four letters each, in
/// hexadecimal digits, and data in base64.
///
///     <item><type>636f7265</type><code>6d696e6d</code><length>4</length>
///     <data encoding="base64">
///     U29uZw==</data></item>
package struct ShairportMetadata: Sendable {
  /// Longest item, in bytes: more than the largest picture in base64, with tags around it. What is longer is left out.
  package static let itemLimit = 6 << 20

  private static let end = Array("</item>".utf8)

  private var buffer: [UInt8] = []
  /// True until the end of an item that is too long.
  private var isSkipping = false
  /// Parts of the title that are being told; nil outside of them.
  private var title: InputTitle?

  package init() {}

  /// Takes what was read next. Returns what it says, in order.
  package mutating func take(_ bytes: some Collection<UInt8>) -> [InputEvent] {
    // An end may be cut in two.
    var looked = max(0, buffer.count - Self.end.count + 1)
    var begin = 0
    buffer += bytes
    var events: [InputEvent] = []
    while let found = place(of: Self.end[...], in: buffer[looked...]) {
      if !isSkipping, found - begin <= Self.itemLimit {
        events += self.events(of: buffer[begin..<found])
      }
      isSkipping = false
      begin = found + Self.end.count
      looked = begin
    }
    buffer.removeFirst(begin)
    if buffer.count > Self.itemLimit {
      isSkipping = true
      buffer.removeFirst(buffer.count - Self.end.count + 1)
    }
    return events
  }

  private mutating func events(of item: ArraySlice<UInt8>) -> [InputEvent] {
    guard let type = text(in: item, "type").flatMap(Self.letters),
      let code = text(in: item, "code").flatMap(Self.letters),
      let length = text(in: item, "length").flatMap({ Int($0) })
    else { return [] }
    var data: [UInt8] = []
    if let open = place(of: Array("<data".utf8)[...], in: item),
      let begin = item[open...].firstIndex(of: UInt8(ascii: ">")),
      let close = place(of: Array("</data>".utf8)[...], in: item[begin...])
    {
      guard let decoded = Base64.decode(item[(begin + 1)..<close]) else { return [] }
      data = decoded
    }
    guard data.count == length else { return [] }
    return events(type, code, data)
  }

  private mutating func events(_ type: String, _ code: String, _ data: [UInt8]) -> [InputEvent] {
    var text: String { String(decoding: data, as: UTF8.self) }
    switch type + " " + code {
    case "ssnc mdst": title = InputTitle()
    case "core minm": title?.title = text
    case "core asar": title?.artist = text
    case "core asal": title?.album = text
    case "ssnc mden":
      defer { title = nil }
      return title.map { [.title($0)] } ?? []
    case "ssnc PICT": return [.cover(Artwork(recognising: data))]
    case "ssnc pbeg", "ssnc prsm": return [.playing]
    case "ssnc pfls", "ssnc paus": return [.paused]
    case "ssnc pend": return [.stopped, .title(InputTitle()), .cover(nil)]
    case "ssnc pvol": return Self.volume(text).map { [.volume($0)] } ?? []
    default: break
    }
    return []
  }

  /// The first of four numbers is the slider of the sender, -30 to 0; -144 is silence.
  private static func volume(_ text: String) -> Double? {
    guard let first = text.split(separator: ",").first, let decibels = Double(first),
      decibels.isFinite
    else { return nil }
    return (min(max(decibels, -30), 0) + 30) / 30 * 100
  }

  private func text(in item: ArraySlice<UInt8>, _ tag: String) -> String? {
    guard let open = place(of: Array("<\(tag)>".utf8)[...], in: item) else { return nil }
    let begin = open + tag.utf8.count + 2
    guard let close = item[begin...].firstIndex(of: UInt8(ascii: "<")), close - begin <= 10 else {
      return nil
    }
    return String(decoding: item[begin..<close], as: UTF8.self)
  }

  /// Four letters, from their codes in hexadecimal digits.
  private static func letters(_ digits: String) -> String? {
    guard let number = UInt32(digits, radix: 16) else { return nil }
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func place(of wanted: ArraySlice<UInt8>, in bytes: ArraySlice<UInt8>) -> Int? {
    var rest = bytes
    while let start = rest.firstIndex(of: wanted[wanted.startIndex]) {
      rest = rest[start...]
      if rest.starts(with: wanted) { return start }
      rest = rest.dropFirst()
    }
    return nil
  }
}
