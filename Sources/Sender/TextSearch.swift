/// Text in text, byte by byte. The standard library's `contains` and `firstRange` of a text, and its regular
/// expressions, put more than a megabyte into each program.
extension StringProtocol {
  package func place(of text: String) -> Range<Index>? {
    let (bytes, wanted) = (utf8, text.utf8)
    var start = bytes.startIndex
    while !bytes[start...].starts(with: wanted) {
      guard start < bytes.endIndex else { return nil }
      start = bytes.index(after: start)
    }
    return start..<bytes.index(start, offsetBy: wanted.count)
  }

  package func holds(_ text: String) -> Bool { place(of: text) != nil }
}
